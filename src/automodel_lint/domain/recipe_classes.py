"""The recipe classes that a ``recipe:`` entry can name, as the framework's command line finds them."""

from __future__ import annotations

import difflib
import re

from automodel_lint.domain.project import Project
from automodel_lint.inference.names import ClassEntity

_CLASS = re.compile(rb"^class\s+(\w*Recipe\w*)\s*[(:]", re.M)
_BASE = "BaseRecipe"


def named_recipe(project: Project, name: str) -> bool | None:
    """Tell whether an entry names a recipe class, alone or with its module; ``None`` if the source does not tell."""
    if "." not in name and ":" not in name:
        return name != _BASE and project.recipe_reads.defines(name)
    leads = project.recipe_targets.leads(name)
    if leads.status == "found":
        return any(isinstance(entity, ClassEntity) for entity, _ in leads.entities)
    return False if leads.status == "missing" else None


def nearest_recipe(project: Project, name: str) -> str | None:
    """Return the recipe class whose name is closest."""
    leads = project.recipe_targets.leads(name) if "." in name else None
    if leads is not None and leads.near:
        return leads.near
    files = project.recipe_reads.searched()
    classes = [c.decode() for path in files for c in _CLASS.findall(project.tree.read(path) or b"")]
    return next(iter(difflib.get_close_matches(name.rpartition(".")[2], [c for c in classes if c != _BASE], 1)), None)
