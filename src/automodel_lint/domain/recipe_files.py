"""Which files are recipes: told by a look at their bytes, since a run in which nothing changed parses none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from automodel_lint.domain.checkout import Checkout
from automodel_lint.source import SourceTree

ENDINGS = (".yaml", ".yml")
LARGEST = 2_000_000  # bytes; whatever is larger is data
_TARGET = b"_target_"
_ENTRY = re.compile(rb"""^(?:\xef\xbb\xbf)?\{?[ \t]*["']?recipe["']?[ \t]*:""", re.M)
_NAMED = re.compile(rb"""^(?:\xef\xbb\xbf)?\{?["']?recipe["']?[ \t]*:[ \t]*["']?[\w.]*Recipe""", re.M)
_INSTALLED = ("site-packages", "dist-packages")  # an ``examples`` there is anybody's


def examples(checkout: Checkout) -> list[str]:
    """Return the folders in which a checkout keeps its recipes: beside the package, and above it."""
    roots = dict.fromkeys((checkout.root, checkout.source_root))
    return [os.path.join(root, "examples") for root in roots if os.path.basename(root) not in _INSTALLED]


def recipe_files(checkout: Checkout, tree: SourceTree, asked: Iterable[str] = ()) -> list[str]:
    """Return the recipes of a checkout, and those below ``asked`` (absolute paths of files or folders), in order."""
    found: dict[str, None] = {}
    folders = examples(checkout)
    for folder in folders:
        found.update(dict.fromkeys(p for p in yaml_files(tree, folder) if is_recipe(tree, p, at_home=True)))
    for path in asked:
        if any(path == folder or path.startswith(folder + os.sep) for folder in folders):
            continue
        within = yaml_files(tree, path) if tree.entries(path) is not None else [path]
        found.update(dict.fromkeys(p for p in within if p.endswith(ENDINGS) and is_recipe(tree, p, at_home=False)))
    return list(found)


def yaml_files(tree: SourceTree, folder: str) -> Iterator[str]:
    """Yield every YAML file below a folder, in a stable order; hidden folders and links to folders are passed over."""
    for name in tree.entries(folder) or []:
        path = os.path.join(folder, name.rstrip("/"))
        if name.endswith("/"):
            if not name.startswith((".", "__pycache__")) and not os.path.islink(path):
                yield from yaml_files(tree, path)
        elif name.endswith(ENDINGS):
            yield path


def is_recipe(tree: SourceTree, path: str, at_home: bool) -> bool:
    """Tell whether a YAML file is a recipe: it has a ``_target_``, or says which recipe runs it.

    Elsewhere than among the examples (``at_home``), what says so must be called a recipe, as a class of ours is.
    """
    data = tree.read(path)
    if data is None or len(data) > LARGEST:
        return False
    return _TARGET in data or (_ENTRY if at_home else _NAMED).search(data) is not None
