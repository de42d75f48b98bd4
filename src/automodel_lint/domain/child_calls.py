"""The calls that the methods of a class make on its submodules, found in the text before the syntax is looked at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from automodel_lint.domain.library_api import MODULE_METHODS
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, nodes_on, parts_of, statements_here
from automodel_lint.inference.classes import Member, MethodView, asked, is_super
from automodel_lint.inference.names import ClassEntity, all_arguments
from automodel_lint.source import remembered

_LOOPED = re.compile(r"\bfor\s+([\w\s,()]+?)\s+in\b|\b(\w+)\s*:=")
_WORD = re.compile(r"\w+")
_CALL = re.compile(r"([\w.\])]*)\.(\w+)\(")
# Parts of a path that are no attribute: what a subscript gives, and what a loop over the container itself does.
ELEMENT, ITERATED = "*", "**"
_DEEPEST = 4


@dataclass(frozen=True)
class ChildCall:
    """A call ``self.<path>.<name>(…)``, however it is spelled; ``*`` and ``**`` in the path are elements."""

    below: Below
    node: ast.Call
    path: str
    name: str

    @property
    def view(self) -> MethodView:
        """The method that makes it."""
        return self.below.view

    @property
    def receiver(self) -> ast.expr:
        """The expression that the method is called on."""
        assert isinstance(self.node.func, ast.Attribute)
        return self.node.func.value


@remembered
def child_calls(project: Project, cls: ClassEntity) -> tuple[ChildCall, ...]:
    """Return the calls that running the methods of the checkout on an object of ``cls`` can make on its submodules.

    Methods of every ``torch.nn.Module`` are left out, and so are methods that another one hides.
    """
    return tuple(call for view in _running(project, cls) for call in _calls_in(view))


def _running(project: Project, cls: ClassEntity) -> Iterator[MethodView]:
    """The methods that can run: the first along the resolution order, and those that it reaches through ``super()``."""
    order = [a for a in project.classes.mro(cls) if isinstance(a, ClassEntity)]
    while order and not project.classes.in_checkout(order[-1]):  # what lies behind runs no method of the checkout
        order.pop()
    hidden: set[str] = set()
    for ancestor in order:
        for name, bindings in project.names.body(ancestor).names.items():
            functions = [b for b in bindings if isinstance(b.node, ast.FunctionDef)]
            shown = name not in hidden and bool(bindings)
            if not functions or not shown:
                hidden |= {name} if shown else set()
                continue
            view = MethodView(project.classes, cls, Member(ancestor, functions[-1]))
            if not _passes_on(view):
                hidden.add(name)
            if project.classes.in_checkout(ancestor) and view.self_name and not _is_bound_to_class(view):
                yield view


def _passes_on(view: MethodView) -> bool:
    name = view.node.name
    lines = {number for number, line in _text(view) if "super" in line}
    calls = (n for n in nodes_on(view.node, lines) if isinstance(n, ast.Call)) if lines else ()
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == name and is_super(c.func.value) for c in calls)


def _is_bound_to_class(view: MethodView) -> bool:
    return any(dotted(d) in ("classmethod", "staticmethod") for d in view.node.decorator_list)


def _text(view: MethodView) -> list[tuple[int, str]]:
    """The lines of a method, numbered."""
    first, last = view.node.lineno, view.node.end_lineno or view.node.lineno
    return list(enumerate(view.classes.tree.lines(view.owner.module.path)[first - 1 : last], first))


# -- text -----------------------------------------------------------------------------------------------------------


def _candidates(view: MethodView) -> set[int]:
    """The lines of a method in which something may be called on a submodule."""
    lines = _text(view)
    me = view.self_name
    roots = {me}
    for _, line in lines:
        roots.update(_names_bound(line))
    found: set[int] = set()
    for number, line in lines:
        if ":=" in line:
            found.add(number)
        for chain, name in _CALL.findall(line) if "(" in line else ():
            root, _, rest = chain.partition(".")
            plain = root in roots and (rest or root != me)
            indirect = chain[-1:] in ("", "]", ")") and not roots.isdisjoint(_WORD.findall(line))
            if name not in MODULE_METHODS and (plain or indirect or not chain):
                found.add(number)
    return found


def _names_bound(line: str) -> set[str]:
    """The local names that a line may bind to a place: a loop, or an assignment without a call."""
    found = set()
    if "for " in line or ":=" in line:
        found = {word for bound in _LOOPED.findall(line) for part in bound for word in _WORD.findall(part)}
    target, equals, value = line.strip().partition(" = ")
    if equals and ("(" not in value or value.startswith("getattr(")):
        found.update(_WORD.findall(target))
    return found


# -- syntax ---------------------------------------------------------------------------------------------------------


def _calls_in(view: MethodView) -> Iterator[ChildCall]:
    lines = asked(view, _candidates)
    below = Below(view)
    for node in nodes_on(view.node, lines, nested=False) if lines else ():
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)):
            below.bind(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            path = below.path(node.func.value) if node.func.attr not in MODULE_METHODS else None
            if path:
                yield ChildCall(below, node, path, node.func.attr)


class Below:
    """The places below ``self`` that the expressions of a method mean."""

    def __init__(self, view: MethodView):
        self.view = view

    def path(self, expr: ast.expr, depth: int = 0) -> str | None:
        """Return the place that an expression means, ``""`` for ``self`` itself; ``None`` if it cannot be told."""
        if depth > _DEEPEST:
            return None
        if isinstance(expr, ast.Name):
            return "" if expr.id == self.view.self_name else self._local(expr.id, depth)
        if isinstance(expr, ast.Attribute):
            return _joined(self.path(expr.value, depth), expr.attr)
        if isinstance(expr, ast.Subscript):
            owner = self.path(expr.value, depth)
            return owner if isinstance(expr.slice, ast.Slice) else _joined(owner, ELEMENT)
        if isinstance(expr, ast.Call) and dotted(expr.func) == "getattr" and len(expr.args) == 2:
            owner, name = expr.args
            return _joined(self.path(owner, depth), str(name.value)) if isinstance(name, ast.Constant) else None
        return None

    def bind(self, node: ast.AST) -> None:
        """Take in what an expression binds: a comprehension, or an assignment in it."""
        for loop in getattr(node, "generators", ()):
            for name, value, part in _looped(loop):
                self._bound.setdefault(name, []).append((value, part))
        for name, value in parts_of(node):
            self._bound.setdefault(name, []).append((value, ""))

    def _local(self, name: str, depth: int) -> str | None:
        """What a local name means, where all that binds it says the same."""
        found: set[str | None] = set()
        for value, part in self._bound.get(name, ()):
            path = self.path(value, depth + 1) if value is not None else None
            found.add(_joined(path, part) if part else path)
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _bound(self) -> dict[str, list[tuple[ast.expr | None, str]]]:
        """Per local name what it is bound to: a value, or an element of one; parameters to nothing that is known."""
        found: dict[str, list[tuple[ast.expr | None, str]]] = {}
        for argument in all_arguments(self.view.node.args):
            found.setdefault(argument.arg, []).append((None, ""))
        for statement in statements_here(self.view.node.body):
            if isinstance(statement, (ast.For, ast.AsyncFor)):
                for name, value, part in _looped(statement):
                    found.setdefault(name, []).append((value, part))
            for name, value in parts_of(statement):
                found.setdefault(name, []).append((value, ""))
        return found


def _looped(loop: ast.For | ast.AsyncFor | ast.comprehension) -> Iterator[tuple[str, ast.expr | None, str]]:
    """The names that a loop binds, each with the container whose elements it runs over."""
    target, source = loop.target, loop.iter
    while isinstance(source, ast.Call) and dotted(source.func) in ("enumerate", "reversed", "list", "tuple"):
        if dotted(source.func) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target = target.elts[1]
        source = source.args[0] if source.args else source.func
    method = source.func.attr if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) else ""
    if method in ("items", "named_children") and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target, method = target.elts[1], "values"
    values = method in ("values", "children")
    owner = source.func.value if values else source  # type: ignore[attr-defined]
    for name in ast.walk(loop.target):
        if isinstance(name, ast.Name):
            yield name.id, owner if name is target else None, ELEMENT if values else ITERATED


def _joined(owner: str | None, part: str) -> str | None:
    if owner is None:
        return None
    return f"{owner}.{part}" if owner else part
