"""Repairs of the query ``get_capabilities`` (NAM305): its decorator, its parameters, what it returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from automodel_lint.domain.capabilities import (
    AXES,
    DYNAMIC,
    NESTED,
    canonical_fields,
    returned,
    surely_no_capabilities,
)
from automodel_lint.domain.constructor import Function
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled
from automodel_lint.findings import Span
from automodel_lint.inference.bindings import FUNCTIONS, dotted, statements_here
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity, External, FunctionEntity, all_arguments
from automodel_lint.repairs import (
    Repair,
    Step,
    add_parameters,
    decorate,
    place_of,
    remove_parameters,
    repair,
    replace_text,
    text_before,
    text_behind,
)

_CLASSMETHOD = "builtins.classmethod"
_STATIC = "builtins.staticmethod"
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})


# -- how it is called -------------------------------------------------------------------------------------------------


@dataclass
class _Signature:
    """What a repair of the signature is put together from; ``unsafe`` once callers may notice it."""

    model: ModelClass
    function: Function
    steps: list[Step] = field(default_factory=list)
    unsafe: bool = False

    def span(self, node: ast.AST) -> Span:
        return self.model.project.tree.span(self.model.path, node)

    @property
    def decorators(self) -> set[str]:
        return {f for d in self.function.decorator_list for f in self.fqns(d)}

    def fqns(self, expr: ast.expr) -> set[str]:
        return self.model.names.fqns(expr, self.model.entity.scope)

    def uses(self, name: str) -> list[ast.Name]:
        """Return where the body has a name."""
        nodes = (n for s in self.function.body for n in ast.walk(s))
        return [n for n in nodes if isinstance(n, ast.Name) and n.id == name]

    def binds(self, name: str) -> bool:
        """Whether something in the function other than its own parameters gives a name a meaning."""
        nodes = [n for s in self.function.body for n in ast.walk(s)]
        stored = any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in nodes)
        return stored or any(isinstance(n, ast.arg) and n.arg == name for n in nodes)

    def is_commented(self, parameter: ast.arg) -> bool:
        """Whether a comment stands beside a parameter below the ``def``, where it would be left without it."""
        lines = self.model.project.tree.lines(self.model.path)[parameter.lineno - 1 : parameter.end_lineno]
        return parameter.lineno > self.function.lineno and any("#" in line for line in lines)

    def replace(self, node: ast.AST, old: str, new: str) -> bool:
        """Write ``new`` for a node whose text begins with ``old``; tell whether it does (in f-strings it may not)."""
        span = self.span(node)
        line = self.model.project.tree.lines(self.model.path)[span.line - 1]
        end = span.column + len(old)
        self.steps.append(replace_text(Span(span.line, span.column, span.line, end), new))
        return line[span.column - 1 : end - 1] == old


def taking_config(model: ModelClass, function: Function) -> Repair | None:
    """A classmethod of ``(cls, config)``; ``None`` where the body or a caller in the file needs something else."""
    made = _Signature(model, function)
    if isinstance(function, ast.AsyncFunctionDef) and _CLASSMETHOD in made.decorators:
        return _synchronous(made)
    was = made.decorators
    parts = _parameters(function, static=_STATIC in was, bound=_CLASSMETHOD in was)
    if parts is None or _is_called_otherwise(model) or not _decorate(made):
        return None
    receiver, config, rest = parts
    extras = [a for a in rest if a is not config]
    if any(made.uses(a.arg) or made.is_commented(a) for a in extras):
        return None
    if not (
        _with_receiver(made, receiver, config, instance=not was & {_CLASSMETHOD, _STATIC})
        and _with_config(made, receiver, config, extras)
    ):
        return None
    starred = function.args.kwonlyargs and function.args.vararg is None
    gone = [*(["*"] if starred else []), *(a.arg for a in extras)]
    place = place_of(made.span(function))
    steps = [*made.steps, *([remove_parameters(place, *gone)] if gone else [])]
    return repair("Make it a classmethod of `(cls, config)`", *steps, unsafe=made.unsafe)


def _parameters(
    function: Function, static: bool, bound: bool
) -> tuple[ast.arg | None, ast.arg | None, list[ast.arg]] | None:
    """Return what gets the class or object, what gets the config, and all but the first; ``None`` if unclear."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    # Without a decorator and with the config alone, the first parameter was forgotten.
    forgotten = not bound and [a.arg for a in plain] == ["config"]
    first = plain[0] if plain and not forgotten and (not static or plain[0].arg in ("self", "cls")) else None
    rest = [a for a in all_arguments(arguments) if a is not first]
    named = [a for a in (*plain, *arguments.kwonlyargs) if a.arg == "config" and a is not first]
    others = [a for a in plain if a is not first]
    if named:
        return first, named[0], rest
    if len(others) > 1 or (rest and not others) or (first is None and not others and not static):
        return None
    return first, others[0] if others else None, rest


def _decorate(made: _Signature) -> bool:
    """Write ``@classmethod``, or write it for the decorator that says otherwise."""
    if made.fqns(ast.Name("classmethod", ast.Load())) != {_CLASSMETHOD}:
        return False
    if _CLASSMETHOD in made.decorators:
        return True
    for decorator in made.function.decorator_list:
        if made.fqns(decorator) & {_STATIC, *_PROPERTIES}:
            made.steps.append(replace_text(made.span(decorator), "classmethod"))
            return True
    if not all(fqn.startswith("typing.") for fqn in made.decorators):
        return False  # what may not be put around by it
    made.steps.append(decorate(place_of(made.span(made.function)), "classmethod"))
    return True


def _with_receiver(made: _Signature, receiver: ast.arg | None, config: ast.arg | None, instance: bool) -> bool:
    """See that the first parameter is ``cls``, and that the body asks nothing of it that only an object has."""
    if receiver is None:
        made.steps += [text_before(made.span(config), "cls, ")] if config else []
        return not made.uses("cls")
    if receiver.arg == "cls":
        return True
    if made.uses("cls") or made.binds(receiver.arg) or not made.replace(receiver, receiver.arg, "cls"):
        return False
    uses = made.uses(receiver.arg)
    if not instance:
        return all(made.replace(use, receiver.arg, "cls") for use in uses)
    read = {id(n.value): n for s in made.function.body for n in ast.walk(s) if isinstance(n, ast.Attribute)}
    return all(id(use) in read and _of_class(made, read[id(use)], receiver.arg) for use in uses)


def _of_class(made: _Signature, read: ast.Attribute, receiver: str) -> bool:
    """Write for ``self.name`` what a classmethod can have in its stead."""
    if read.attr == "config" and isinstance(read.ctx, ast.Load):
        made.unsafe = True
        return not made.binds("config") and made.replace(read, f"{receiver}.config", "config")
    members, opaque = made.model.inherited(read.attr)
    if opaque or len(members) != 1:
        return False
    function = members[0].function
    made.unsafe = made.unsafe or function is None  # the object may have another value
    decorators = {f for d in function.decorator_list for f in made.fqns(d)} if function else {_STATIC}
    return bool(decorators & {_CLASSMETHOD, _STATIC}) and made.replace(read.value, receiver, "cls")


def _with_config(made: _Signature, receiver: ast.arg | None, config: ast.arg | None, extras: Sequence[ast.arg]) -> bool:
    """See that a parameter is called ``config``."""
    if config is None:
        made.unsafe = True
        text = "config" if receiver else "cls, config"
        made.steps.append(add_parameters(place_of(made.span(made.function)), text))
        return not extras and not made.binds("config")
    if config.arg == "config":
        return True
    old = config.arg
    if made.uses("config") or made.binds(old) or not made.replace(config, old, "config"):
        return False
    return all(made.replace(use, old, "config") for use in made.uses(old))


def _is_called_otherwise(model: ModelClass) -> bool:
    """Whether the file has a call that is not of one plain argument, or hands the method on."""
    calls = {id(n.func): n for n in ast.walk(model.entity.module.syntax) if isinstance(n, ast.Call)}
    for node in ast.walk(model.entity.module.syntax):
        if isinstance(node, ast.Attribute) and node.attr == DYNAMIC and isinstance(node.ctx, ast.Load):
            call = calls.get(id(node))
            if call is None or len(call.args) != 1 or call.keywords:
                return True
    return False


def _synchronous(made: _Signature) -> Repair | None:
    """``async`` taken away where nothing is awaited."""
    waits = (ast.Await, ast.AsyncFor, ast.AsyncWith, *FUNCTIONS)
    nodes = [n for s in made.function.body for n in ast.walk(s)]
    if any(isinstance(n, waits) or getattr(n, "is_async", False) for n in nodes):
        return None
    span = made.span(made.function)
    text = made.model.project.tree.lines(made.model.path)[span.line - 1][span.column - 1 :]
    match = re.match(r"async[ \t]+(?=def\b)", text)
    if match is None:
        return None
    gone = Span(span.line, span.column, span.line, span.column + match.end())
    return repair("Make it no coroutine", replace_text(gone, ""))


def wrapped(model: ModelClass, value: ast.expr | None, functions: Iterable[FunctionEntity]) -> Repair | None:
    """``classmethod(…)`` around an assigned function of ``(cls, config)``."""
    plain = [[a.arg for a in all_arguments(f.node.args)] for f in functions]
    if value is None or any(names != ["cls", "config"] for names in plain):
        return None
    span = model.project.tree.span(model.path, value)
    return repair("Make it a classmethod", text_before(span, "classmethod("), text_behind(span, ")"))


# -- what it gives ----------------------------------------------------------------------------------------------------


def giving_profiles(model: ModelClass, view: MethodView) -> Repair | None:
    """A profile of the same flags for each dict of flags that is returned; ``None`` if one is something else."""
    function = view.node
    spelling = _spelled(model, view)
    if spelling is None:
        return None
    name, needed = spelling
    steps: list[Step] = []
    for statement in returned(function):
        if surely_no_capabilities(model.project, statement.value, view.scope):
            made = _profile(model, view, statement.value, name)
            if made is None:
                return None
            steps += made
    if function.returns is not None and _is_dict_type(function.returns):
        steps.append(replace_text(model.project.tree.span(model.path, function.returns), name))
    return repair(f"Return a `{NESTED}`", *dict.fromkeys(steps), needed)


def _is_dict_type(annotation: ast.expr) -> bool:
    return dotted(annotation.value if isinstance(annotation, ast.Subscript) else annotation) == "dict"


def _spelled(model: ModelClass, view: MethodView) -> tuple[str, Step | None] | None:
    """How the method can write the framework's class: as it imports it itself, else as the file does."""
    local = view.scope.frames[0]
    for name, bindings in local.names.items():
        if len(bindings) == 1 and bindings[0].kind == "from" and bindings[0].name == NESTED:
            return (name, None) if not bindings[0].conditional else None
    found = spelled(model.project, model.entity.module, NESTED)
    return None if found is None or found[0].partition(".")[0] in local.names else found


def _profile(model: ModelClass, view: MethodView, value: ast.expr | None, name: str) -> list[Step] | None:
    """Return the steps that make a returned value a profile; ``None`` where that is not all in its letters."""
    if isinstance(value, ast.IfExp):
        sides = [s for s in (value.body, value.orelse) if surely_no_capabilities(model.project, s, view.scope)]
        made = [_profile(model, view, side, name) for side in sides]
        return None if None in made else [step for steps in made for step in steps or ()]
    if isinstance(value, ast.Dict):
        return _from_dict(model, value, name)
    if isinstance(value, ast.Name) and value.id in view.scope.frames[0].names:
        given = _given_once(view, value.id)
        return _profile(model, view, given, name) if given is not None else None
    if isinstance(value, (ast.Name, ast.Attribute)):
        span = model.project.tree.span(model.path, value)
        return [text_behind(span, "()")] if _is_profile(model, view, value) else None
    if isinstance(value, ast.Call):
        return _from_call(model, view, value, name)
    return None


def _given_once(view: MethodView, name: str) -> ast.expr | None:
    """The one value of a local variable that is only returned."""
    nodes = [n for n in ast.walk(view.node) if isinstance(n, ast.Name) and n.id == name]
    returns = {id(r.value) for r in returned(view.node)}
    given = [
        s.value
        for s in statements_here(view.node.body)
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and dotted(s.targets[0]) == name
    ]
    read = [n for n in nodes if isinstance(n.ctx, ast.Load)]
    only = len(given) == 1 and len(nodes) == len(read) + 1 and all(id(n) in returns for n in read)
    return given[0] if only else None


def _flags(model: ModelClass) -> Sequence[str]:
    return canonical_fields(model.project) or AXES


def _from_dict(model: ModelClass, value: ast.Dict, name: str) -> list[Step] | None:
    """``{"flag": …}`` as ``Name(flag=…)``, its layout kept."""
    tree = model.project.tree
    lines, whole = tree.lines(model.path), tree.span(model.path, value)
    steps = [replace_text(Span(whole.line, whole.column, whole.line, whole.column + 1), f"{name}(")]
    seen = set()
    for key in value.keys:
        flag = key.value if isinstance(key, ast.Constant) else None
        if key is None or flag not in _flags(model) or flag in seen:
            return None
        seen.add(flag)
        span = tree.span(model.path, key)
        colon = re.match(r"\s*:[ \t]*", lines[span.end_line - 1][span.end_column - 1 :])
        if colon is None or span.line != span.end_line:
            return None
        end = span.end_column + colon.end()
        steps.append(replace_text(Span(span.line, span.column, span.line, end), f"{flag}="))
    closing = Span(whole.end_line, whole.end_column - 1, whole.end_line, whole.end_column)
    return [*steps, replace_text(closing, ")")]


def _from_call(model: ModelClass, view: MethodView, call: ast.Call, name: str) -> list[Step] | None:
    """``dict(flag=…)`` as ``Name(flag=…)``; a profile that is taken apart, whole."""
    span = model.project.tree.span
    fqns = model.names.fqns(call.func, view.scope)
    if fqns == {"builtins.dict"} and not call.args and all(k.arg in _flags(model) for k in call.keywords):
        return [replace_text(span(model.path, call.func), name)]
    inner = call.args[0] if len(call.args) == 1 and not call.keywords else None
    taken_apart = fqns in ({"dataclasses.asdict"}, {"builtins.vars"}) and isinstance(inner, ast.Call)
    if not taken_apart or not _is_profile(model, view, inner.func):
        return None
    outer, kept = span(model.path, call), span(model.path, inner)
    opening = Span(outer.line, outer.column, kept.line, kept.column)
    return [replace_text(opening, ""), replace_text(Span(*_end(kept), *_end(outer)), "")]


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _is_profile(model: ModelClass, view: MethodView, expr: ast.expr) -> bool:
    """Whether an expression is a profile's class itself."""
    entities = model.names.resolve(expr, view.scope)
    return bool(entities) and all(
        isinstance(e, (ClassEntity, External)) and e.fqn.rpartition(".")[2] == NESTED for e in entities
    )


def giving_last(model: ModelClass, view: MethodView) -> Repair | None:
    """``return`` in front of a profile that the body ends with and forgets."""
    last = view.node.body[-1]
    value = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(value, ast.Call) or not _is_profile(model, view, value.func):
        return None
    return repair("Return it", text_before(model.project.tree.span(model.path, last), "return "))
