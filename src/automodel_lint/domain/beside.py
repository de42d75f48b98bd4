"""The indices of what lies beside the package, read once a run and kept like verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.coverage_docs import CoverageDocs, read_docs
from automodel_lint.domain.recipe_index import RecipeIndex
from automodel_lint.domain.test_index import TestIndex, read_tests
from automodel_lint.source import SourceTree

Get = Callable[[str, Callable[[], Any], Callable[[Any], Any]], Any]  # see `Cache.get`


@dataclass(frozen=True)
class Beside:
    """What a checkout has beside the package; all of it empty where it has nothing there."""

    tests: TestIndex
    docs: CoverageDocs
    recipes: RecipeIndex


def read_beside(get: Get, checkout: Checkout, tree: SourceTree, project: Callable[[], Any]) -> Beside:
    """Return the indices, kept or read, and make their parts known to ``tree`` as facts.

    ``project`` gives the domain over the checkout, with its plan; it is asked only for what has to be read.
    """
    tests = get(
        "tests",
        lambda: read_tests(checkout, tree, project().architectures).to_json(),
        lambda data: TestIndex.from_json(data, tree),
    )
    docs = get(
        "docs",
        lambda: read_docs(checkout, tree, project().architectures).to_json(),
        lambda data: CoverageDocs.from_json(data, tree),
    )
    recipes = get(
        "recipes",
        lambda: project().read_recipes(docs).to_json(),
        lambda data: RecipeIndex.from_json(data, tree),
    )
    return Beside(tests, docs, recipes)
