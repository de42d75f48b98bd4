"""Repairs of the tie guard (NAM203-NAM207): written, moved, given the right arguments."""

from __future__ import annotations

import ast

from automodel_lint.domain.constructor import Function, config_parameter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled
from automodel_lint.domain.tie_default import allows_default
from automodel_lint.domain.tie_guard import GUARD, GuardCall, Guarding
from automodel_lint.inference.bindings import FUNCTIONS, collect
from automodel_lint.inference.names import ClassEntity, all_arguments, defaults_of
from automodel_lint.repairs import Repair, Step, first_statement, move_first, place_of, repair, replace_text


def written(model: ModelClass, found: Guarding, unsafe: bool = False) -> Repair | None:
    """A guard of the constructor's own in front of everything."""
    step = _first(model, found)
    return None if step is None else repair(f"Call `{GUARD}` first", *step, unsafe=unsafe)


def moved(model: ModelClass, found: Guarding) -> Repair | None:
    """The guard moved to the front; where the call cannot be moved, one is written there."""
    assert found.first is not None and found.function is not None
    call, statement = found.first, _statement_of(found.first.node, found.function)
    parameter = _parameter(found.function)
    if parameter is None or _is_local(call.node.func, found.function):
        return None
    text = _moved_text(model, found, call, parameter)
    if statement is None or text is None or not _is_direct(model, found, call):
        return written(model, found, unsafe=_asks_anew(model, call))
    path, tree = found.owner.module.path, model.project.tree
    places = (place_of(tree.span(path, found.function)), place_of(tree.span(path, statement)))
    return repair("Move the guard to the front", move_first(*places, text), unsafe=_asks_anew(model, call))


def with_config(model: ModelClass, found: Guarding, call: GuardCall) -> Repair | None:
    """The constructor's own config as the argument; where a base is handed another one, a guard of the class's own."""
    unsafe = _asks_anew(model, call)
    if call.through is not None:
        return written(model, found, unsafe)
    parameter = _parameter(found.function)
    if parameter is None or not _is_direct(model, found, call):
        return None
    return _with_argument(model, found.owner, call.node, ("config", 1), parameter, unsafe)


def with_own_class(model: ModelClass, found: Guarding, call: GuardCall) -> Repair | None:
    """``type(self)`` as the argument."""
    if found.function is None or not _is_direct(model, found, call):
        return None
    return _with_argument(model, found.owner, call.node, ("model_cls", 0), f"type({_self(found.function)})")


def _asks_anew(model: ModelClass, call: GuardCall) -> bool:
    """Whether the guard would ask another flag than it does, one that may refuse by default what loads today."""
    return call.config is False and not allows_default(model)


# -- parts ----------------------------------------------------------------------------------------------------------


def _first(model: ModelClass, found: Guarding) -> tuple[Step, Step | None] | None:
    function = found.function
    parameter = _parameter(function)
    spelling = spelled(model.project, found.owner.module, GUARD)
    if function is None or parameter is None or spelling is None:
        return None
    name, needed = spelling
    if _is_local(ast.parse(name, mode="eval").body, function):
        return None
    place = place_of(model.project.tree.span(found.owner.module.path, function))
    return first_statement(place, f"{name}(type({_self(function)}), {parameter})"), needed


def _with_argument(
    model: ModelClass, owner: ClassEntity, call: ast.Call, argument: tuple[str, int], text: str, unsafe: bool = False
) -> Repair | None:
    """One argument of the guard, by its keyword or place, replaced."""
    keyword, index = argument
    given = next((k.value for k in call.keywords if k.arg == keyword), None)
    given = call.args[index] if given is None and index < len(call.args) else given
    if given is None or isinstance(given, ast.Starred) or ast.unparse(given) == text:
        return None
    span = model.project.tree.span(owner.module.path, given)
    return repair(f"Pass `{text}`", replace_text(span, text), unsafe=unsafe)


def _moved_text(model: ModelClass, found: Guarding, call: GuardCall, parameter: str) -> str | None:
    """The call as it will stand in front: what it names must mean the same there; ``None`` if it spans lines."""
    node = call.node
    if node.lineno != node.end_lineno:
        return None if _has_comment(model, found, node) else _canonical(call, found, parameter)
    given = [*node.args, *(k.value for k in node.keywords)]
    known = {parameter, _self(found.function), "type"}
    names = {n.id for a in given for n in ast.walk(a) if isinstance(n, ast.Name)}
    attributes = [n for a in given for n in ast.walk(a) if isinstance(n, ast.Attribute) and n.attr != "__class__"]
    if names <= known and not attributes:
        path, tree = found.owner.module.path, model.project.tree
        return tree.text_at(path, tree.span(path, node))
    return _canonical(call, found, parameter)


def _has_comment(model: ModelClass, found: Guarding, node: ast.Call) -> bool:
    lines = model.project.tree.lines(found.owner.module.path)[node.lineno - 1 : node.end_lineno]
    return any("#" in line for line in lines)


def _canonical(call: GuardCall, found: Guarding, parameter: str) -> str:
    return f"{ast.unparse(call.node.func)}(type({_self(found.function)}), {parameter})"


def _statement_of(call: ast.Call, function: Function) -> ast.Expr | None:
    """The statement that is nothing but the call."""
    found = (n for n in ast.walk(function) if isinstance(n, ast.Expr) and n.value is call)
    return next(found, None)


def _is_direct(model: ModelClass, found: Guarding, call: GuardCall) -> bool:
    """Whether the call is one of the guard itself, not of a helper that runs it."""
    if found.function is None or call.through is not None:
        return False
    scope = model.classes.method_scope(found.owner, found.function)
    return model.names.leads_to(call.node, scope, GUARD)


def _is_local(func: ast.expr, function: Function) -> bool:
    """Whether the function itself binds the name that is called, so that it may not be there at its beginning."""
    root = next((n.id for n in ast.walk(func) if isinstance(n, ast.Name)), "")
    imports = (ast.Import, ast.ImportFrom)
    body = (
        function.body[1:] if function.body and ast.get_docstring(function, clean=False) is not None else function.body
    )
    first = next((i for i, s in enumerate(body) if not isinstance(s, imports)), len(body))
    nested = [s for s in body[first:] if not isinstance(s, (*FUNCTIONS, ast.ClassDef))]
    return root in collect(nested).names


def _parameter(function: Function | None) -> str | None:
    """The constructor's config parameter; ``None`` where it may be left out."""
    name = config_parameter(function) if function is not None else None
    if function is None or name is None:
        return None
    default = defaults_of(function.args).get(name)
    return None if isinstance(default, ast.Constant) and default.value is None else name


def _self(function: Function | None) -> str:
    arguments = all_arguments(function.args) if function is not None else []
    return arguments[0].arg if arguments else "self"
