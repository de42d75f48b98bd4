"""Tensors that an adapter leaves behind: not named in a chain of tests, or caught by one that is for others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, SAVING, SINGLE, lines_of, own_code
from automodel_lint.domain.adapter_names import images, sample
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, statements_here
from automodel_lint.inference.classes import MethodView, asked

_BY_PART = re.compile(r"startswith\(|[\"'] in ")
_PUTS = ("append", "extend", "update")


_AROUND = ["model.embed_tokens.weight"]  # beside what is known of a model whose base cannot be followed


class Lost(NamedTuple):
    """A tensor that does not arrive: where, in which direction, and what it becomes (nothing, or a wrong name)."""

    view: MethodView
    node: ast.AST
    name: str
    becomes: str


def lost_keys(model: ModelClass, adapter: Adapter) -> Lost | None:
    """Return what saving leaves out and loading does not bring back, or what loading leaves out or misnames.

    One tensor stands for each part of the model. A head that may be tied is left out on purpose.
    """
    saving, loading, catching = places = suspects(model, adapter)
    names = sample(model) if any(places) else []
    if saving is not None and not any(_may_meet(saving, name) for name in names):
        saving = None
    if not names or not (saving or loading or catching):
        return None
    around = [] if any(name.startswith("model.") for name in names) else _AROUND
    saved = images(adapter, SAVING, [*names, *around])
    left_out = [n for n in names if saved[n] == () and saving and not (model.ties and "head" in n)]
    if not (left_out or loading or catching):
        return None
    written = dict.fromkeys(new for name in names for new in saved[name] or ())
    loaded = images(adapter, LOADING, [*written, *around])
    if None in loaded.values():
        return None  # a tensor may come back from a name that could not be followed
    restored = {name for made in loaded.values() for name in made or ()}
    missing = next((name for name in left_out if name not in restored), None)
    if missing is not None and saving is not None:
        return Lost(saving.view, saving.node, missing, "")
    for name in names:
        made = saved[name]
        if made and name not in restored:
            back = [new for old in made for new in loaded[old] or ()]
            wrong = next((new for new in back if new.endswith(f".{made[0]}")), "")
            place = loading if not back else catching if wrong else None
            if place is not None:
                return Lost(place.view, place.node, made[0], wrong)
    return None


class Suspect(NamedTuple):
    """Where a tensor may be lost, and the test on names that decides (``None``: none can be told)."""

    view: MethodView
    node: ast.AST
    test: ast.expr | None = None


def _may_meet(suspect: Suspect, name: str) -> bool:
    """Whether a name may pass the test before a place: by its beginning, by a piece of it, or as a whole."""
    test = suspect.test
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "startswith":
        texts = [n.value for a in test.args for n in ast.walk(a) if isinstance(n, ast.Constant)]
        return any(name.startswith(str(text)) for text in texts) if texts else True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.Eq) and isinstance(right, ast.Constant):
            return name == right.value
        if isinstance(test.ops[0], ast.In) and isinstance(left, ast.Constant):
            return str(left.value) in name
    return True


def suspects(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> tuple[Suspect | None, ...]:
    """Return where saving may lose a tensor, where loading may, and where loading may misname one."""
    return (
        next(_losing(own_code(model, adapter, SAVING, SINGLE)), None),
        next(_losing(own_code(model, adapter, LOADING)), None),
        next(_catching(own_code(model, adapter, LOADING)), None),
    )


# -- where it can happen ---------------------------------------------------------------------------------------------


def _losing(code: tuple[MethodView, ...]) -> Iterator[Suspect]:
    """Yield the chains of tests on names with a way through on which nothing is kept."""
    for view in code:
        yield from (Suspect(view, node, test) for node, test in asked(view, _losing_in))


def _losing_in(view: MethodView) -> tuple[tuple[ast.AST, ast.expr | None], ...]:
    if not _asks(view):
        return ()
    found: list[tuple[ast.AST, ast.expr | None]] = []
    for node in statements_here(view.node.body):
        if isinstance(node, ast.For) and any(_ways(node.body, _looped(node))):
            tests = [statement for statement in node.body if isinstance(statement, ast.If)]
            chains = [s for s in tests if _keeps(s, _looped(node)) or "startswith(" in ast.unparse(s.test)]
            found += [(chain, None) for chain in chains[:1] if any(_BY_PART.search(t) for t in _tests(chain))]
    return (*found, *(_returned_empty(view.node.body, None) if view.node.name == SINGLE else ()))


def _asks(view: MethodView) -> bool:
    return any(_BY_PART.search(line) for line in lines_of(view))


def _tests(chain: ast.If) -> Iterator[str]:
    """The tests of a chain, as text."""
    yield ast.unparse(chain.test)
    for statement in chain.orelse:
        if isinstance(statement, ast.If):
            yield from _tests(statement)


def _returned_empty(body: list[ast.stmt], test: ast.expr | None) -> Iterator[tuple[ast.Return, ast.expr | None]]:
    """Where a conversion returns nothing, other than for what the caller excludes; and by which test."""
    for statement in body:
        if isinstance(statement, ast.Return) and _is_empty(statement.value):
            yield statement, test
        elif isinstance(statement, ast.If):
            if "exclude" not in ast.unparse(statement.test):
                yield from _returned_empty(statement.body, statement.test)
            yield from _returned_empty(statement.orelse, None)


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


def _catching(code: tuple[MethodView, ...]) -> Iterator[Suspect]:
    """Yield where a name gets something in front that nobody asked for by a test of its own: in an ``else``."""
    for view in code:
        yield from (Suspect(view, node) for node in asked(view, _catching_in))


def _catching_in(view: MethodView) -> tuple[ast.AST, ...]:
    found: list[ast.AST] = []
    for node in view.walk() if _asks(view) else ():
        orelse = node.orelse if isinstance(node, (ast.If, ast.IfExp)) else []
        for statement in orelse if isinstance(orelse, list) else [orelse]:
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.JoinedStr, ast.BinOp)):
                found += [n for n in ast.walk(statement) if _prefixes(n)]
    return tuple(found)


def _prefixes(node: ast.AST) -> bool:
    """``f"{prefix}{key}"`` or ``"model." + key``."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        prefix, rest = node.values
        fixed = prefix.value if isinstance(prefix, ast.Constant) else "."
        return isinstance(rest, ast.FormattedValue) and bool(dotted(rest.value)) and str(fixed).endswith(".")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return bool(dotted(node.right)) and (isinstance(node.left, ast.Constant) or bool(dotted(node.left)))
    return False
