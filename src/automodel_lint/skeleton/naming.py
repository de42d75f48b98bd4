"""What the classes, files and fields of a model to be written are called."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from automodel_lint.domain.config_defaults import defines_field
from automodel_lint.inference.names import ClassEntity
from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.component import MLP, NORM, Component
from automodel_lint.onboarding.parts import VISION
from automodel_lint.skeleton.config_class import ConfigClass
from automodel_lint.skeleton.questions import Question
from automodel_lint.skeleton.shared import Shared

IMAGE_TOKENS = (
    "image_token_id",
    "image_token_index",
    "img_context_token_id",
    "image_pad_token_id",
    "media_placeholder_token_id",
)
_SUFFIX = re.compile(r"(For[A-Z]\w*|LMHeadModel|Model)$")


@dataclass
class Naming:
    """A model to be written, with all that its parts are called.

    Attributes:
        name: of the package.
        found: what the config says.
        shared: what the checkout offers.
        text, outer: the config classes of the language model and of the whole; the same for a text model.
        vision: that of the images, if there is one.
        configs: the config classes that are to be written.
        homes: the module of each config class and base that is not written.
        unwritten: what is refused.
        transformers: whether the checkout's configs are those of transformers.
        remarks: what the author should know, in sentences.
    """

    name: str
    found: Classification
    shared: Shared
    arch: str
    text: ConfigClass | ClassEntity
    outer: ConfigClass | ClassEntity
    vision: ConfigClass | ClassEntity | None
    configs: list[ConfigClass]
    homes: dict[str, str]
    project: Any
    transformers: bool
    unwritten: list[Question] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    # -- names --------------------------------------------------------------------------------------------------------

    @property
    def prefix(self) -> str:
        """What the names of all classes begin with."""
        return prefix_of(self.arch)

    @property
    def config(self) -> str:
        """The config class of the whole model."""
        return self.outer.name

    @property
    def text_config(self) -> str:
        """The config class of the language model."""
        return self.text.name

    @property
    def vision_config(self) -> str:
        """The config class of the vision tower."""
        assert self.vision is not None
        return self.vision.name

    @property
    def multimodal(self) -> bool:
        """Whether the language model is a part of the model."""
        return self.vision is not None

    @property
    def moe(self) -> bool:
        """Whether layers have experts."""
        return self.found.experts is not None

    @property
    def backbone(self) -> str:
        """The class of embedding, layers and norm."""
        return f"{self.prefix}TextModel" if self.multimodal else self.inner

    @property
    def inner(self) -> str:
        """The class below the one that is registered."""
        return self._unlike_registered(f"{self.prefix}Model")

    def _unlike_registered(self, name: str) -> str:
        return name if name != self.arch else f"{name}Base"

    @property
    def decoder(self) -> str:
        """The language model, as a path from the registered class."""
        return "model.language_model" if self.multimodal else "model"

    @property
    def embedding(self) -> str:
        """The input embedding, as a path from the registered class."""
        return f"{self.decoder}.embed_tokens"

    @property
    def layers(self) -> str:
        """The layers, as a path from the registered class."""
        return f"{self.decoder}.layers"

    @property
    def text_key(self) -> str:
        """What the language model's config is called in that of a multimodal model."""
        return self.found.parts.backbone.path

    @property
    def vision_key(self) -> str:
        """What the vision tower's config is called there."""
        return self.found.parts.of(VISION)[0].path

    @property
    def vision_width(self) -> str:
        """The width of the vision tower, as far as it is stated."""
        width = self.found.parts.of(VISION)[0].get("hidden_size", "embed_dim", "width", "dim")
        return str(width.value) if width is not None else "D"

    @property
    def text_width(self) -> str:
        """The width of the language model."""
        return str(self.found.sizes.hidden.value) if self.found.sizes.hidden is not None else "H"

    @property
    def vision_builtin(self) -> bool:
        """Whether transformers can build the vision tower."""
        return self.transformers and isinstance(self.vision, ClassEntity)

    @property
    def vision_tower(self) -> bool:
        """Whether a model of transformers is among the modules."""
        return self.multimodal and self.vision_builtin

    @property
    def image_token(self) -> str:
        """What the id of the placeholder for image states is called."""
        names = [name for name in IMAGE_TOKENS if self.states(name, self.outer)]
        stated = [name for name in names if name in self.found.parts.outer.data]
        return (stated or names or ["image_token_id"])[0]

    @property
    def bases(self) -> str:
        """The bases of the registered class, the one that saves first."""
        shared = self.shared
        return ", ".join([shared.mixin.name, *([shared.moe_sync.name] if self.moe else []), "nn.Module"])

    # -- fields -------------------------------------------------------------------------------------------------------

    @cached_property
    def f(self) -> SimpleNamespace:
        """What the fields of the config are called."""
        sizes, experts = self.found.sizes, self.found.experts
        kv = last(sizes.kv_heads, "num_key_value_heads")
        return SimpleNamespace(
            hidden=last(sizes.hidden, "hidden_size"),
            layers=last(sizes.layers, "num_hidden_layers"),
            heads=last(sizes.heads, "num_attention_heads"),
            kv_heads=kv,
            inner=last(sizes.intermediate, "intermediate_size"),
            vocab=last(sizes.vocabulary, "vocab_size"),
            act=last(self.component(MLP, field=True), "hidden_act"),
            eps=self._eps,
            experts=last(experts.count, "num_experts") if experts else "",
            active=last(experts.active, "num_experts_per_tok") if experts else "",
            expert_inner=last(experts.width or sizes.intermediate, "moe_intermediate_size") if experts else "",
        )

    @property
    def _eps(self) -> str:
        component = self.component(NORM)
        named = [f.path.rpartition(".")[2] for f in component.fields] if component else []
        return next((name for name in named if "eps" in name), "rms_norm_eps")

    def component(self, group: str, *names: str, field: bool = False) -> Any:
        """Return the first component of a group (with one of these names), or the first field that says it is there."""
        found = [c for c in self.found.components if c.group == group and (not names or c.name in names)]
        if not field:
            return found[0] if found else None
        return found[0].fields[0] if found and found[0].fields else None

    def has(self, group: str, name: str) -> Component | None:
        """Return a component of the model."""
        return self.component(group, name)

    def states(self, name: str, of: ConfigClass | ClassEntity | None = None) -> bool:
        """Tell whether the config class of the language model (or another) has a field."""
        cls = of or self.text
        if isinstance(cls, ConfigClass):
            return name in cls.fields
        return defines_field(self.project, cls, name)

    def value(self, name: str) -> str:
        """Return how a field is read that a config may leave out."""
        heads, hidden = f"config.{self.f.heads}", f"config.{self.f.hidden}"
        if name == "head_dim":
            whole = f"{hidden} // {heads}"
            if isinstance(self.text, ConfigClass):
                return "config.head_dim"
            return f'getattr(config, "head_dim", None) or {whole}' if self.states("head_dim") else whole
        if name == self.f.kv_heads:
            return f"config.{name}" if self.states(name) else heads
        return f"config.{name}"


def prefix_of(architecture: str) -> str:
    """Return what the names of a model's classes begin with."""
    return _SUFFIX.sub("", architecture) or architecture


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a class or package."""
    return text.isidentifier() and not keyword.iskeyword(text) and text.isascii()


def last(found: Any, default: str) -> str:
    """Return the name of a stated field without the path to it."""
    return found.path.rpartition(".")[2] if found is not None else default
