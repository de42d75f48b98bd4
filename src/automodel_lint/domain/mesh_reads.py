"""Where an adapter asks a device mesh for a rank or a size and does not say along which of its dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, code_of, lines_of, module_path, nodes_with
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of, statements_here
from automodel_lint.inference.classes import MethodView, asked
from automodel_lint.inference.names import all_arguments

_READS = re.compile(r"\.(?:get_local_rank|size|get_coordinate)\(")
_METHODS = frozenset({"get_local_rank", "size", "get_coordinate"})
# A mesh that nobody has taken a dimension out of; ``ep_mesh`` and its like are called after theirs.
_WHOLE = frozenset({"device_mesh", "mesh", "moe_mesh", "_device_mesh", "world_mesh", "root_mesh"})
_ANYTHING = frozenset({"Any", "object", "Optional", "Union"})
_ASKS_DIMENSIONS = re.compile(r"\.ndim\b|\blen\([^()]*mesh_dim_names\)")


class MeshRead(NamedTuple):
    """One read: in which function, which call, and of what."""

    view: MethodView
    node: ast.Call
    mesh: str


def mesh_reads(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[MeshRead]:
    """Yield the first such read of each function that the conversions of an adapter run.

    A mesh that was indexed by a dimension has only that one; so has one whose number of dimensions was asked for.
    """
    for view in code_of(model, adapter):
        read = asked(view, _first_read)
        if read is not None:
            yield MeshRead(view, read, ast.unparse(read.func.value))  # type: ignore[attr-defined]


def _first_read(view: MethodView) -> ast.Call | None:
    for node in nodes_with(view, _READS):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in _METHODS and not (node.args or node.keywords) and _is_whole(node.func.value, view):
            return None if any(_ASKS_DIMENSIONS.search(line) for line in lines_of(view)) else node
    return None


def _is_whole(expr: ast.expr, view: MethodView, depth: int = 0) -> bool:
    """Whether an expression surely is a device mesh with all its dimensions."""
    if isinstance(expr, ast.Attribute):
        return expr.attr in _WHOLE
    if isinstance(expr, ast.IfExp):
        return _is_whole(expr.body, view, depth) and _is_whole(expr.orelse, view, depth)
    if isinstance(expr, ast.Call) and dotted(expr.func) == "getattr" and len(expr.args) > 1:
        return isinstance(expr.args[1], ast.Constant) and expr.args[1].value in _WHOLE
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr in ("get", "pop"):
        return bool(expr.args) and isinstance(expr.args[0], ast.Constant) and expr.args[0].value in _WHOLE
    if not isinstance(expr, ast.Name) or depth > 5:
        return False
    values = _values(expr.id, view.node)
    if values:
        return all(value is not None and _is_whole(value, view, depth + 1) for value in values)
    argument = next((a for a in _arguments(view.node) if a.arg == expr.id), None)
    if argument is None:
        return False
    return expr.id in _WHOLE and (argument.annotation is None or _may_be_mesh(argument.annotation, view))


def _may_be_mesh(annotation: ast.expr, view: MethodView) -> bool:
    """Whether an annotation names a device mesh, or nothing in particular."""
    named: set[str] = set()
    todo = [annotation]
    while todo:
        expr = todo.pop()
        if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
            todo += _quoted(expr.value)
        elif isinstance(expr, (ast.Name, ast.Attribute)):
            fqns = view.classes.names.fqns(expr, view.scope) or {dotted(expr)}
            named |= {fqn.rpartition(".")[2] for fqn in fqns}
        else:
            todo += [child for child in ast.iter_child_nodes(expr) if isinstance(child, ast.expr)]
    return "DeviceMesh" in named or named <= _ANYTHING


def _quoted(text: str) -> list[ast.expr]:
    try:
        return [ast.parse(text, mode="eval").body]
    except SyntaxError:
        return []


def _values(name: str, function: ast.AST) -> list[ast.expr | None]:
    """What is assigned to a local name in a function, but for ``None`` in place of a mesh."""
    found: list[ast.expr | None] = []
    for statement in statements_here(function.body):  # type: ignore[attr-defined]
        found += [value for target, value in parts_of(statement) if target == name]
    return [v for v in found if not (isinstance(v, ast.Constant) and v.value is None)]


def _arguments(function: ast.AST) -> list[ast.arg]:
    """The parameters of a function and of those inside it."""
    functions = [n for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [argument for f in functions for argument in all_arguments(f.args)]


# -- experts that are cut along one dimension only -------------------------------------------------------------------

_RANGE = "get_expert_range_for_rank_from_mesh"
_WRAP = "create_dtensor_from_local"
_SECOND = "ep_shard"


def half_cut_experts(
    model: ModelClass | LooseAdapter, adapter: Adapter | Alone
) -> Iterator[tuple[MethodView, ast.AST]]:
    """Yield where loading cuts the experts of this rank out of a tensor and leaves their other dimension whole.

    The framework's ``create_dtensor_from_local`` takes the second dimension of what it gets for a part of ``ep_shard``.
    """
    views = code_of(model, adapter, LOADING)
    if not any(v.node.name == _WRAP and asked(v, _says_second) for v in views):
        return
    own = [view for view in views if view.classes.in_checkout(view.owner) and _is_models(model, view)]
    if not any(asked(view, _says_second) for view in own):
        cuts = ((view, asked(view, _cut)) for view in own)
        yield from ((view, node) for view, node in cuts if node is not None)


def _is_models(model: ModelClass | LooseAdapter, view: MethodView) -> bool:
    return model.project.model_package(module_path(view)) is not None


def _says_second(view: MethodView) -> bool:
    return any(_SECOND in line for line in lines_of(view))


def _cut(view: MethodView) -> ast.AST | None:
    """Where a function cuts something by the first and the last expert of its rank."""
    bounds: tuple[str, ...] = ()
    for node in view.walk() if any(_RANGE in line for line in lines_of(view)) else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target, called = node.targets[0], dotted(node.value.func).rpartition(".")[2]
            if called == _RANGE and isinstance(target, ast.Tuple):
                bounds = tuple(dotted(element) for element in target.elts)
    subscripts = (n for n in ast.walk(view.node) if isinstance(n, ast.Subscript)) if bounds else ()
    return next((n for n in subscripts if _cut_by(n.slice) == bounds), None)


def _cut_by(expr: ast.expr) -> tuple[str, ...]:
    if isinstance(expr, ast.Slice) and expr.lower is not None and expr.upper is not None and expr.step is None:
        return dotted(expr.lower), dotted(expr.upper)
    return ()
