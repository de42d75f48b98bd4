"""What a new model is called in a checkout: its package, its class, its pages."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass

from automodel_lint.domain.project import FRAMEWORK
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.kind import DIFFUSION, ENCODER, MULTIMODAL, OMNI

MODELS = "components/models"


@dataclass(frozen=True)
class Names:
    """Names and places, relative to the root of the checkout with forward slashes.

    Attributes:
        package: the name of the model package.
        folder: its folder.
        module: the dotted name of its package.
        cls: the class to be registered; ``None`` if the config names no architecture that can be one.
        tests: the folder of its tests.
        docs: the folder of the page that lists it.
        recipes: the folder of its example recipe.
        target: what the recipe loads it with.
    """

    package: str
    folder: str
    module: str
    cls: str | None
    tests: str
    docs: str
    recipes: str
    target: str


def names_for(found: Classification, package: str = FRAMEWORK, source: str = "") -> Names:
    """Return what a model is to be called; ``package`` is the checkout's, ``source`` the folder that holds it."""
    name = _package_name(found)
    prefix = f"{source}/" if source else ""
    docs, recipes, target = _shelf(found)
    architecture = found.architecture
    usable = architecture is not None and architecture.isidentifier() and not keyword.iskeyword(architecture)
    return Names(
        package=name,
        folder=f"{prefix}{package}/{MODELS}/{name}",
        module=f"{package}.{MODELS.replace('/', '.')}.{name}",
        cls=architecture if usable else None,
        tests=f"tests/unit_tests/models/{name}",
        docs=f"docs/model-coverage/{docs}",
        recipes=f"examples/{recipes}" if recipes in ("retrieval", "dllm_sft") else f"examples/{recipes}/{name}",
        target=f"{package}.{target}",
    )


def _package_name(found: Classification) -> str:
    """A name for a folder that Python can import, after the ``model_type``, else the architecture."""
    text = found.model_type or re.sub(r"(For[A-Z]\w*|Model|LMHeadModel)$", "", found.architecture or "")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    name = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").lower()
    if not name:
        return "new_model"
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"model_{name}"


def _shelf(found: Classification) -> tuple[str, str, str]:
    """The section of the model coverage pages, the folder of examples, and the class that loads such a model."""
    if found.is_(DIFFUSION):
        return "dllm", "dllm_sft", "NeMoAutoModelForCausalLM.from_pretrained"
    if found.is_(ENCODER):
        return "embedding", "retrieval", "NeMoAutoModelBiEncoder.from_pretrained"
    if found.is_(OMNI):
        return "omni", "vlm_finetune", "NeMoAutoModelForMultimodalLM.from_pretrained"
    if found.is_(MULTIMODAL) and "image" in found.modalities.outputs:
        return "multimodal", "multimodal_finetune", "NeMoAutoModelForMultimodalLM.from_pretrained"
    if found.is_(MULTIMODAL):
        return "vlm", "vlm_finetune", "NeMoAutoModelForImageTextToText.from_pretrained"
    return "llm", "llm_finetune", "NeMoAutoModelForCausalLM.from_pretrained"
