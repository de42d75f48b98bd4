"""What a registered class owes the shared mixture-of-experts layer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from automodel_lint.domain.constructing import constructing
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import dotted, parts_of
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.module_tree import Built, ModuleNode
from automodel_lint.inference.names import ClassEntity
from automodel_lint.source import remembered

SYNC = "MoEFSDPSyncMixin"
UPDATE = "update_moe_gate_bias"
FACTOR = "gate_bias_update_factor"
PRECISION = "gate_precision"
_EXPERTS = "n_routed_experts"
_SHARED = re.compile(r"(^|\.)components\.moe\.")


def _is_shared(fqn: str, name: str) -> bool:
    """Whether a dotted name is the framework's own ``name``, by whichever module of ``components/moe`` it comes."""
    return fqn.rpartition(".")[2] == name and _SHARED.search(fqn) is not None


def _derives(project: Project, cls: ClassEntity | None, name: str) -> bool:
    return cls is not None and any(_is_shared(ancestor.fqn, name) for ancestor in project.classes.mro(cls))


def expert_layers(model: ModelClass) -> Iterator[ModuleNode]:
    """Yield the modules of a class that may be the shared ``MoE`` layer, or one derived from it."""
    for node in model.module_tree.nodes():
        is_layer = _is_shared(node.type_fqn, "MoE") or _derives(model.project, node.cls, "MoE")
        if is_layer and model.may_surely_hold(node):
            yield node


def expert_configs(model: ModelClass) -> Iterator[Built]:
    """Yield the ``MoEConfig`` objects that making a class can build, but for those that a literal empties."""
    for built in model.module_tree.built:
        if _derives(model.project, built.cls, "MoEConfig") and built.fields.get(_EXPERTS) != 0:
            yield built


# -- the update of the gate's bias ----------------------------------------------------------------------------------


def update_factors(model: ModelClass) -> Iterator[tuple[Built, float]]:
    """Yield the expert configs that surely have the gate's bias updated, each with its literal factor."""
    for built in expert_configs(model):
        factor = built.fields[FACTOR] if FACTOR in built.fields else _default_factor(model, built)
        if isinstance(factor, (int, float)) and factor > 0:
            yield built, factor


def _default_factor(model: ModelClass, built: Built) -> Any:
    """The default of a config class derived from the shared one."""
    members, _ = model.classes.find(built.cls, FACTOR)
    values = [value for member in members for value in model.member_values(member) or ()]
    return values[0] if len(values) == 1 else None


def updates_gate_bias(model: ModelClass) -> bool:
    """Tell whether the training loop finds an ``update_moe_gate_bias`` on a class; unknown code may bring one."""
    members, _ = model.inherited(UPDATE)
    served = [m for m in model.inherited("__getattr__")[0] if model.classes.is_local(m.owner)]
    return bool(members or served) or model.has_opaque_base


# -- the precision of the gate --------------------------------------------------------------------------------------


def leaves_gate_precision(model: ModelClass) -> bool:
    """Tell whether a gate of the class takes its precision from the backend, and nobody on the way sets it."""
    tree = model.module_tree
    if not any(_derives(model.project, cls, "Gate") for cls in tree.classes) or not _follows_backend(model):
        return False
    return not any(_sets_precision(model.project, cls) for cls in dict.fromkeys((model.entity, *tree.classes)))


def _follows_backend(model: ModelClass) -> bool:
    """Whether the shared layer reads the precision off the backend (an old one does not)."""
    layers = {node.cls for node in expert_layers(model) if node.cls is not None}
    return any(_mentions_precision(view) for cls in layers for view in constructing(model.project, cls))


def _mentions_precision(view: MethodView) -> bool:
    return view.classes.tree.holds(view.module.path, PRECISION.encode())


@remembered
def _sets_precision(project: Project, cls: ClassEntity) -> bool:
    views = constructing(project, cls) if project.classes.is_local(cls) else ()
    return any(
        _sets(node, view.self_name)
        for view in views
        if _mentions_precision(view) and not _SHARED.search(f"{view.module.name}.")
        for node in view.walk()
    )


def _sets(node: ast.AST, self_name: str) -> bool:
    """``backend.gate_precision = x``, ``replace(backend, gate_precision=x)``, ``Gate(…, backend.gate_precision)``."""
    if isinstance(node, ast.keyword):
        return node.arg == PRECISION and not _is_none(node.value)
    if isinstance(node, ast.Dict):
        return any(isinstance(k, ast.Constant) and k.value == PRECISION for k in node.keys)
    if isinstance(node, ast.Call):
        named = [a for a in node.args if isinstance(a, ast.Constant) and a.value == PRECISION]
        if named and dotted(node.func).rpartition(".")[2] in ("setattr", "__setattr__"):
            return not _is_none(node.args[-1])
        return any(isinstance(a, ast.Attribute) and a.attr == PRECISION for a in node.args)
    return any(
        name.endswith(f".{PRECISION}") and name != f"{self_name}.{PRECISION}" and not _is_none(value)
        for name, value in parts_of(node)
    )


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
