"""Static linter for model implementations in NeMo AutoModel."""

__version__ = "0.1.0"
