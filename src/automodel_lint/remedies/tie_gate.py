"""Repair of ``tie_weights`` (NAM213): ties are put under the flag, what transformers 5 passes is taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.things import ModelPackage
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.domain.tying import Tying, aliases, head_swaps
from automodel_lint.inference.bindings import Binding, branches, dotted, parts_of
from automodel_lint.inference.classes import Member, MethodView
from automodel_lint.inference.names import ClassEntity, Module, all_arguments
from automodel_lint.repairs import Repair, Step, add_parameters, place_of, put_under, repair

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign)


def gated(model: ModelClass, view: MethodView, ungated: list[ast.stmt], refuses: bool) -> Repair | None:
    """What ties under the flag, and the parameters that are missing; both, or nothing."""
    condition = gate(model, view.owner, view.self_name)
    if ungated and (condition is None or not all(_may_be_gated(view, statement) for statement in ungated)):
        return None
    span = model.project.tree.span
    path = view.owner.module.path
    steps: list[Step] = []
    title = f"Ask `{FLAG}` first"
    for first, count in _runs(view.node.body, ungated):
        steps.append(put_under(place_of(span(path, first)), condition or "", count))
    if refuses:
        text = _missing_parameters(view.node)
        if text is None:
            return None
        steps.append(add_parameters(place_of(span(path, view.node)), text))
        title = f"{title} and take `{text}`" if ungated else f"Take `{text}`"
    return repair(title, *steps)


# -- the condition ----------------------------------------------------------------------------------------------------


def gate(model: ModelClass, owner: ClassEntity, self_name: str) -> str | None:
    """Return the question whether the config asks for tying, with the default that the package of ``owner`` has for it.

    ``None`` if nothing keeps the config as an attribute.
    """
    kept = model.is_pretrained_model or any(
        name == f"{view.self_name}.config"
        for view in own_methods(model)
        for n in view.walk()
        for name, _ in parts_of(n)
    )
    if not kept:
        return None
    defaults = {default for module in _package(model, owner) for default in _defaults(module.syntax)}
    default = defaults.pop() if len(defaults) == 1 else "False"
    return f'getattr({self_name}.config, "{FLAG}", {default})'


def _package(model: ModelClass, owner: ClassEntity) -> list[Module]:
    """The files of the model package that ask, for which NAM216 wants one default."""
    folder = model.project.model_package(owner.module.path)
    return [owner.module] if folder is None else ModelPackage(model.project, folder, ()).modules(FLAG.encode())


def own_methods(model: ModelClass) -> Iterator[MethodView]:
    """Yield the methods of the class and of its bases that know the framework, each as one of this class."""
    for owner, function in model.own_functions():
        if function.args.args or function.args.posonlyargs:
            yield MethodView(model.classes, model.entity, Member(owner, Binding("def", function)))


def _defaults(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) == 3:
            name, default = node.args[1:]
            if isinstance(name, ast.Constant) and name.value == FLAG and isinstance(default, ast.Constant):
                yield repr(default.value)


# -- statements -------------------------------------------------------------------------------------------------------


def _runs(body: list[ast.stmt], wanted: list[ast.stmt]) -> Iterator[tuple[ast.stmt, int]]:
    """Yield the first of statements that follow each other in lines of their own, and how many they are."""
    run: list[ast.stmt] = []
    for number, statement in enumerate(body):
        apart = bool(run) and run[-1].end_lineno == statement.lineno
        behind = body[number + 1].lineno if number + 1 < len(body) else 0
        if statement not in wanted or apart or behind == statement.end_lineno:
            yield from _closed(run)
            run = []
        if statement in wanted:
            run.append(statement)
        else:
            for branch, _ in branches(statement):
                yield from _runs(branch, wanted)
    yield from _closed(run)


def _closed(run: list[ast.stmt]) -> Iterator[tuple[ast.stmt, int]]:
    if run:
        yield run[0], len(run)


def _may_be_gated(view: MethodView, statement: ast.stmt) -> bool:
    """Whether nothing but the tie is left out where a statement does not run."""
    tying = Tying(view)
    if not isinstance(statement, _SIMPLE):
        return False
    for node in view.walk():  # both sides of a condition on the flag tie: which is meant?
        if isinstance(node, ast.If) and tying.flag.consults(node.test) and statement in ast.walk(node):
            return False
    if _binds_what_others_read(view, statement):
        return False
    for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call) and not aliases(n)):
        callee = tying.looked_into(call)
        is_helper = callee is not None and view.classes.is_local(callee.owner)
        if is_helper and not Tying(callee, 1).only_ties():
            return False
    return True


def _binds_what_others_read(view: MethodView, statement: ast.stmt) -> bool:
    """Whether an assignment binds more than the tie: a local or an attribute that other code reads."""
    inside = set(ast.walk(statement))
    alias = [t for t in _targets(statement) if isinstance(t, ast.Attribute) and t.attr == "weight"]
    more = {t for t in inside if isinstance(getattr(t, "ctx", None), ast.Store)} - {*alias, *_swapped(view, statement)}
    names = {t.id for t in more if isinstance(t, ast.Name)}
    attributes = {t.attr for t in more if isinstance(t, ast.Attribute)}
    for node in ast.walk(view.owner.module.syntax) if attributes else ast.walk(view.node):
        if node in inside or not isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        if isinstance(node, ast.Attribute) and node.attr in attributes:
            return True
        if isinstance(node, ast.Name) and node.id in names:
            return True
    return False


def _targets(statement: ast.stmt) -> list[ast.expr]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [t for target in targets if target is not None for t in getattr(target, "elts", [target])]


def _swapped(view: MethodView, statement: ast.stmt) -> list[ast.expr]:
    return _targets(statement) if head_swaps(statement, view.self_name) else []


# -- parameters -------------------------------------------------------------------------------------------------------


def _missing_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """What a signature lacks of ``*args, **kwargs``, in the style of what it has; ``None`` where that is no help."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    demands = len(positional) - 1 > len(arguments.defaults) or None in arguments.kw_defaults
    if not positional or demands or arguments.kwarg is not None or function.decorator_list:
        return None
    taken = {a.arg for a in all_arguments(arguments)} | {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    rest = arguments.vararg
    if rest is not None:
        given = f": {ast.unparse(rest.annotation)}" if rest.annotation is not None else ""
        return f"**{_free('kwargs', taken, rest.arg.startswith('_'))}{given}"
    keywords = f"**{_free('kwargs', taken)}"
    return keywords if arguments.kwonlyargs else f"*{_free('args', taken)}, {keywords}"


def _free(name: str, taken: set[str], private: bool = False) -> str:
    name = f"_{name}" if private else name
    return name if name not in taken else f"extra_{name}"
