"""From what the probe saw to findings at the lines that the author edits."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from automodel_lint.domain.keep_list import any_index
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.inference.module_tree import Place, matches
from automodel_lint.probe.protocol import CheckResult, ClassResult, Fault
from automodel_lint.probe.targets import Probed


def findings_of(probed: Probed, result: ClassResult) -> Iterator[Finding]:
    """Yield the findings about one class, without messages; the engine completes them from the rule pages."""
    for check in result.checks.values():
        for fault in check.faults:
            yield _finding(probed, check, fault)


def _finding(probed: Probed, check: CheckResult, fault: Fault) -> Finding:
    target, tree = probed.target, probed.project.tree
    path, span, symbol = _place(probed, fault)
    own = tree.relative(probed.path)
    return Finding(
        path=path,
        span=span,
        symbol=symbol,
        architectures=target.architectures,
        fields=(("cls", target.name), *fault.fields.items()),
        severity=Severity.parse(fault.severity) if fault.severity else None,
        related=(own,) if own != path else (),
        code=check.code,
    )


def _place(probed: Probed, fault: Fault) -> tuple[str, Span, str | None]:
    """Where the author edits: what the fault names, as far as the source can tell, else the class.

    The symbol is the definition that holds the place: what several classes share is one finding, whoever ran into it.
    """
    name, tree, model, at = probed.target.name, probed.project.tree, probed.model, fault.at
    own = _own_path(probed, at["file"]) if at.get("file") else None
    if own is not None:
        return tree.relative(own), _line(probed, own, at["line"]), _owner(probed, own, at["line"])
    if model is None:
        return probed.entry.path, probed.entry.span, name
    places = [*_creating(model, at.get("tensor") or at.get("module") or ""), *_pinning(model, at.get("pattern"))]
    place = _nearest(probed, [p for p in places if _own_path(probed, p.path) is not None])
    if place is not None:
        return tree.relative(place.path), tree.span(place.path, place.node), _owner(probed, place.path, place.line)
    view = model.method(at["method"]) if at.get("method") else None
    if view is not None and probed.project.classes.in_checkout(view.owner):
        path = view.owner.module.path
        return tree.relative(path), tree.name_span(path, view.node), f"{view.owner.name}.{at['method']}"
    return tree.relative(model.path), tree.name_span(model.path, model.entity.node), name


def _nearest(probed: Probed, places: list[Place]) -> Place | None:
    """The first place in the class's own package, else the first: shared code is right for whoever else uses it."""
    folder = probed.project.model_package(probed.path)
    own = (place for place in places if folder and place.path.startswith(folder + os.sep))
    return next(own, places[0] if places else None)


def _own_path(probed: Probed, path: str) -> str | None:
    """The path of a file of what is linted, as the linter spells it; an author cannot edit a library."""
    root = probed.project.checkout.source_root
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    inside = relative.split(os.sep)[0] == probed.project.checkout.package
    return os.path.join(root, relative) if inside and os.path.isfile(path) else None


def _owner(probed: Probed, path: str, line: int) -> str | None:
    """Return the definition around a line: ``Class.method``, a class, or a function.

    What stands in none belongs to the probed class in the file of that, and to nobody in particular elsewhere.
    """
    syntax = probed.project.tree.syntax(path)
    inside: list[ast.AST] = list(syntax.body) if isinstance(syntax, ast.Module) else []
    names: list[str] = []
    while around := next((n for n in inside if _spans(n, line)), None):
        if isinstance(around, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.append(around.name)
        if len(names) == 2 or isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        inside = list(ast.iter_child_nodes(around))
    return ".".join(names) or (probed.target.name if path == probed.path else None)


def _spans(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0)


def _line(probed: Probed, path: str, line: int) -> Span:
    lines = probed.project.tree.lines(path)
    text = lines[line - 1].rstrip("\r\n") if 0 < line <= len(lines) else ""
    start = len(text) - len(text.lstrip()) + 1
    return Span(line, start, line, max(len(text.rstrip()) + 1, start))


def _creating(model: ModelClass, name: str) -> Iterator[Place]:
    """The lines that create a tensor or a module, then those that create what holds it, by the module tree."""
    if not name:
        return
    variants = model.module_tree.find(name)  # one that is tied was created with another module
    yield from (t.place for t in sorted(variants, key=lambda t: t.place.line != t.module.place.line))
    nodes = [node for node in model.module_tree.nodes() if node.fqn]
    while name:
        yield from (node.place for node in nodes if matches(node.fqn, name))
        name = name.rpartition(".")[0]


def _pinning(model: ModelClass, text: str | None) -> Iterator[Place]:
    """The lines of the keep lists that hold a pattern."""
    if text:
        for listed in model.pins.lists.values():
            for pattern in listed.patterns:
                if pattern.text in (text, any_index(text)):
                    yield Place(pattern.place.owner.module.path, pattern.place.node)
