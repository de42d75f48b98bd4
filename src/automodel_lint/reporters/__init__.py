"""How findings are shown; knows findings and rule pages, nothing else."""
