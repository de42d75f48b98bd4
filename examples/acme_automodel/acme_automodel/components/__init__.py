"""Building blocks and models."""
