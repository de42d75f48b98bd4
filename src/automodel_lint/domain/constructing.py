"""Which code of the framework runs for an object: when it is made, when one of its methods is called."""

from __future__ import annotations

import ast
import os
from collections import deque
from collections.abc import Iterator

from automodel_lint.domain.project import Project
from automodel_lint.inference.classes import FunctionView, MethodView
from automodel_lint.inference.names import ClassEntity, FunctionEntity
from automodel_lint.source import remembered

_LIBRARIES = ("torch", "transformers")
_MOST = 64  # methods that are looked into for one class


@remembered
def running(project: Project, cls: ClassEntity, entry: str) -> tuple[MethodView, ...]:
    """Return the methods and functions that calling ``entry`` of a ``cls`` can run, each once, as far as can be told.

    What the modules that the object holds run is not among them, nor is code of torch and transformers.
    """
    members, _ = project.classes.find(cls, entry)
    todo = deque(MethodView(project.classes, cls, m) for m in members if m.function is not None)
    found: dict[ast.AST, MethodView] = {}
    while todo and len(found) < _MOST:
        view = todo.popleft()
        if view.node not in found and view.module.name.partition(".")[0] not in _LIBRARIES:
            found[view.node] = view
            todo.extend(_used(view))
    return tuple(found.values())


def constructing(project: Project, cls: ClassEntity) -> tuple[MethodView, ...]:
    """Return the methods and functions that making a ``cls`` runs."""
    return running(project, cls, "__init__")


def in_checkout(project: Project, view: MethodView) -> bool:
    """Tell whether a method or function is written in the checkout itself."""
    return view.module.path.startswith(project.checkout.source_root + os.sep)


def _used(view: MethodView) -> Iterator[MethodView]:
    """What a method calls, and the methods and properties of its object that it mentions."""
    for node in view.walk():
        if isinstance(node, ast.Attribute) and view.is_self_or_class(node.value):
            members, _ = view.classes.find(view.receiver, node.attr)
            yield from (MethodView(view.classes, view.receiver, m) for m in members if m.function is not None)
        elif isinstance(node, ast.Call):
            callee = view.callee(node)
            if callee is not None:
                yield FunctionView(view, callee) if isinstance(callee, FunctionEntity) else callee
