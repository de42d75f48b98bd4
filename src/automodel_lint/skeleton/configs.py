"""Which config classes a model has: those that are there already, and those to be written."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from typing import Any

from automodel_lint.domain.builtin import config_of_model_type
from automodel_lint.domain.project import Project
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.kind import MULTIMODAL
from automodel_lint.onboarding.parts import VISION, Part
from automodel_lint.skeleton.config_class import ConfigClass, add_plain, add_rotary, literal
from automodel_lint.skeleton.naming import IMAGE_TOKENS
from automodel_lint.skeleton.shared import parameters_of


@dataclass(frozen=True)
class Base:
    """What config classes are derived from: its name, the module it is imported from, and what it keeps itself."""

    name: str
    module: str
    keeps: tuple[str, ...]

    @property
    def is_of_transformers(self) -> bool:
        """Whether the configs of the checkout are those of transformers."""
        return self.module.partition(".")[0] == "transformers"


def config_base(project: Project) -> Base:
    """Return the base of most config classes that the checkout registers; that of transformers where it has none."""
    counted: Counter[tuple[str, str]] = Counter()
    for entry in project.configs:
        for entity in project.by_fqn(f"{entry.module}.{entry.cls}"):
            if isinstance(entity, ClassEntity) and entity.node.bases and isinstance(entity.node.bases[0], ast.Name):
                bound = entity.module.bindings.real(entity.node.bases[0].id)
                if bound and bound[0].kind == "from" and bound[0].name:
                    counted[bound[0].name, bound[0].target] += 1
    if not counted:
        return Base("PretrainedConfig", "transformers", ())
    name, home = counted.most_common(1)[0][0]
    taken = parameters_of(project, home, name) if home.startswith(f"{project.checkout.package}.") else ()
    return Base(name, home, taken)


class Configs:
    """The config classes of a model: found where somebody has them already, else designed.

    Attributes:
        written: the classes that are to be written.
        homes: the module of each of the others.
        remarks: what the author should know.
    """

    def __init__(self, project: Project, found: Classification, prefix: str, name: str, base: Base):
        self.project, self.found, self.prefix, self.name, self.base = project, found, prefix, name, base
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
        entity = config_of_model_type(self.project.names, model_type) if self.base.is_of_transformers else None
        if entity is not None:
            self.homes[entity.name] = "transformers"
        return entity

    def _new(self, part: Part, suffix: str, model_type: str, doc: str) -> ConfigClass:
        said = part.data.get("model_type")
        stated = said if isinstance(said, str) and said else model_type
        self.written.append(ConfigClass(f"{self.prefix}{suffix}", self.base.name, stated, doc))
        return self.written[-1]

    def _of_text(self, part: Part, suffix: str, model_type: str) -> ConfigClass:
        doc = "Sizes of the model." if part is self.found.parts.outer else "Sizes of the language model."
        cls = self._new(part, suffix, model_type, doc)
        sizes, data = self.found.sizes, dict(part.data)
        heads = sizes.heads.path.rpartition(".")[2] if sizes.heads else "num_attention_heads"
        hidden = sizes.hidden.path.rpartition(".")[2] if sizes.hidden else "hidden_size"
        kv = sizes.kv_heads.path.rpartition(".")[2] if sizes.kv_heads else "num_key_value_heads"
        late = {kv: data.pop(kv, None), "head_dim": data.pop("head_dim", None)}
        add_plain(cls, data, self.base.keeps)
        words = {word for name in cls.fields for word in name.split("_")}
        absent = {"initializer_range": 0.02} if "initializer_range" not in cls.fields else {}
        absent |= {} if words & {"act", "activation"} else {"hidden_act": "silu"}
        absent |= {} if words & {"eps", "epsilon"} else {"rms_norm_eps": 1e-6}
        add_plain(cls, absent, self.base.keeps)
        cls.add(kv, "int | None", literal(late[kv]), f"{heads} if {kv} is None else {kv}")
        whole = f"{hidden} // {heads} if head_dim is None else head_dim"
        cls.add("head_dim", "int | None", literal(late["head_dim"]), whole)
        add_rotary(cls, part.data)
        if part is self.found.parts.outer:
            cls.hand_on("tie_word_embeddings", "bool", literal(bool(self.found.tie.value)))
        return cls

    def _of_vision(self, part: Part) -> ConfigClass:
        cls = self._new(part, "VisionConfig", f"{self.name}_vision", "Sizes of the vision tower.")
        add_plain(cls, part.data, self.base.keeps)
        return cls

    def _of_whole(self, text: Any, vision: Any, tower: Part) -> ConfigClass:
        doc = "The config of the whole model; its tie_word_embeddings is the one that counts."
        cls = self._new(self.found.parts.outer, "Config", self.name, doc)
        outer = self.found.parts.outer
        for part, inner in ((self.found.parts.backbone, text), (tower, vision)):
            cls.nest(part.path, inner.name)
        rest = {k: v for k, v in outer.data.items() if k not in (self.found.parts.backbone.path, tower.path)}
        if not any(name in rest for name in IMAGE_TOKENS):
            rest["image_token_id"] = 0
            self.remarks.append("config.json names no image token: image_token_id is 0 until you write it")
        add_plain(cls, rest, self.base.keeps)
        cls.hand_on("tie_word_embeddings", "bool", literal(bool(self.found.tie.value)))
        return cls
