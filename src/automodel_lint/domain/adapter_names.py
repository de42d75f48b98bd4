"""A few names of a model, taken through its adapter: enough to see what becomes of whole parts, at little cost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import parts_of, statements_here
from automodel_lint.inference.module_tree import PARAMETER, ModuleNode, Place
from automodel_lint.inference.names import all_arguments

_INNER = ("model", "language_model", "text_model", "thinker", "backbone", "transformer")  # what only holds the parts
_MODULE = re.compile(r"Module\b|Model\b")
_HEAD = "lm_head"
_DEEPEST = 3


def sample(model: ModelClass) -> list[str]:
    """Return the name of one parameter for each part of a model; of a part that cannot be followed, ``<part>.weight``.

    Only parts that are there whatever the config says.
    """
    found = dict.fromkeys(_names(model.module_tree.root, model, 0))
    if model.owns_causal_head and not any(node.name == _HEAD for node in model.module_tree.nodes()):
        found[f"{_HEAD}.weight"] = None  # a base has it that cannot be followed
    found |= {f"{part}.weight": None for part in _handed_over(model)}
    return list(found)


def _names(node: ModuleNode, model: ModelClass, depth: int) -> Iterator[str]:
    yield from (t.fqn for t in node.tensors if t.kind == PARAMETER and not model.module_tree.is_conditional(t.fqn))
    for child in node.children:
        if child.name in _INNER and depth < _DEEPEST and child.children:
            yield from _names(child, model, depth + 1)
        elif child.opaque is not None and not child.children and not child.tensors:
            yield f"{child.fqn}.weight"
        else:
            tensors = (t for part in child.walk() for t in part.tensors)
            certain = (t for t in tensors if t.kind == PARAMETER and not model.module_tree.is_conditional(t.fqn))
            first = next(certain, None)
            if first is not None:
                yield first.fqn


def _handed_over(model: ModelClass) -> Iterator[str]:
    """The submodules that a constructor takes ready-made."""
    view = model.method("__init__")
    if view is None:
        return
    arguments = [a for a in all_arguments(view.node.args) if a.annotation is not None]
    modules = {a.arg for a in arguments if _MODULE.search(ast.unparse(a.annotation))}  # type: ignore[arg-type]
    for statement in statements_here(view.node.body) if modules else ():
        for target, value in parts_of(statement):
            owner, _, name = target.rpartition(".")
            given = value is not None and any(isinstance(n, ast.Name) and n.id in modules for n in ast.walk(value))
            if given and owner == view.self_name:
                yield name


def images(adapter: Adapter, method: str, names: Iterable[str]) -> dict[str, tuple[str, ...] | None]:
    """Return what one direction of an adapter makes of each name, given all of them at once.

    ``None`` for a name where the source leaves that open.
    """
    keys = adapter.follow(method, names).keys
    places = adapter.__dict__.setdefault("_made_at", {})
    for name, key in keys.items():
        if key.place is not None:
            places.setdefault((method, name), key.place)
    return {name: key.images[0].names if key.decided else None for name, key in keys.items()}


def made_at(adapter: Adapter, method: str, name: str) -> Place | None:
    """Return where one direction of an adapter puts together what becomes of a name that was followed."""
    return adapter.__dict__.get("_made_at", {}).get((method, name))
