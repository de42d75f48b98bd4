"""The names that really constructed models have, to hold the linter's symbolic module tree against."""
