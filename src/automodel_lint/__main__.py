"""``python -m automodel_lint``."""

from automodel_lint.cli import main

if __name__ == "__main__":
    main()
