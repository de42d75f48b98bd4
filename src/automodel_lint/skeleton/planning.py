"""From a config and a checkout to the design of a model package."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from automodel_lint.domain.builtin import config_of_model_type
from automodel_lint.domain.project import Project
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.kind import DENSE, MOE, MULTIMODAL
from automodel_lint.onboarding.parts import VISION, Part
from automodel_lint.request import UsageError
from automodel_lint.skeleton.config_class import ConfigClass, add_plain, add_rotary, literal
from automodel_lint.skeleton.design import IMAGE_TOKENS, Design, is_name, prefix_of
from automodel_lint.skeleton.questions import questions_of
from automodel_lint.skeleton.shared import parameters_of, shared_of



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
    base, home, taken = _config_base(project)
    planner = _Configs(project, found, prefix_of(arch), name, base, home, taken)
    text, outer, vision = planner.classes()
    design = Design(
        name=name,
        found=found,
        shared=shared,
        arch=arch,
        text=text,
        outer=outer,
        vision=vision,
        configs=planner.written,
        homes={base: home, **planner.homes},
        project=project,
        transformers=home.partition(".")[0] == "transformers",
    )
    design.unwritten = list(questions_of(found, design.transformers))
    design.remarks = [*planner.remarks, *_remarks(found)]
    return design


def _remarks(found: Classification) -> Iterator[str]:
    yield from found.notes
    if found.draft_layers is not None:
        yield (
            f"{found.draft_layers.path}: the checkpoint has layers that predict further tokens; none are built, and their "
            "weights are left over when it is loaded"
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
    other = sorted(kinds - {DENSE, MOE, MULTIMODAL, "hybrid"})
    if other:
        raise UsageError(f"{found.file.path}: a model of kind {other[0]!r}; `new` writes dense, MoE and multimodal decoders")
    if found.is_(MULTIMODAL):
        media = sorted(set(found.modalities.inputs) - {"image", "video"})
        if media:
            raise UsageError(f"{found.file.path}: takes {media[0]}; `new` writes models that take images and text")
        if found.parts.backbone is found.parts.outer or not found.parts.of(VISION):
            raise UsageError(
                f"{found.file.path}: no nested config of the language model and of the vision tower; `new` needs both"
            )
    for field, value in (("hidden size", found.sizes.hidden), ("number of layers", found.sizes.layers), ("number of heads", found.sizes.heads), ("vocabulary size", found.sizes.vocabulary)):
        if value is None or not value.value:
            raise UsageError(f"{found.file.path}: states no {field}")


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
            f"{project.checkout.root}: no MODEL_ARCH_MAPPING in {project.checkout.package}/_transformers/registry.py to "
            "add an entry to"
        )
    for entry in project.architectures:
        if entry.key == arch:
            raise UsageError(f"{arch} is registered already: {entry.path}:{entry.span.line} ({entry.module}.{entry.cls})")


def _config_base(project: Project) -> tuple[str, str, tuple[str, ...]]:
    """What the checkout's configs are derived from: the name, the module it is imported from, what it takes itself."""
    counted: Counter[tuple[str, str]] = Counter()
    for entry in project.configs:
        for entity in project.by_fqn(f"{entry.module}.{entry.cls}"):
            if isinstance(entity, ClassEntity) and entity.node.bases and isinstance(entity.node.bases[0], ast.Name):
                bound = entity.module.bindings.real(entity.node.bases[0].id)
                if bound and bound[0].kind == "from" and bound[0].name:
                    counted[bound[0].name, bound[0].target] += 1
    if not counted:
        return "PretrainedConfig", "transformers", ()
    name, home = counted.most_common(1)[0][0]
    taken = parameters_of(project, home, name) if home.startswith(f"{project.checkout.package}.") else ()
    return name, home, taken


class _Configs:
    """The config classes of a model: found where somebody has them already, else designed."""

    def __init__(
        self,
        project: Project,
        found: Classification,
        prefix: str,
        name: str,
        base: str,
        home: str,
        taken: tuple[str, ...],
    ):
        self.project, self.found, self.prefix, self.name, self.base, self.taken = project, found, prefix, name, base, taken
        self.from_transformers = home.partition(".")[0] == "transformers"
        self.written: list[ConfigClass] = []
        self.homes: dict[str, str] = {}
        self.remarks: list[str] = []

    def classes(self) -> tuple[Any, Any, Any]:
        """Return the config class of the language model, of the whole, and of the vision tower (``None`` without)."""
        parts = self.found.parts
        if not self.found.is_(MULTIMODAL):
            text = self._known(parts.outer) or self._of_text(parts.outer, "Config", self.name)
            return text, text, None
        known = self._known(parts.outer)
        tower = parts.of(VISION)[0]
        text = self._known(parts.backbone) or self._of_text(parts.backbone, "TextConfig", f"{self.name}_text")
        vision = self._known(tower) or self._of_vision(tower)
        return text, known or self._of_whole(text, vision, tower), vision

    def _known(self, part: Part) -> ClassEntity | None:
        """A class that the checkout registers for the part's ``model_type``, or that transformers has for it."""
        model_type = part.data.get("model_type")
        if not isinstance(model_type, str):
            return None
        for kind, module, cls in self.project.configured:
            if kind == model_type:
                for entity in self.project.by_fqn(f"{module}.{cls}"):
                    if isinstance(entity, ClassEntity):
                        self.homes[cls] = module
                        return entity
        entity = config_of_model_type(self.project.names, model_type) if self.from_transformers else None
        if entity is not None:
            self.homes[entity.name] = "transformers"
        return entity

    def _new(self, part: Part, suffix: str, model_type: str, doc: str) -> ConfigClass:
        said = part.data.get("model_type")
        cls = ConfigClass(f"{self.prefix}{suffix}", self.base, said if isinstance(said, str) and said else model_type, doc)
        self.written.append(cls)
        return cls

    def _of_text(self, part: Part, suffix: str, model_type: str) -> ConfigClass:
        cls = self._new(part, suffix, model_type, "Sizes of the language model." if suffix != "Config" else "Sizes of the model.")
        sizes, data = self.found.sizes, dict(part.data)
        heads = sizes.heads.path.rpartition(".")[2] if sizes.heads else "num_attention_heads"
        hidden = sizes.hidden.path.rpartition(".")[2] if sizes.hidden else "hidden_size"
        kv = sizes.kv_heads.path.rpartition(".")[2] if sizes.kv_heads else "num_key_value_heads"
        late = {kv: data.pop(kv, None), "head_dim": data.pop("head_dim", None)}
        add_plain(cls, data, self.taken)
        for name, given in (("hidden_act", "silu"), ("initializer_range", 0.02)):
            if name not in cls.fields and not (name == "hidden_act" and any("act" in n.split("_") or "activation" in n for n in cls.fields)):
                add_plain(cls, {name: given}, self.taken)
        if not any("eps" in name.split("_") or "epsilon" in name for name in cls.fields):
            add_plain(cls, {"rms_norm_eps": 1e-6}, self.taken)
        cls.add(kv, "int | None", literal(late[kv]), f"{heads} if {kv} is None else {kv}")
        cls.add("head_dim", "int | None", literal(late["head_dim"]), f"{hidden} // {heads} if head_dim is None else head_dim")
        add_rotary(cls, part.data)
        if part is self.found.parts.outer:
            cls.hand_on("tie_word_embeddings", "bool", literal(bool(self.found.tie.value)))
        return cls

    def _of_vision(self, part: Part) -> ConfigClass:
        cls = self._new(part, "VisionConfig", f"{self.name}_vision", "Sizes of the vision tower.")
        add_plain(cls, part.data, self.taken)
        return cls

    def _of_whole(self, text: Any, vision: Any, tower: Part) -> ConfigClass:
        cls = self._new(self.found.parts.outer, "Config", self.name, "The config of the whole model; its tie_word_embeddings is the one that counts.")
        outer = self.found.parts.outer
        for part, inner in ((self.found.parts.backbone, text), (tower, vision)):
            cls.nest(part.path, inner.name)
        rest = {k: v for k, v in outer.data.items() if k not in (self.found.parts.backbone.path, tower.path)}
        if not any(name in rest for name in IMAGE_TOKENS):
            rest["image_token_id"] = 0
            self.remarks.append("config.json names no image token: image_token_id is 0 until you write it")
        add_plain(cls, rest, self.taken)
        cls.hand_on("tie_word_embeddings", "bool", literal(bool(self.found.tie.value)))
        return cls
