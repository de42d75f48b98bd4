"""What a model asks of whoever adds it, read from its ``config.json``: what it is, what is near it, what to write."""
