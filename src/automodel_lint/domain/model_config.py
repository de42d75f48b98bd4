"""The config classes of registered classes, and the ``model_type`` they answer to."""

from __future__ import annotations

import ast

from automodel_lint.domain.constructor import config_parameter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, nodes_on
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity, External, Scope, all_arguments

_BASES = ("PretrainedConfig", "PreTrainedConfig")


def config_classes(model: ModelClass) -> list[ClassEntity]:
    """Return the config classes that a registered class takes at its top level, as far as the source says.

    They are its ``config_class``, the annotation of its constructor's config parameter, the one that its own
    ``from_pretrained`` loads, and the one that its module registers it for (``AutoModel.register(Config, Model)``).
    """
    found: list[ClassEntity] = []
    members, opaque = model.inherited("config_class")
    for member in members if not opaque else ():
        if member.value is not None:
            found += _classes(model, member.value, model.member_scope(member))
    init = model.method("__init__")
    if init is not None:
        found += annotated_configs(model, init)
    found += _loaded(model) + _registered_for(model)
    return list(dict.fromkeys(found))


def annotated_configs(model: ModelClass, init: MethodView) -> list[ClassEntity]:
    """Return the config classes that a constructor names as the type of its config parameter."""
    name = config_parameter(init.node)
    arguments = (a for a in all_arguments(init.node.args) if a.arg == name and a.annotation is not None)
    scope = Scope(init.owner.module, init.owner.scope.frames)
    return [c for a in arguments for c in _classes(model, a.annotation, scope)]  # type: ignore[arg-type]


def constructed_with(model: ModelClass) -> tuple[ClassEntity | None, bool]:
    """Return the class of the config that construction gets, and whether that is only a guess.

    As above, else what a library base says in its class body (``config: LlamaConfig``), else what the framework
    registers from the same package. For an architecture that transformers has, its own tables name one; but the
    class is not written for it, and may get another.
    """
    found = config_classes(model)
    if found:
        return found[0], False
    for ancestor in model.mro:
        for statement in ancestor.node.body if isinstance(ancestor, ClassEntity) else ():
            if isinstance(statement, ast.AnnAssign) and dotted(statement.target) == "config":
                found += _classes(model, statement.annotation, ancestor.scope)
    beside = found[0] if found else _registered_beside(model)
    if beside is not None:
        return beside, False
    return model.project.config_of_architecture(model.architectures), True


def names_outside_config(model: ModelClass) -> bool:
    """Tell whether the constructor names a config class whose source is not at hand."""
    init = model.method("__init__")
    name = config_parameter(init.node) if init is not None else None
    for argument in all_arguments(init.node.args) if init is not None and name else ():
        if argument.arg == name and argument.annotation is not None:
            words = (n for n in ast.walk(argument.annotation) if isinstance(n, (ast.Name, ast.Attribute)))
            found = [e for w in words for e in model.names.resolve(w, init.owner.scope)]
            return any(isinstance(e, External) and e.fqn.endswith("Config") for e in found)
    return False


def _registered_beside(model: ModelClass) -> ClassEntity | None:
    """Return the config class that the framework registers from the package of a model class."""
    package = model.entity.module.package
    found: list[ClassEntity] = []
    for entry in model.project.configs:
        if entry.module == package or entry.module.startswith(package + "."):
            found += [e for e in model.project.by_fqn(f"{entry.module}.{entry.cls}") if isinstance(e, ClassEntity)]
    named = [c for c in found if model.name.startswith(c.name.removesuffix("Config"))]
    return max(named, key=lambda c: len(c.name), default=None)


def _loaded(model: ModelClass) -> list[ClassEntity]:
    view = model.method("from_pretrained", local=True)
    calls = view.calls() if view is not None else ()
    loads = [c.func for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "from_pretrained"]
    return [c for func in loads for c in _classes(model, func.value, view.scope)] if view is not None else []


def _registered_for(model: ModelClass) -> list[ClassEntity]:
    module = model.entity.module
    lines = model.project.tree.lines_with(module.path, ".register(")
    scope = Scope(module)
    found: list[ClassEntity] = []
    for node in nodes_on(module.syntax, lines) if lines else ():
        is_call = isinstance(node, ast.Call) and len(node.args) >= 2 and dotted(node.func).endswith(".register")
        if is_call and model.entity in model.names.resolve(node.args[1], scope):
            found += _classes(model, node.args[0], scope)
    return found


def registers_itself(model: ModelClass, config: ClassEntity) -> bool:
    """Tell whether the config's own module hands it to ``AutoConfig.register``: its author knows that nobody else does.

    (That call comes too late for a ``config.json``, which is read before the module is imported.) One that first asks
    whether transformers has the type already proves nothing.
    """
    module = config.module
    lines = model.project.tree.lines_with(module.path, ".register(")
    hedged: list[ast.If] = []
    for node in nodes_on(module.syntax, lines) if lines else ():
        if isinstance(node, ast.If) and "CONFIG_MAPPING" in ast.unparse(node.test):
            hedged.append(node)
        elif _registers(node) and not any(h.lineno <= node.lineno <= (h.end_lineno or 0) for h in hedged):
            assert isinstance(node, ast.Call)
            if config in model.names.resolve(node.args[1], Scope(module)):
                return True
    return False


def _registers(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and len(node.args) >= 2 and dotted(node.func).endswith("AutoConfig.register")


def _classes(model: ModelClass, expr: ast.expr, scope: Scope) -> list[ClassEntity]:
    """Return the config classes that an annotation or expression names: alone, quoted, optional, in a union."""
    if isinstance(expr, ast.Constant):
        if not isinstance(expr.value, str):
            return []
        try:
            expr = ast.parse(expr.value, mode="eval").body
        except SyntaxError:
            return []
    if isinstance(expr, ast.BinOp):
        return _classes(model, expr.left, scope) + _classes(model, expr.right, scope)
    if isinstance(expr, ast.Subscript):
        if dotted(expr.value).rpartition(".")[2] not in ("Optional", "Union"):
            return []
        parts = expr.slice.elts if isinstance(expr.slice, ast.Tuple) else [expr.slice]
        return [c for part in parts for c in _classes(model, part, scope)]
    entities = model.classes.real(model.names.resolve(expr, scope))
    return [e for e in entities if is_config_class(model.project, e)]


def is_config_class(project: Project, entity: ClassEntity) -> bool:
    """Tell whether a class derives from the config base of transformers (or of the checkout)."""
    order = project.classes.mro(entity)[1:]
    return any(a.fqn.rpartition(".")[2].endswith(_BASES) or a.fqn.endswith("Config") for a in order)


def literal_model_type(project: Project, entity: ClassEntity, local: bool = False) -> str | None:
    """Return the ``model_type`` that a config class writes down as a text, in its own body or a checkout base's."""
    if local:
        members = project.classes.local(entity, "model_type")
    else:
        members, opaque = project.classes.find(entity, "model_type")
        members = [] if opaque else members
    for member in members:
        if member.value is not None and project.classes.is_local(member.owner):
            return project.values.text(member.value, Scope(member.owner.module, member.owner.scope.frames))
    return None
