"""Training data that needs no files."""

from acme_automodel.components.data.counting import make_counting_dataset

__all__ = ["make_counting_dataset"]
