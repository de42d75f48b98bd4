"""Layers and contracts shared by the models."""
