"""The half of the probe that has torch: runs in the interpreter of the project, knows nothing of the linter."""
