"""Which architecture name leads to which class, and which ``model_type`` to which configuration."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from typing import Dict, Tuple

import torch.nn as nn

# Architecture -> (module, class[, tags]). Modules are imported on first use, so a long table costs nothing.
MODEL_ARCH_MAPPING = OrderedDict(
    [
        ("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),
        ("SpruceForCausalLM", ("acme_automodel.components.models.spruce.model", "SpruceForCausalLM")),
        (
            "CedarForConditionalGeneration",
            ("acme_automodel.components.models.cedar.model", "CedarForConditionalGeneration"),
        ),
        (
            "WillowBidirectionalModel",
            ("acme_automodel.components.models.willow.model", "WillowBidirectionalModel", {"retrieval"}),
        ),
        (
            "WillowForSequenceClassification",
            ("acme_automodel.components.models.willow.model", "WillowForSequenceClassification", {"retrieval"}),
        ),
        ("LarchForCausalLM", ("acme_automodel.components.models.larch.model", "LarchForCausalLM")),
        ("JuniperForCausalLM", ("acme_automodel.components.models.juniper.model", "JuniperForCausalLM")),
        ("HawthornForCausalLM", ("acme_automodel.components.models.hawthorn.model", "HawthornForCausalLM")),
        ("HornbeamForCausalLM", ("acme_automodel.components.models.hornbeam.model", "HornbeamForCausalLM")),
        (
            "ElmForCausalLM",
            ("acme_automodel.components.models.elm.model", "ElmForCausalLM"),
        ),
        ("MapleForCausalLM", ("acme_automodel.components.models.maple.model", "MapleForCausalLM")),
        (
            "PoplarForConditionalGeneration",
            ("acme_automodel.components.models.poplar.model", "PoplarForConditionalGeneration"),
        ),
        (
            "AspenBidirectionalModel",
            ("acme_automodel.components.models.aspen.model", "AspenBidirectionalModel", {"retrieval"}),
        ),
        (
            "AspenForSequenceClassification",
            ("acme_automodel.components.models.aspen.model", "AspenForSequenceClassification", {"retrieval"}),
        ),
        ("AspenReranker", ("acme_automodel.components.models.aspen.model", "AspenForReranking", {"retrieval"})),
        ("BirchForCausalLM", ("acme_automodel.components.models.birch.model", "BirchForCausalLM")),
        ("YewForCausalLM", ("acme_automodel.components.models.yew.model", "YewForCausalLM")),
        ("AlderForCausalLM", ("acme_automodel.components.models.alder.model", "AlderForCausalLM")),
        ("LindenForCausalLM", ("acme_automodel.components.models.linden.model", "LindenForCausalLM")),
        ("BlackthornForCausalLM", ("acme_automodel.components.models.blackthorn.model", "BlackthornForCausalLM")),
        (
            "BlackthornForSequenceClassification",
            ("acme_automodel.components.models.blackthorn.model", "BlackthornForSequenceClassification"),
        ),
        ("HollyForCausalLM", ("acme_automodel.components.models.holly.model", "HollyForCausalLM")),
        ("SycamoreForCausalLM", ("acme_automodel.components.models.sycamore.model", "SycamoreForCausalLM")),
        ("HazelForCausalLM", ("acme_automodel.components.models.hazel.model", "HazelForCausalLM")),
        ("ElmForCausalLM", ("acme_automodel.components.models.elm.model", "ElmForCausalLM")),
    ]
)

# ``model_type`` of a config.json -> (module, configuration class).
_CUSTOM_CONFIG_REGISTRATIONS: Dict[str, Tuple[str, str]] = {
    "fir": ("acme_automodel.components.models.fir.config", "FirConfig"),
    "spruce": ("acme_automodel.components.models.spruce.config", "SpruceConfig"),
    "cedar": ("acme_automodel.components.models.cedar.config", "CedarConfig"),
    "cedar_text": ("acme_automodel.components.models.cedar.config", "CedarTextConfig"),
    "cedar_vision": ("acme_automodel.components.models.cedar.config", "CedarVisionConfig"),
    "willow": ("acme_automodel.components.models.willow.config", "WillowConfig"),
    "larch": ("acme_automodel.components.models.larch.config", "LarchConfig"),
    "juniper": ("acme_automodel.components.models.juniper.config", "JuniperConfig"),
    "hawthorn": ("acme_automodel.components.models.hawthorn.config", "HawthornConfig"),
    "hornbeam": ("acme_automodel.components.models.hornbeam.config", "HornbeamConfig"),
    "elm": ("acme_automodel.components.models.elm.config", "ElmConfig"),
    "maple": ("acme_automodel.components.models.maple.config", "MapleLegacyConfig"),
    "poplar": ("acme_automodel.components.models.poplar.config", "PoplarConfig"),
    "poplar_text": ("acme_automodel.components.models.poplar.config", "PoplarLanguageConfig"),
    "aspen": ("acme_automodel.components.models.aspen.config", "AspenConfig"),
    "birch": ("acme_automodel.components.models.birch.config", "BirchConfig"),
    "birch_v2": ("acme_automodel.components.models.birch.config", "BirchConfig"),
    "yew": ("acme_automodel.components.models.yew.config", "YewConfig"),
    "alder": ("acme_automodel.components.models.alder.config", "AlderConfig"),
    "linden": ("acme_automodel.components.models.linden.config", "LindenConfig"),
    "blackthorn": ("acme_automodel.components.models.blackthorn.config", "BlackthornConfig"),
    "sycamore": ("acme_automodel.components.models.sycamore.config", "SycamoreConfig"),
    "holly": ("acme_automodel.components.models.holly.config", "HollyConfig"),
}


def resolve_custom_config_cls(model_type: str) -> type | None:
    """Return the configuration class for a ``model_type``, or None where we have none of our own."""
    if model_type not in _CUSTOM_CONFIG_REGISTRATIONS:
        return None
    module_path, class_name = _CUSTOM_CONFIG_REGISTRATIONS[model_type]
    return getattr(importlib.import_module(module_path), class_name)


class _Registry:
    """Architecture names to classes: the table above, and what a plug-in adds while the program runs."""

    def __init__(self, mapping: dict[str, tuple]):
        self._mapping = mapping
        self._added: dict[str, type[nn.Module]] = {}

    def has_custom_model(self, architecture: str) -> bool:
        return architecture in self._added or architecture in self._mapping

    def tags(self, architecture: str) -> set[str]:
        entry = self._mapping.get(architecture, ())
        return set(entry[2]) if len(entry) > 2 else set()

    def get_model_cls_from_model_arch(self, architecture: str) -> type[nn.Module]:
        if architecture in self._added:
            return self._added[architecture]
        if architecture not in self._mapping:
            raise KeyError(f"no model is registered for the architecture {architecture!r}")
        module_path, class_name, *_ = self._mapping[architecture]
        return getattr(importlib.import_module(module_path), class_name)

    def register(self, architecture: str, model_cls: type[nn.Module]) -> None:
        if self.has_custom_model(architecture):
            raise ValueError(f"the architecture {architecture!r} is registered already")
        self._added[architecture] = model_cls


ModelRegistry = _Registry(MODEL_ARCH_MAPPING)


def register_architecture(architecture: str, model_cls: type[nn.Module]) -> None:
    """Add a class under an architecture name; for packages that cannot edit the table."""
    ModelRegistry.register(architecture, model_cls)
