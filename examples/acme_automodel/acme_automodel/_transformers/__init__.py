"""Registry and capability queries."""
