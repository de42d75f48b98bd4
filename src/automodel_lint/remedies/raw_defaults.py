"""Repair of a constructor that goes on with a raw argument (NAM709): it uses what it has kept instead."""

from __future__ import annotations

import ast

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.raw_defaults import RawUse
from automodel_lint.repairs import Repair, repair, replace_text


def kept(model: ModelClass, found: RawUse) -> Repair | None:
    """Write the attribute for each raw use; nothing where one stands in a text, whose places older Pythons misjudge."""
    texts = [n for n in ast.walk(found.function) if isinstance(n, ast.JoinedStr)]
    inside = {id(n) for text in texts for n in ast.walk(text)}
    if any(id(use) in inside for use in found.uses):
        return None
    span, path = model.project.tree.span, found.owner.module.path
    return repair(f"Use `{found.kept}`", *(replace_text(span(path, use), found.kept) for use in found.uses))
