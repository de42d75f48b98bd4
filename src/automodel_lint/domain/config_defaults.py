"""Fields that model code reads of its config with another default than the config class gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.constructor import config_parameter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.model_config import annotated_configs, constructed_with
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import Binding, dotted, nodes_on, parts_of, statements_here
from automodel_lint.inference.classes import Member, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, Scope, Value, all_arguments, defaults_of
from automodel_lint.source import remembered

_BASES = ("PretrainedConfig", "PreTrainedConfig")
_READS = (b"getattr(", b"hasattr(")
_UNKNOWN = object()
# What a caller asks of one call, and the model is the same whatever it is.
_OF_A_CALL = frozenset(("use_cache", "output_attentions", "output_hidden_states", "return_dict", "use_return_dict"))


@dataclass(frozen=True, eq=False)
class OtherDefault:
    """``getattr(config, field, default)`` at ``node`` in a method; the ``config`` class says ``own`` instead."""

    view: MethodView
    node: ast.expr
    field: str
    default: object
    config: ClassEntity
    own: object


def other_defaults(model: ModelClass) -> Iterator[OtherDefault]:
    """Yield the reads in a class and in the modules of the checkout below it, where the class of their config is known.

    That is the one that their constructor names; of the class itself also the one that is registered with it, and of a
    module that the class hands its own config, that.
    """
    for cls in dict.fromkeys((model.entity, *model.module_tree.classes)):
        for ancestor in model.classes.mro(cls):
            ours = isinstance(ancestor, ClassEntity) and model.classes.in_checkout(ancestor)
            if ours and _lines_asking(model.project, ancestor):  # type: ignore[arg-type]
                yield from _in_class(model, cls, ancestor)  # type: ignore[arg-type]


@remembered
def _lines_asking(project: Project, cls: ClassEntity) -> frozenset[int]:
    """The lines of a class that ask an object for an attribute by name."""
    path, first, last = cls.module.path, cls.node.lineno, cls.node.end_lineno or cls.node.lineno
    if not any(project.tree.holds(path, word) for word in _READS):
        return frozenset()
    text = project.tree.lines(path)[first - 1 : last]
    return frozenset(n for n, line in enumerate(text, first) if "attr(" in line)


def _in_class(model: ModelClass, cls: ClassEntity, ancestor: ClassEntity) -> Iterator[OtherDefault]:
    members = model.classes.local(ancestor, "__init__")
    init = MethodView(model.classes, cls, members[-1]) if members and members[-1].function is not None else None
    named = annotated_configs(model, init) if init is not None else []
    if len(named) == 1:
        config: ClassEntity | None = named[0]
    else:
        whole = not named and (cls is model.entity or _gets_whole(model, cls))
        config, guessed = constructed_with(model) if whole else (None, True)
        config = None if guessed else config
    if config is not None:
        yield from _reads_against(model.project, cls, ancestor, config)


def _gets_whole(model: ModelClass, cls: ClassEntity) -> bool:
    """Whether a class is built by the constructor of the registered one, from the config that this is given itself."""
    init = model.method("__init__")
    parameter = config_parameter(init.node) if init is not None else None
    if init is None or parameter is None:
        return False
    made = [node.place.node for node in model.module_tree.root.children if node.cls is cls]
    here = {id(node) for node in init.walk()}
    for call in made:
        first = call.args[0] if isinstance(call, ast.Call) and call.args else None
        by_name = next((k.value for k in getattr(call, "keywords", ()) if k.arg == "config"), first)
        if id(call) not in here or dotted(by_name or call) not in (parameter, f"{init.self_name}.config"):
            return False
    return bool(made) and not any(name == parameter for node in init.walk() for name, _ in parts_of(node))


@remembered
def _reads_against(
    project: Project, cls: ClassEntity, ancestor: ClassEntity, config: ClassEntity
) -> tuple[OtherDefault, ...]:
    lines = _lines_asking(project, ancestor)
    found: list[OtherDefault] = []
    for function in project.classes.methods(ancestor):
        if not any(function.lineno <= line <= (function.end_lineno or 0) for line in lines):
            continue
        view = MethodView(project.classes, cls, Member(ancestor, Binding("def", function)))
        for node in nodes_on(function, set(lines), nested=False):
            read = _read(project, view, node)
            if read is None or read[1] in _OF_A_CALL:
                continue
            owner, field, default = read
            own = config_default(project, config, field)
            if own is not _UNKNOWN and _contradicts(default, own) and _is_config(view, owner):
                found.append(OtherDefault(view, node, field, default, config, own))  # type: ignore[arg-type]
    return tuple(found)


def _read(project: Project, view: MethodView, node: ast.AST) -> tuple[ast.expr, str, object] | None:
    """``getattr(config, "x", D)``, ``config.x if hasattr(config, "x") else D``: whose field, which, and the default."""
    if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) == 3:
        owner, name, default = node.args
    elif isinstance(node, ast.IfExp) and isinstance(node.test, ast.Call) and dotted(node.test.func) == "hasattr":
        owner, name, default = *node.test.args, node.orelse
        if dotted(node.body) != f"{dotted(owner)}.{getattr(name, 'value', None)}":
            return None
    else:
        return None
    field, literal = _literal(project, name, view.scope), _literal(project, default, view.scope)
    # ``None``, 0 and an empty text say that there is no such thing where there is no such field
    says_nothing = not literal and literal is not False
    return None if not isinstance(field, str) or literal is _UNKNOWN or says_nothing else (owner, field, literal)


def _literal(project: Project, expr: ast.expr | None, scope: Scope) -> object:
    """A literal, or what a name stands for that is bound to one."""
    if isinstance(expr, ast.Constant):
        return expr.value
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.USub) and isinstance(expr.operand, ast.Constant):
        number = expr.operand.value
        return -number if isinstance(number, (int, float)) else _UNKNOWN
    if not isinstance(expr, (ast.Name, ast.Attribute)):
        return _UNKNOWN
    entities = project.names.resolve(expr, scope)
    known = len(entities) == 1 and isinstance(entities[0], Value) and isinstance(entities[0].expr, ast.Constant)
    return entities[0].expr.value if known else _UNKNOWN  # type: ignore[union-attr]


def _is_config(view: MethodView, owner: ast.expr) -> bool:
    """Whether an expression is the config of the object: the constructor's parameter, or what it is kept as."""
    if dotted(owner) == f"{view.self_name}.config":
        return True
    name = config_parameter(view.node) if view.node.name == "__init__" else None
    if name is None or not isinstance(owner, ast.Name):
        return False
    bound = [(target, value) for s in statements_here(view.node.body) for target, value in parts_of(s)]
    if any(target == name for target, _ in bound):
        return False
    values = [dotted(value) if value is not None else "" for target, value in bound if target == owner.id]
    return owner.id == name or values == [name]


def _contradicts(default: object, own: object) -> bool:
    """Whether two literals say different things."""
    if isinstance(default, bool) or isinstance(own, bool):
        return isinstance(default, bool) and isinstance(own, bool) and default is not own
    if isinstance(default, str):
        return isinstance(own, str) and default != own
    numbers = isinstance(default, (int, float)) and isinstance(own, (int, float))
    return numbers and default != own


@remembered
def config_default(project: Project, config: ClassEntity, field: str) -> object:
    """Return the literal that a config class gives a field by default; a mark of our own if that cannot be told."""
    for ancestor in project.classes.mro(config):
        if not isinstance(ancestor, ClassEntity) or ancestor.name in _BASES:
            return _UNKNOWN
        found = _given(project, ancestor, field)
        if found is not None:
            return _literal(project, *found)
    return _UNKNOWN


@remembered
def defines_field(project: Project, config: ClassEntity, field: str) -> bool:
    """Tell whether the source of a config class or of a base of it gives an instance this field."""
    ancestors = project.classes.mro(config)
    return any(isinstance(a, ClassEntity) and _given(project, a, field) is not None for a in ancestors)


def _given(project: Project, owner: ClassEntity, field: str) -> tuple[ast.expr | None, Scope] | None:
    """What one class of a config's resolution order says of a field: a value, ``None`` for one that cannot be told."""
    body, outside = project.names.body(owner), Scope(owner.module, owner.scope.frames)
    if any(field in ast.unparse(b.node) for b in body.live("attribute_map") if isinstance(b.node, ast.expr)):
        return None, outside
    for member in project.classes.local(owner, "__init__"):
        function = member.function
        if function is None:
            return None, outside
        view = MethodView(project.classes, owner, member)
        kept = [v for s in statements_here(function.body) for t, v in parts_of(s) if t == f"{view.self_name}.{field}"]
        if any(a.arg == field for a in all_arguments(function.args)):
            plain = all(isinstance(value, ast.Name) and value.id == field for value in kept)
            return (defaults_of(function.args).get(field) if plain else None), outside
        handed = [k.value for c in view.calls() if _is_base_call(c) for k in c.keywords if k.arg == field]
        if kept or handed:
            values = [*kept, *handed]
            return (values[0] if len(values) == 1 and isinstance(values[0], ast.Constant) else None), outside
    values = [binding.node for binding in body.live(field)]
    if values:
        return (values[-1] if len(values) == 1 and isinstance(values[-1], ast.expr) else None), outside
    return None


def _is_base_call(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and is_super(call.func.value)
