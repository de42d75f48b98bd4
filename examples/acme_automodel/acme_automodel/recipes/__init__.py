"""Recipe classes: each is one kind of run, set up by a YAML file."""
