"""NAM911: what the framework answers about a class's parallelism against what its source declares."""

from __future__ import annotations

import ast

from automodel_lint.domain.capabilities import NESTED, fields
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.names import ClassEntity
from automodel_lint.probe.protocol import FINDING, ClassResult, Fault
from automodel_lint.probe.targets import Probed

CODE = "NAM911"


def judge(probed: Probed, result: ClassResult) -> None:
    """Add to NAM911 where the answer and the source disagree."""
    answer = result.facts.pop("capabilities", None)
    check = result.checks.get(CODE)
    if check is None or answer is None or check.faults or probed.model is None:
        return
    declared = literal_flags(probed.model)
    wrong = sorted(name for name, value in declared.items() if answer.get(name, value) != value)
    if wrong:
        says = ", ".join(f"{name}={answer[name]}" for name in wrong)
        meant = ", ".join(f"{name}={declared[name]}" for name in wrong)
        check.faults.append(Fault({"answer": f"says {says}", "declared": f"{meant} in the source"}))
        check.status = FINDING


def literal_flags(model: ModelClass) -> dict[str, bool]:
    """Return the flags of the nested capabilities class that the source writes as ``True`` or ``False``."""
    flags: dict[str, bool] = {}
    for member in model.local(NESTED):
        if member.binding.kind != "class" or not isinstance(member.binding.node, ast.ClassDef):
            continue
        scope = model.member_scope(member)
        entity: ClassEntity = model.names.class_entity(member.binding.node, scope, f"{model.name}.")
        for name, field in fields(model.project, entity).items():
            value = field.statement.value
            if isinstance(value, ast.Constant) and isinstance(value.value, bool):
                flags[name] = value.value
    return flags
