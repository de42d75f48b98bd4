"""NAM920: the linter's own module tree against the names of a model that was really constructed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from automodel_lint.inference.module_tree import BUFFER, PARAMETER, ModuleTree, matches
from automodel_lint.probe.names import brief
from automodel_lint.probe.protocol import FINDING, NOT_PROBED, ClassResult, Fault
from automodel_lint.probe.targets import Probed

CODE = "NAM920"


@dataclass
class Difference:
    """How a tree differs from real models.

    *missed*: a real name that no pattern of the tree matches. *flags*: a real name that patterns match, but none with
    the same kind and persistence. *phantom*: a pattern that the tree has unconditionally and that matches no real name
    (a conditional one may belong to a side that the tiny configurations do not take).
    """

    missed: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)


def difference(tree: ModuleTree, models: list[dict[str, Any]]) -> Difference:
    """Compare a tree with models as :func:`automodel_lint.probe.worker.naming.described` gives them, all together."""
    kinds: dict[str, set[tuple[str, bool]]] = {}
    for model in models:
        for name in model["parameters"]:
            kinds.setdefault(name, set()).add((PARAMETER, True))
        for name, buffer in model["buffers"].items():
            kinds.setdefault(name, set()).add((BUFFER, buffer["persistent"]))
    found = {name: tree.find(name) for name in kinds}
    flags = [
        f"{name}: {_flag(kinds[name])}, in the tree {_flag(in_tree)}"
        for name, tensors in found.items()
        if tensors and not kinds[name] <= (in_tree := {(t.kind, t.kind == PARAMETER or t.persistent) for t in tensors})
    ]
    unconditional = [fqn for fqn in tree.by_fqn if not tree.is_conditional(fqn)]
    return Difference(
        missed=[name for name, tensors in found.items() if not tensors],
        flags=flags,
        phantom=[fqn for fqn in unconditional if not any(matches(fqn, name) for name in kinds)],
    )


def _flag(kinds: set[tuple[str, bool]]) -> str:
    return " or ".join(sorted(kind if persistent else f"non-persistent {kind}" for kind, persistent in kinds))


def judge(probed: Probed, result: ClassResult) -> None:
    """Turn what the worker said of a class's names into the verdict of NAM920."""
    models = result.facts.pop("names", None)
    check = result.checks.get(CODE)
    if check is None or models is None:
        return
    if probed.model is None:
        check.status, check.reason = NOT_PROBED, "the source does not lead to the class"
        return
    tree = probed.model.module_tree
    found = difference(tree, models)
    opaque = [node.fqn for node in tree.opaque]
    missed = [n for n in found.missed if not any(not o or _is_below(o, n) for o in opaque)]
    for what, these in (("lacks", missed), ("has the wrong kind of", found.flags), ("invents", found.phantom)):
        if these:
            check.faults.append(Fault({"what": what, "names": brief(these, most=3)}))
    unknown = len(found.missed) - len(missed)
    names = {name for model in models for name in (*model["parameters"], *model["buffers"])}
    check.figure = f"{len(names)} names in {len(models)} variant{'s' if len(models) > 1 else ''}"
    check.figure += f", {unknown} below what the tree could not follow" if unknown else ""
    check.status = FINDING if check.faults else check.status


def _is_below(fqn: str, name: str) -> bool:
    """Tell whether a name lies below an opaque node."""
    parts = name.split(".")
    depth = fqn.count(".") + 1
    return len(parts) > depth and matches(fqn, ".".join(parts[:depth]))
