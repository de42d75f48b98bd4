"""What a registered class can construct, as its module tree shows it: components and towers, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from automodel_lint.domain.experts import expert_configs, expert_layers
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.module_tree import ModuleNode, Place, Tensor
from automodel_lint.onboarding.component import ATTENTION, EXPERTS, NORM

TOWER = "tower"
ANY_ROUTER = "router by the config"  # how experts are scored is read off the config
Key = tuple[str, str]

_LATENT = "kv_lora_rank"  # the field that the matrices of multi-head latent attention are sized by
_SCORE = "score_func"  # of the framework's MoEConfig
_STATES = ("A_log", "dt_bias")
_SINKS = ("sinks", "attention_sink_bias")
_LINEAR = re.compile(r"linear_?att|delta|kda", re.IGNORECASE)
_TOWERS = {
    "image": re.compile(r"visual|vision|\bvit\b|vit_|moonvi|radio|siglip", re.IGNORECASE),
    "audio": re.compile(r"audio|sound|speech", re.IGNORECASE),
}
_LANGUAGE = ("embed_tokens", "language_model", "lm_head")  # what is in no tower, whatever the model is called
_NO_TOWER = re.compile(r"proj|merger|adapter|connector|embed|norm|token", re.IGNORECASE)
_NAMED = (
    (re.compile(r"(q|k|query|key)_?(layer)?norm"), (ATTENTION, "QK norm")),
    (re.compile(r".*indexer.*"), (ATTENTION, "sparse")),
    (re.compile(r"shared?_experts?(_.*)?|shared_mlp"), (EXPERTS, "shared")),
    (re.compile(r"experts"), (EXPERTS, "routed")),
)


def built_components(model: ModelClass) -> dict[Key, Place]:
    """Return what constructing a class can make, by group and name, with the place where each is written.

    Towers for other media stand under the group ``tower``, by the medium.
    """
    found: dict[Key, Place] = {}
    media = towers(model)
    for layer in expert_layers(model):
        found.setdefault((EXPERTS, "routed"), layer.place)
    for key, node in media:
        found.setdefault(key, node.place)
    for built in expert_configs(model):
        score = built.fields.get(_SCORE)
        if score is not None:
            name = f"{score} router" if isinstance(score, str) else ANY_ROUTER
            found.setdefault((EXPERTS, name), built.place)
    _walk(model.module_tree.root, "", {id(node) for _, node in media}, found)
    return found


def towers(model: ModelClass) -> list[tuple[Key, ModuleNode]]:
    """Return the towers that constructing a class can make, each with its key."""
    return list(_towers(model.module_tree.root, 0))


def _walk(node: ModuleNode, above: str, left_out: set[int], found: dict[Key, Place]) -> None:
    """Collect what a module and those below it are; ``above`` names the modules on the way to it."""
    if id(node) in left_out:
        return
    for key in _of_node(node):
        found.setdefault(key, node.place)
    within = f"{above} {node.name} {node.type_name}"
    for tensor in node.tensors:
        for key in _of_tensor(tensor, within):
            found.setdefault(key, tensor.place)
    for child in node.children:
        _walk(child, within, left_out, found)


def _towers(node: ModuleNode, depth: int) -> Iterator[tuple[Key, ModuleNode]]:
    """The highest modules that are named for images or sound, but for what only joins them to the language model."""
    for child in node.children:
        words = f"{child.name} {child.type_name}"
        media = [medium for medium, pattern in _TOWERS.items() if pattern.search(child.name)]
        media = media or [medium for medium, pattern in _TOWERS.items() if pattern.search(child.type_name)]
        inside = any(node.name in _LANGUAGE for node in child.walk())
        if (
            media
            and not inside
            and not _NO_TOWER.search(child.name)
            and (child.children or child.opaque or child.tensors)
        ):
            yield (TOWER, media[0]), child
        elif depth < 3 and "*" not in words:
            yield from _towers(child, depth + 1)


def _of_node(node: ModuleNode) -> Iterator[Key]:
    for pattern, key in _NAMED:
        if pattern.fullmatch(node.name):
            yield key
    if "RMSNorm" in node.type_name:
        yield NORM, "RMSNorm"
    elif "LayerNorm" in node.type_name:
        yield NORM, "LayerNorm"


def _of_tensor(tensor: Tensor, within: str) -> Iterator[Key]:
    if tensor.shape is not None and _LATENT in tensor.shape:
        yield ATTENTION, "MLA"
    if tensor.name in _STATES:
        yield ATTENTION, "linear attention" if _LINEAR.search(within) else "state space"
    if tensor.name in _SINKS:
        yield ATTENTION, "sinks"
    if "correction_bias" in tensor.name:
        yield EXPERTS, "correction bias"
    yield from (key for pattern, key in _NAMED if pattern.fullmatch(tensor.name))
