"""The ``forward`` of a registered class: which definitions can run, what stands around them, what they take."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import FUNCTIONS, Binding, walk_here
from automodel_lint.inference.classes import Member, MethodView
from automodel_lint.inference.names import ClassEntity, Entity, FunctionEntity, Value, all_arguments

NAME = "forward"
KEEP = "logits_to_keep"
# Libraries whose decorators hand every argument on to what they decorate.
_TRANSPARENT = ("torch", "transformers", "builtins", "functools", "typing", "typing_extensions")


@dataclass(frozen=True, eq=False)
class Forward:
    """One definition that can run; ``node`` is where an author would change it, in the file of ``owner``."""

    view: MethodView
    owner: ClassEntity
    node: ast.AST


def forwards(model: ModelClass, followed: bool = False) -> list[Forward]:
    """Return the definitions of ``forward`` that can run: own, inherited in the checkout, ``followed`` of a library.

    There are none where a base that could be any class comes first, or where one is bound to what cannot be told.
    """
    members, opaque = model.inherited(NAME)
    found: list[Forward] = []
    for member in members if not opaque else ():
        if model.classes.is_local(member.owner) is followed:
            continue
        if member.function is not None:
            found.append(Forward(MethodView(model.classes, model.entity, member), member.owner, member.function))
            continue
        entities = model.names.resolve(member.value, model.member_scope(member)) if member.value is not None else []
        functions = [e for e in entities if isinstance(e, FunctionEntity)]
        if member.value is None or not functions or len(functions) != len(entities):
            return []
        bound = [(Member(member.owner, Binding("def", f.node)), f) for f in functions]  # ``forward = _forward``
        views = [MethodView(model.classes, model.entity, as_method, f) for as_method, f in bound]
        found += [Forward(view, member.owner, member.value) for view in views]
    return found


def hands_on(view: MethodView) -> bool:
    """Tell whether what stands around a method hands it all that a caller gives: its own signature decides."""
    scope = view.owner.scope
    for decorator in view.node.decorator_list:
        if not all(_hands_on(view, entity) for entity in view.classes.names.resolve(_bare(decorator), scope)):
            return False
    return True


def _bare(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _hands_on(view: MethodView, entity: Entity) -> bool:
    if isinstance(entity, Value):
        return False
    if not isinstance(entity, FunctionEntity):
        return entity.fqn.partition(".")[0] in _TRANSPARENT
    inner = [n for n in ast.walk(entity.node) if isinstance(n, FUNCTIONS) and n is not entity.node]
    return all(_passes_everything(function) for function in inner if not _is_maker(function))


def _is_maker(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """The middle of a decorator with arguments: it defines the wrapper."""
    return any(isinstance(statement, FUNCTIONS) for statement in function.body)


def _passes_everything(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a wrapper calls something with its own ``**kwargs``."""
    free = function.args.kwarg
    nodes = (n for s in function.body for n in walk_here(s))
    return free is not None and any(passes(node, frozenset({free.arg})) for node in nodes)


def passes(node: ast.AST, free: frozenset[str]) -> bool:
    """Tell whether a call hands on keyword arguments under one of the names ``free``, unpacked or as a dict."""
    if not isinstance(node, ast.Call):
        return False
    values = [*(k.value for k in node.keywords), *node.args]
    return any(isinstance(n, ast.Name) and n.id in free for value in values for n in _whole(value))


def _whole(value: ast.expr) -> list[ast.expr]:
    """A value, or what a dict display unpacks (``{**kwargs, "x": 1}``)."""
    if isinstance(value, ast.Dict):
        return [v for k, v in zip(value.keys, value.values, strict=True) if k is None]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        return [*_whole(value.left), *_whole(value.right)]
    return [value]


def free_name(view: MethodView) -> str | None:
    """Return the name of ``**kwargs`` of a method, if it has that."""
    return view.node.args.kwarg.arg if view.node.args.kwarg else None


def takes(view: MethodView, name: str) -> bool:
    """Tell whether a method takes an argument: as a parameter, or by its name out of ``**kwargs``."""
    if any(a.arg == name for a in all_arguments(view.node.args)):
        return True
    return any(isinstance(n, ast.Constant) and n.value == name for n in view.walk())
