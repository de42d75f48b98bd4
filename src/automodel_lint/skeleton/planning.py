"""From a config and a checkout to the design of a model package."""

from __future__ import annotations

import os
from collections.abc import Iterator

from automodel_lint.domain.project import Project
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.kind import DENSE, HYBRID, MOE, MULTIMODAL
from automodel_lint.onboarding.parts import VISION
from automodel_lint.request import UsageError
from automodel_lint.skeleton.configs import Configs, config_base
from automodel_lint.skeleton.design import Design
from automodel_lint.skeleton.naming import is_name, prefix_of
from automodel_lint.skeleton.questions import questions_of
from automodel_lint.skeleton.shared import shared_of


def design_of(name: str, found: Classification, project: Project) -> Design:
    """Return the design of a package ``name``.

    Raises:
        UsageError: if there can be none: a name that is none or is taken, a kind of model without a template, a config
            without the sizes that everything follows from.
    """
    _check_name(name, project)
    _check_kind(found)
    arch = _architecture(name, found)
    _check_architecture(arch, project)
    shared = shared_of(project, found.experts is not None)
    base = config_base(project)
    configs = Configs(project, found, prefix_of(arch), name, base)
    text, outer, vision = configs.classes()
    design = Design(
        name=name,
        found=found,
        shared=shared,
        arch=arch,
        text=text,
        outer=outer,
        vision=vision,
        configs=configs.written,
        homes={base.name: base.module, **configs.homes},
        project=project,
        transformers=base.is_of_transformers,
    )
    design.unwritten = questions_of(found, design.transformers)
    design.remarks = [*configs.remarks, *_remarks(found)]
    return design


def _remarks(found: Classification) -> Iterator[str]:
    yield from found.notes
    if found.draft_layers is not None:
        yield (
            f"{found.draft_layers.path}: the checkpoint has layers that predict further tokens; none are built, and "
            "their weights are left over when it is loaded"
        )
    if found.tie.contradicts:
        yield "tie_word_embeddings stands twice in the config, with different values; the outer one counts"
    if found.tie.value is None:
        yield "the config does not say tie_word_embeddings: it is taken for false"


def _check_name(name: str, project: Project) -> None:
    if not is_name(name) or name != name.lower():
        raise UsageError(f"{name!r} is no name for a package: lower-case letters, digits and _, not a digit first")
    folder = os.path.join(project.checkout.models_dir, name)
    if os.path.exists(folder) or os.path.exists(f"{folder}.py"):
        raise UsageError(f"{folder}: exists already; `new` changes no package")
    if name == "common":
        raise UsageError("'common' is the folder of what models share")


def _check_kind(found: Classification) -> None:
    kinds = {kind.name for kind in found.kinds}
    other = sorted(kinds - {DENSE, HYBRID, MOE, MULTIMODAL})
    if other:
        raise UsageError(
            f"{found.file.path}: a model of kind {other[0]!r}; `new` writes dense, MoE and multimodal decoders"
        )
    if found.is_(MULTIMODAL):
        media = sorted(set(found.modalities.inputs) - {"image", "video"})
        if media:
            raise UsageError(f"{found.file.path}: takes {media[0]}; `new` writes models that take images and text")
        if found.parts.backbone is found.parts.outer or not found.parts.of(VISION):
            raise UsageError(
                f"{found.file.path}: no nested config of the language model and of the vision tower; `new` needs both"
            )
    for field, value in (
        ("hidden size", found.sizes.hidden),
        ("number of layers", found.sizes.layers),
        ("number of heads", found.sizes.heads),
        ("vocabulary size", found.sizes.vocabulary),
    ):
        if value is None or not value.value:
            raise UsageError(f"{found.file.path}: states no {field}")
    for value in vars(found.sizes).values():
        name = value.path.rpartition(".")[2] if value is not None else ""
        if isinstance(found.parts.backbone.data.get(name), list):
            found.file.refuse(value.path, "differs by layer; `new` writes layers of one size")


def _architecture(name: str, found: Classification) -> str:
    if found.architecture is None:
        suffix = "ForConditionalGeneration" if found.is_(MULTIMODAL) else "ForCausalLM"
        return "".join(part.capitalize() for part in name.split("_")) + suffix
    if not is_name(found.architecture):
        raise UsageError(f"{found.file.path}: the architecture {found.architecture!r} is no name of a class")
    return found.architecture


def _check_architecture(arch: str, project: Project) -> None:
    if not project.has_static_mapping:
        raise UsageError(
            f"{project.checkout.root}: no MODEL_ARCH_MAPPING in {project.checkout.package}/_transformers/registry.py "
            "to add an entry to"
        )
    for entry in project.architectures:
        if entry.key == arch:
            raise UsageError(
                f"{arch} is registered already: {entry.path}:{entry.span.line} ({entry.module}.{entry.cls})"
            )
