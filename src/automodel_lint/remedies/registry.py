"""Repairs of an entry that leads to no class (NAM102)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from automodel_lint.domain.things import ArchitectureEntry
from automodel_lint.findings import Span
from automodel_lint.inference.names import ClassEntity
from automodel_lint.repairs import Repair, repair, replace_text


def with_nearest(entry: ArchitectureEntry) -> Repair | None:
    """The class that is closest by name in place of the one that is not there."""
    near = entry.nearest()
    if near is None or not entry.is_like(near) or not _is_model(entry, near):
        return None
    form, path = entry.registration.form, entry.project.tree.absolute(entry.registration.path)
    span = _in_entry_point(entry, path) if form == "entry-point" else _in_mapping(entry, path)
    return None if span is None else repair(f"Name `{near}`", replace_text(span, near))


def _is_model(entry: ArchitectureEntry, name: str) -> bool:
    """Whether a name stands for a module of torch, or a class that may be one."""
    project = entry.project
    found = project.definitions(entry.registration.module, name) or ()
    classes = [e for e in found if isinstance(e, ClassEntity) and not project.classes.is_stand_in(e)]
    unknown = any(project.classes.is_opaque(a) for e in classes for a in project.classes.mro(e))
    return unknown or any(project.classes.has_module_base(e) for e in classes)


def _in_entry_point(entry: ArchitectureEntry, path: str) -> Span | None:
    """The class in ``"module:Class"`` of a ``pyproject.toml``; what is installed is nobody's to edit."""
    line = entry.registration.span.line
    lines = entry.project.tree.lines(path)
    if not path.endswith(".toml") or line > len(lines):
        return None
    target = rf"=\s*[\"']\s*{re.escape(entry.registration.module)}\s*:\s*({re.escape(entry.registration.cls)})\b"
    match = re.search(target, lines[line - 1])
    return Span(line, match.start(1) + 1, line, match.end(1) + 1) if match else None


def _in_mapping(entry: ArchitectureEntry, path: str) -> Span | None:
    """The class, where the entry writes it as a text of its own, without the quotes."""
    tree = entry.project.tree
    syntax = tree.syntax(path)
    if not isinstance(syntax, ast.Module):
        return None
    for place, value in _pairs(syntax):
        if tree.span(path, place) != entry.registration.span:
            continue
        written = value.elts[1] if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) > 1 else None
        if not isinstance(written, ast.Constant) or written.value != entry.registration.cls:
            return None
        span = tree.span(path, written)
        inner = Span(span.line, span.column + 1, span.end_line, span.end_column - 1)
        return inner if tree.text_at(path, inner) == written.value else None
    return None


def _pairs(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what can be entries of a mapping: where each is pointed at, and its value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from ((k, v) for k, v in zip(node.keys, node.values, strict=True) if k is not None)
        elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == 2:
            yield node.elts[0], node.elts[1]
        elif isinstance(node, ast.Assign):
            yield from ((t.slice, node.value) for t in node.targets if isinstance(t, ast.Subscript))
        elif isinstance(node, ast.Call):
            yield from ((keyword.value, keyword.value) for keyword in node.keywords)
            if len(node.args) == 2:
                yield node.args[0], node.args[1]
