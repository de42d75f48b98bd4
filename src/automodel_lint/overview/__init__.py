"""Every registered class of a checkout against every contract: what ``automodel-lint report`` shows."""
