"""The boxes, one module for what belongs together."""
