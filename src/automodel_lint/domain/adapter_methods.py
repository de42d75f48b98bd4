"""Which of the three conversions an adapter class has, and whether the one for a single tensor renames as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import ENTRIES, SAVING, SINGLE, code_of
from automodel_lint.domain.adapter_names import images, sample
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import Member, MethodView, asked
from automodel_lint.inference.names import ClassEntity

_ABSTRACT = frozenset({"abstractmethod", "abstractproperty"})


def lacking(model: ModelClass | LooseAdapter, cls: ClassEntity) -> list[str]:
    """Return the conversions that an adapter class surely has no implementation of."""
    found = {name: model.classes.find(cls, name) for name in ENTRIES}
    if any(opaque for _, opaque in found.values()):
        return []
    return [name for name, (members, _) in found.items() if all(_is_abstract(member) for member in members)]


def _is_abstract(member: Member) -> bool:
    decorators = member.function.decorator_list if member.function is not None else []
    return any(dotted(decorator).rpartition(".")[2] in _ABSTRACT for decorator in decorators)


# -- the conversion of a single tensor -------------------------------------------------------------------------------


class Unlike(NamedTuple):
    """A conversion of a single tensor that leaves a name as it is, and what renames it otherwise (and how)."""

    single: MethodView
    method: str
    name: str = ""
    saved: str = ""


def unlike_whole(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Unlike | None:
    """Return the conversion of a single tensor that leaves alone all names, or one, that ``to_hf`` renames."""
    members, opaque = model.classes.find(adapter.entity, SINGLE) if adapter.entity is not None else ([], True)
    if opaque or len(members) != 1 or members[0].function is None or _is_abstract(members[0]):
        return None
    single = MethodView(model.classes, adapter.entity, members[0])  # type: ignore[arg-type]
    whole = [view for view in code_of(model, adapter, SAVING) if view.node is not single.node]
    if asked(single, _is_identity):
        renaming = next((view for view in whole if asked(view, _renames_any)), None)
        if renaming is not None:
            return Unlike(single, renaming.node.name)
    elif any(view.node is single.node for view in code_of(model, adapter, SAVING)):
        return None  # the whole is made of it
    found = (
        _left_alone(adapter, sample(model)) if isinstance(adapter, Adapter) and isinstance(model, ModelClass) else None
    )
    return Unlike(single, SAVING, *found) if found is not None else None


def _left_alone(adapter: Adapter, names: list[str]) -> tuple[str, str] | None:
    """A name that ``to_hf`` changes and the conversion of a single tensor does not, and what it is changed to."""
    whole = images(adapter, SAVING, names)
    renamed = {name: made for name, made in whole.items() if made and made != (name,) and len(made) == 1}
    alone = images(adapter, SINGLE, renamed) if renamed else {}
    return next(((name, made[0]) for name, made in renamed.items() if alone[name] == (name,)), None)


def _is_identity(view: MethodView) -> bool:
    """Whether a conversion only ever returns the pair that it was given, or leaves it out."""
    names = [a.arg for a in (*view.node.args.posonlyargs, *view.node.args.args)][1:3]
    if len(names) != 2:
        return False
    made = [(target, value) for node in view.walk() for target, value in parts_of(node)]
    if any(target in names for target, _ in made):
        return False
    lists = {target for target, value in made if value is not None and _is_pair_list(value, names, set())}
    if any(not _is_pair_list(value, names, lists) for target, value in made if target in lists and value is not None):
        return False
    returns = [node for node in view.walk() if isinstance(node, ast.Return)]
    pairs = [r for r in returns if r.value is not None and _is_pair_list(r.value, names, lists)]
    return bool(pairs) and all(r in pairs or _is_empty(r.value) for r in returns)


def _is_pair_list(expr: ast.expr, names: list[str], lists: set[str]) -> bool:
    """``[(fqn, tensor)]``, by whatever name, filtered or not."""
    if isinstance(expr, ast.Name):
        return expr.id in lists
    if isinstance(expr, ast.IfExp):
        sides = (expr.body, expr.orelse)
        return any(_is_pair_list(s, names, lists) for s in sides) and all(
            _is_empty(s) or _is_pair_list(s, names, lists) for s in sides
        )
    if isinstance(expr, ast.ListComp) and len(expr.generators) == 1:
        loop = expr.generators[0]
        return ast.unparse(loop.target) == ast.unparse(expr.elt) and _is_pair_list(loop.iter, names, lists)
    return (
        isinstance(expr, ast.List)
        and len(expr.elts) == 1
        and isinstance(expr.elts[0], ast.Tuple)
        and [dotted(element) for element in expr.elts[0].elts] == names
    )


def _is_empty(expr: ast.expr | None) -> bool:
    return expr is None or (isinstance(expr, (ast.List, ast.Tuple)) and not expr.elts)


_EDITS = frozenset({"replace", "removeprefix", "removesuffix", "sub", "subn"})


def _renames_any(view: MethodView) -> bool:
    return any(True for _ in _renames(view))


def _renames(view: MethodView) -> Iterator[ast.AST]:
    """Yield where a function gives a tensor another name: an edited text, or one written anew, as a key."""
    for node in view.walk():
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            key = node.slice
        elif isinstance(node, ast.DictComp):
            key = node.key
        elif isinstance(node, ast.Return) and node.value is not None and "key" in view.node.name:
            key = node.value
        if key is not None and _is_edited(key, view, 0):
            yield node


def _is_edited(expr: ast.expr, view: MethodView, depth: int) -> bool:
    if isinstance(expr, ast.JoinedStr):
        return any(isinstance(v, ast.Constant) and "." in str(v.value) for v in expr.values)
    if isinstance(expr, ast.Call):
        return isinstance(expr.func, ast.Attribute) and expr.func.attr in _EDITS
    if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add):
        return any(isinstance(side, ast.Constant) for side in (expr.left, expr.right))
    if isinstance(expr, ast.Name) and depth < 4:
        values = [v for node in view.walk() for target, v in parts_of(node) if target == expr.id and v is not None]
        return any(_is_edited(value, view, depth + 1) for value in values)
    return False
