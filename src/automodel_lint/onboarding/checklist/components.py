"""What a model is made of, told from its module tree: experts and routers, projectors, language models."""

from __future__ import annotations

import re
from collections.abc import Iterator

from automodel_lint.domain.experts import expert_layers
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.module_tree import ModuleNode, Tensor
from automodel_lint.onboarding.built import towers

EXPERTS = re.compile(r"(?:^|\.)(?:local_|routed_)?experts?(?:\.|$)")
SHARED = re.compile(r"(?:^|\.)shared_(?:experts?|mlp|expert_gate)(?:\.|$)")
_ROUTER = re.compile(r"(?:^|\.)(?:gate|router|wg)(?:\.|$)")
_BIAS = re.compile(r"bias")
_PROJECTOR = re.compile(r"project|merger|connector|adapt[eo]r|aligner|mm_|multi_modal|mlp1|embed_(vision|audio)", re.I)
_LANGUAGE = ("language_model", "text_model", "llm", "thinker", "llm_backbone")


def expert_blocks(model: ModelClass) -> list[str]:
    """Return the names of the modules that hold a router and its experts, as patterns, each once."""
    found = {node.fqn: None for node in expert_layers(model)}
    for tensor in model.module_tree.tensors:
        match = EXPERTS.search(tensor.fqn)
        if match is not None and model.may_surely_hold(tensor):
            found.setdefault(tensor.fqn[: match.start()], None)
    return [fqn for fqn in found if not any(fqn != other and fqn.startswith(f"{other}.") for other in found)]


def parts_of_block(model: ModelClass, block: str) -> dict[str, list[Tensor]]:
    """Return the tensors of such a module by what they are: router, router bias, routed experts, shared experts."""
    parts: dict[str, list[Tensor]] = {}
    for tensor in model.module_tree.tensors:
        if tensor.fqn.startswith(f"{block}.") and tensor.persistent:
            parts.setdefault(_role(tensor.fqn[len(block) :]), []).append(tensor)
    return {role: tensors for role, tensors in parts.items() if role}


def _role(below: str) -> str:
    if SHARED.search(below):
        return "shared experts"
    if EXPERTS.search(below):
        return "routed experts"
    if _ROUTER.search(below):
        return "router bias" if _BIAS.search(below) else "router"
    return "router bias" if below.endswith("e_score_correction_bias") else ""


def projectors(model: ModelClass) -> list[ModuleNode]:
    """Return the modules beside towers and language models that bring the one into the other."""
    parts = {node.fqn for node in (*(tower for _, tower in towers(model)), *language_models(model))}
    found = _outermost(model.module_tree.root, _PROJECTOR)
    return [node for node in found if not any(node.fqn.startswith(f"{part}.") for part in parts)]


def language_models(model: ModelClass) -> list[ModuleNode]:
    """Return the outermost modules that are named as language models."""
    pattern = re.compile("|".join(rf"^{name}$" for name in _LANGUAGE))
    return _outermost(model.module_tree.root, pattern)


def _outermost(node: ModuleNode, pattern: re.Pattern[str]) -> list[ModuleNode]:
    found: dict[str, ModuleNode] = {}
    for inner in _first(node, pattern):
        found.setdefault(inner.fqn, inner)
    return list(found.values())


def _first(node: ModuleNode, pattern: re.Pattern[str]) -> Iterator[ModuleNode]:
    for child in node.children:
        if pattern.search(child.name):
            yield child
        elif "*" not in child.name:  # layers have none of their own
            yield from _first(child, pattern)
