"""Module factories and layers whose own default dtype is a fixed low precision, and who builds with them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from automodel_lint.domain.casts import casts_when_made
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import FUNCTIONS
from automodel_lint.inference.module_tree import Place, Tensor
from automodel_lint.source import ParseProblem

_OF_CONFIG = re.compile(r"\.(torch_)?dtype\b")
_LOW = frozenset({"bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"})


@dataclass(frozen=True, eq=False)
class Undertyped:
    """A call that leaves the dtype of what it makes to a low default; ``definitions`` are the ones around it."""

    place: Place
    factory: str
    default: str
    definitions: tuple[ast.AST, ...]

    @property
    def symbol(self) -> str:
        """The definition that the call stands in: ``Class.method``, or a function."""
        return ".".join(d.name for d in self.definitions)  # type: ignore[attr-defined]


def undertyped(model: ModelClass) -> list[Undertyped]:
    """Return the factory calls without a dtype that making a class runs, if the class takes its dtype from the config.

    A class that casts itself when it is made needs none.
    """
    tree = model.module_tree
    if not any(t.dtype is not None and _OF_CONFIG.search(t.dtype.name) for t in tree.tensors):
        return []
    places: dict[ast.AST, Tensor] = {}
    for tensor in tree.tensors:
        dtype = tensor.dtype
        if dtype is not None and dtype.place is not None and dtype.name in _LOW and _is_ours(model, dtype.place):
            places.setdefault(dtype.place.node, tensor)
    if not places or casts_when_made(model.project, model.entity):
        return []
    casting = [c for c in tree.classes if model.classes.is_local(c) and casts_when_made(model.project, c)]
    found = [_undertyped(model.project, tensor) for tensor in places.values()]
    return [u for u in found if not any(c.node in u.definitions for c in casting)]


def _is_ours(model: ModelClass, place: Place) -> bool:
    name = model.names.module_name(place.path)
    module = model.names.module(name) if name else None
    return module is not None and model.names.in_roots(module)


def _undertyped(project: Project, tensor: Tensor) -> Undertyped:
    assert tensor.dtype is not None and tensor.dtype.place is not None
    place = tensor.dtype.place
    func = place.node.func if isinstance(place.node, ast.Call) else place.node
    factory = ast.unparse(func).rpartition(".")[2]
    syntax = project.tree.syntax(place.path)
    around = () if syntax is None or isinstance(syntax, ParseProblem) else _around(syntax, place.line)
    return Undertyped(place, factory, tensor.dtype.name, around)


def _around(node: ast.AST, line: int) -> tuple[ast.AST, ...]:
    """Return the class and function definitions around a line, outermost first."""
    for child in ast.iter_child_nodes(node):
        if getattr(child, "lineno", line + 1) <= line <= (getattr(child, "end_lineno", None) or 0):
            here = (child,) if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else ()
            return here + _around(child, line)
    return ()
