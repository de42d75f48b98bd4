"""Tensors that an adapter leaves behind: not named in a chain of tests, or caught by one that is for others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, SAVING, SINGLE, code_of, module_path
from automodel_lint.domain.adapter_names import images, sample
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, walk_here
from automodel_lint.inference.classes import MethodView

_ASKS = re.compile(r"startswith\(|endswith\(|\.match\(|\.search\(|\.fullmatch\(|[\"'] in ")
_BY_PART = re.compile(r"startswith\(|[\"'] in ")
_PUTS = ("append", "extend", "update")


Suspect = tuple[MethodView, ast.AST] | None
_AROUND = ["model.embed_tokens.weight"]  # beside what is known of a model whose base cannot be followed


class Lost(NamedTuple):
    """A tensor that does not arrive: where, in which direction, and what it becomes (nothing, or a wrong name)."""

    view: MethodView
    node: ast.AST
    name: str
    becomes: str


def lost_keys(model: ModelClass, adapter: Adapter) -> Iterator[Lost]:
    """Yield what saving leaves out and loading does not bring back, and what loading leaves out or misnames.

    One tensor stands for each part of the model. A head that may be tied is left out on purpose.
    """
    saving, loading, catching = places = suspects(model, adapter)
    if not any(places):
        return
    names = sample(model)
    around = [] if any(name.startswith("model.") for name in names) else _AROUND
    saved = {name: made for name, made in images(adapter, SAVING, [*names, *around]).items() if name in names}
    left_out = [name for name, made in saved.items() if made == () and not (model.ties and "head" in name)]
    if saving is None or not left_out:
        left_out = []
        if loading is None and catching is None:
            return
    written = dict.fromkeys(new for made in saved.values() for new in made or ())
    loaded = images(adapter, LOADING, [*written, *around])
    if any(made is None for made in loaded.values()):
        return  # a tensor may come back from a name that could not be followed
    restored = {name for made in loaded.values() for name in made or ()}
    for name in left_out:
        if saving is not None and name not in restored:
            yield Lost(*saving, name, "")
            return
    for name, made in saved.items():
        back = [new for old in made or () for new in loaded[old] or ()]
        if name in restored or not made:
            continue
        if not back and loading is not None:
            yield Lost(*loading, made[0], "")
            return
        if catching is not None and any(new.endswith(f".{made[0]}") for new in back):
            yield Lost(*catching, made[0], next(new for new in back if new.endswith(f".{made[0]}")))
            return


def suspects(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> tuple[Suspect, Suspect, Suspect]:
    """Return where saving may lose a tensor, where loading may, and where loading may misname one."""
    return (
        next(_losing(_own_code(model, adapter, SAVING, SINGLE)), None),
        next(_losing(_own_code(model, adapter, LOADING)), None),
        next(_catching(_own_code(model, adapter, LOADING)), None),
    )


def _own_code(model: ModelClass | LooseAdapter, adapter: Adapter | Alone, *entries: str) -> tuple[MethodView, ...]:
    """What the conversions run of the code of models; what all adapters share is not judged for one of them."""
    code = code_of(model, adapter, *entries)
    return tuple(view for view in code if model.project.model_package(module_path(view)) is not None)


# -- where it can happen ---------------------------------------------------------------------------------------------


def _losing(code: tuple[MethodView, ...]) -> Iterator[tuple[MethodView, ast.AST]]:
    """Yield the chains of tests on names with a way through on which nothing is kept."""
    for view in code:
        if not _asks(view):
            continue
        for node in walk_here(view.node):
            if isinstance(node, ast.For) and any(_ways(node.body, _looped(node))):
                chains = [s for s in node.body if isinstance(s, ast.If) and _keeps(s, _looped(node))]
                yield from ((view, chain) for chain in chains[:1] if any(_BY_PART.search(t) for t in _tests(chain)))
        if view.node.name == SINGLE:
            yield from ((view, node) for node in _returned_empty(view.node.body))


def _asks(view: MethodView) -> bool:
    lines = view.classes.tree.lines(module_path(view))[view.node.lineno - 1 : view.node.end_lineno]
    return any(_ASKS.search(line) for line in lines)


def _tests(chain: ast.If) -> Iterator[str]:
    """The tests of a chain, as text."""
    yield ast.unparse(chain.test)
    for statement in chain.orelse:
        if isinstance(statement, ast.If):
            yield from _tests(statement)


def _returned_empty(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """Where a conversion returns nothing, other than for what the caller excludes."""
    for statement in body:
        if isinstance(statement, ast.Return) and _is_empty(statement.value):
            yield statement
        elif isinstance(statement, ast.If):
            if "exclude" not in ast.unparse(statement.test):
                yield from _returned_empty(statement.body)
            yield from _returned_empty(statement.orelse)


def _is_empty(expr: ast.expr | None) -> bool:
    return isinstance(expr, (ast.List, ast.Tuple)) and not expr.elts


def _looped(loop: ast.For) -> str:
    """The state dict that a loop goes through; what is put back into it is not lost."""
    names = [dotted(n) for n in ast.walk(loop.iter) if isinstance(n, (ast.Name, ast.Attribute))]
    return next((name for name in names if name and "." not in name and name not in ("list", "sorted", "tuple")), "")


def _ways(body: list[ast.stmt], looped: str) -> tuple[bool, bool]:
    """Whether a block can be run through, and whether it can be left, without anything being kept."""
    through, left = True, False
    for statement in body:
        if isinstance(statement, ast.If):
            sides = [_ways(statement.body, looped), _ways(statement.orelse, looped)]
            through = any(side[0] for side in sides)
            left = left or (any(side[1] for side in sides) and "startswith(" in ast.unparse(statement.test))
        elif isinstance(statement, ast.Continue):
            return False, True
        elif isinstance(statement, (ast.Return, ast.Raise, ast.Break)) or _keeps(statement, looped):
            through = False
        if not through:
            break
    return through, left


def _keeps(statement: ast.stmt, looped: str) -> bool:
    """Whether a statement puts something into another collection than the one that is looped over."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) != looped:
            return True
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS:
            return node.func.attr != "append" or any(isinstance(argument, ast.Tuple) for argument in node.args)
    return False


def _catching(code: tuple[MethodView, ...]) -> Iterator[tuple[MethodView, ast.AST]]:
    """Yield where a name gets something in front that nobody asked for by a test of its own: in an ``else``."""
    for view in code:
        for node in walk_here(view.node) if _asks(view) else ():
            orelse = node.orelse if isinstance(node, (ast.If, ast.IfExp)) else []
            for statement in orelse if isinstance(orelse, list) else [orelse]:
                if isinstance(statement, (ast.Assign, ast.Return, ast.JoinedStr, ast.BinOp)):
                    yield from ((view, n) for n in ast.walk(statement) if _prefixes(n))


def _prefixes(node: ast.AST) -> bool:
    """``f"{prefix}{key}"`` or ``"model." + key``."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        prefix, rest = node.values
        fixed = prefix.value if isinstance(prefix, ast.Constant) else "."
        return isinstance(rest, ast.FormattedValue) and bool(dotted(rest.value)) and str(fixed).endswith(".")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return bool(dotted(node.right)) and (isinstance(node.left, ast.Constant) or bool(dotted(node.left)))
    return False
