"""Where the linter meets other tools."""
