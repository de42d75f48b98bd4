"""The fields that a config class has, those of the configs inside it too, with the defaults that its source writes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.domain.model_config import is_config_class, literal_model_type
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, parts_of, statements_here
from automodel_lint.inference.construction.interpreter import Interpreter
from automodel_lint.inference.names import ClassEntity, Scope, all_arguments, defaults_of

_BASES = ("PretrainedConfig", "PreTrainedConfig")
# What transformers writes into a config class that is no field of a checkpoint.
_NO_FIELDS = frozenset(
    "sub_configs base_config_key attribute_map keys_to_ignore_at_inference base_model_tp_plan base_model_pp_plan "
    "base_model_ep_plan default_rope_type base_model_fsdp_plan is_composition "
    "ignore_keys_at_rope_validation model_type self kwargs has_no_defaults_at_init default_theta _auto_class".split()
)
_DEEPEST = 3


@dataclass
class ConfigFields:
    """The fields of one config class.

    Attributes:
        own: the names of its own fields.
        nested: the fields of the configs in it, by the field that holds each.
        defaults: the defaults that the source writes as literals, nested as in a ``config.json``. A config inside is
            there, whatever its own default is.
    """

    own: set[str] = field(default_factory=set)
    nested: dict[str, ConfigFields] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)


def config_fields(project: Project, cls: ClassEntity) -> ConfigFields:
    """Return the fields of a config class; those of a base that is not at hand are missing."""
    return _read(project, Interpreter(project.classes, project.torch_names), cls, 0)


def _read(project: Project, run: Interpreter, cls: ClassEntity, depth: int) -> ConfigFields:
    found = ConfigFields()
    for ancestor in reversed(run.mro(cls)):  # a derived class overrides what its bases say
        if isinstance(ancestor, ClassEntity) and ancestor.fqn.rpartition(".")[2] not in _BASES:
            for name, value in _declared(ancestor):
                found.own.add(name)
                found.defaults.pop(name, None)
                _keep(found.defaults, name, value)
            for name, value in _set(ancestor):
                found.own.add(name)
                if found.defaults.get(name) is None:
                    _keep(found.defaults, name, value)
    model_type = literal_model_type(project, cls)
    if model_type:
        found.defaults["model_type"] = model_type
    for name in sorted(found.own):
        inner = _sub_config(project, run, cls, name) if depth < _DEEPEST else None
        if inner is not None and inner is not cls:
            found.nested[name] = _read(project, run, inner, depth + 1)
            found.defaults[name] = found.nested[name].defaults
    return found


def _sub_config(project: Project, run: Interpreter, cls: ClassEntity, name: str) -> ClassEntity | None:
    """The class of the config that a field holds: as transformers has it, else as the constructor annotates it."""
    found, _ = run.hf.sub_config(cls, name)
    if found is not None or not name.endswith(("config", "cfg")):
        return found
    for ancestor in run.mro(cls):
        for function in project.classes.methods(ancestor) if isinstance(ancestor, ClassEntity) else ():
            for argument in all_arguments(function.args) if function.name == "__init__" else ():
                if argument.arg == name:
                    scope = Scope(ancestor.module, ancestor.scope.frames)  # type: ignore[union-attr]
                    named = run.hf.annotated(argument.annotation, scope)
                    return named if named is not None and is_config_class(project, named) else None
    return None


def _declared(cls: ClassEntity) -> list[tuple[str, ast.expr | None]]:
    """The fields that one class of the order declares, each with the expression of its default, if it has one."""
    found: list[tuple[str, ast.expr | None]] = []
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if "ClassVar" not in ast.unparse(statement.annotation):
                found.append((statement.target.id, statement.value))
        elif isinstance(statement, ast.Assign):
            found += parts_of(statement)
        elif isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            defaults, starred = defaults_of(statement.args), statement.args.kwarg
            names = [argument.arg for argument in all_arguments(statement.args)[1:]]
            found += [(name, defaults.get(name)) for name in names if starred is None or name != starred.arg]
    return [(name, value) for name, value in found if _is_field(name)]


def _set(cls: ClassEntity) -> list[tuple[str, ast.expr | None]]:
    """The fields that a constructor, or what runs after it, sets: some only where nothing else was given."""
    found: list[tuple[str, ast.expr | None]] = []
    for statement in cls.node.body:
        is_making = isinstance(statement, ast.FunctionDef) and statement.name in ("__init__", "__post_init__")
        if not is_making or not statement.args.args:  # type: ignore[union-attr]
            continue
        me = f"{statement.args.args[0].arg}."  # type: ignore[union-attr]
        for inner in statements_here(statement.body):  # type: ignore[union-attr]
            for target, value in parts_of(inner):
                if target.startswith(me):
                    found.append((target.removeprefix(me), value))
    return [(name, value) for name, value in found if _is_field(name)]


def _is_field(name: str) -> bool:
    return name not in _NO_FIELDS and not name.startswith("_") and "." not in name


def _keep(defaults: dict[str, Any], name: str, value: ast.expr | None) -> None:
    """Keep a default that is a literal; a call such as ``field(default=3)`` holds one."""
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "field":
        given = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        if not given:
            return
        value = given[0]
    try:
        literal = ast.literal_eval(value) if value is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return
    defaults[name] = list(literal) if isinstance(literal, tuple) else literal
