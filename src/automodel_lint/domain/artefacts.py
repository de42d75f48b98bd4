"""What a repository has of each model beside the code: test modules, documentation, and which recipes.

These are questions to a :class:`~automodel_lint.domain.project.Project`. An answer depends on the part of the index
that it is about, so that another model's tests and pages leave verdicts alone.
"""

from __future__ import annotations

import os

from automodel_lint.domain import coverage_docs, recipe_index, test_index
from automodel_lint.domain.mentions import Mention
from automodel_lint.domain.project import Project
from automodel_lint.domain.recipe_index import ALIKE, Use
from automodel_lint.domain.test_index import ABOUT, OWN, TestFile


def tests_root(project: Project) -> str | None:
    """Return the folder of the unit tests, relative to the root; ``None`` if the checkout has no tests."""
    index = project.tests
    project.tree.note(("fact", f"{test_index.FACT}*"))
    return index.root


def test_files(project: Project, package: str) -> list[TestFile]:
    """Return the test files that have to do with a model package (by its name): its own first, each with its place."""
    index = project.tests
    project.tree.note(("fact", f"{test_index.FACT}{package}"))
    return index.packages.get(package, [])


def test_modules(project: Project, package: str) -> list[Mention]:
    """Return the test modules of a model package: those in its folder, and those elsewhere that are about it."""
    return [f.place for f in test_files(project, package) if f.kind in (OWN, ABOUT) and f.is_module]


def has_coverage_pages(project: Project) -> bool:
    """Tell whether the checkout has pages under ``docs/model-coverage/``."""
    docs = project.docs
    project.tree.note(("fact", f"{coverage_docs.FACT}*"))
    return docs.is_there


def documented_at(project: Project, architectures: tuple[str, ...]) -> list[Mention]:
    """Return where the coverage pages name the architectures of a class, or their family; empty if nowhere."""
    docs = project.docs
    project.tree.note(*(("fact", f"{coverage_docs.FACT}{name}") for name in architectures))
    return [docs.architectures[name] for name in architectures if name in docs.architectures]


def has_recipes(project: Project) -> bool:
    """Tell whether the checkout has recipes among its examples."""
    index = project.recipes
    project.tree.note(("fact", f"{recipe_index.FACT}*"))
    return index.is_there


def recipe_uses(project: Project, architectures: tuple[str, ...], sure: bool = True, alike: bool = False) -> list[Use]:
    """Return the recipes that train a class, by its architectures; with ``sure=False`` those that may as well.

    ``alike`` brings in those of which nothing is known but that their names are like those of the class's package.
    """
    index = project.recipes
    project.tree.note(*(("fact", f"{recipe_index.FACT}{name}") for name in architectures))
    parts = (index.sure,) if sure else (index.sure, index.possible)
    uses = dict.fromkeys(use for name in architectures for part in parts for use in part.get(name, ()))
    return [use for use in uses if alike or use.how != ALIKE]


def trained_by(project: Project, recipe: str) -> tuple[tuple[str, ...], str]:
    """Return the architectures of the class that a recipe (relative path) trains, and how that is known."""
    index = project.recipes
    project.tree.note(("fact", f"{recipe_index.FACT}{recipe}"))
    return index.of.get(recipe, ((), ""))


def package_of(project: Project, path: str) -> str | None:
    """Return the name of the model package that a file lies in, ``None`` if it lies in none."""
    folder = project.model_package(path)
    return os.path.basename(folder) if folder is not None else None
