"""Acme AutoModel: an invented framework, just large enough to register, build and run small models."""

__version__ = "0.1.0"
