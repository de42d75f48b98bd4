"""How a model is to be written in a checkout: the decisions, in the words of the templates."""

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
from automodel_lint.onboarding.component import ATTENTION, MLP, NORM, ROPE, Component
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
_SILU = ("silu", "swish", "swiglu")
_ACTIVATIONS = {
    "relu": "F.relu({})",
    "relu2": "F.relu({}).square()",
    "gelu": "F.gelu({})",
    "gelu_new": 'F.gelu({}, approximate="tanh")',
    "gelu_pytorch_tanh": 'F.gelu({}, approximate="tanh")',
}


@dataclass
class Design:
    """A model as the templates write it.

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
        return f"{self.prefix}TextModel" if self.multimodal else f"{self.prefix}Model"

    @property
    def inner(self) -> str:
        """The class below the one that is registered."""
        return f"{self.prefix}Model"

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
        kv = _last(sizes.kv_heads, "num_key_value_heads")
        return SimpleNamespace(
            hidden=_last(sizes.hidden, "hidden_size"),
            layers=_last(sizes.layers, "num_hidden_layers"),
            heads=_last(sizes.heads, "num_attention_heads"),
            kv_heads=kv,
            inner=_last(sizes.intermediate, "intermediate_size"),
            vocab=_last(sizes.vocabulary, "vocab_size"),
            act=_last(self._component(MLP, field=True), "hidden_act"),
            eps=self._eps,
            experts=_last(experts.count, "num_experts") if experts else "",
            active=_last(experts.active, "num_experts_per_tok") if experts else "",
            expert_inner=_last(experts.width or sizes.intermediate, "moe_intermediate_size") if experts else "",
        )

    @property
    def _eps(self) -> str:
        component = self._component(NORM)
        named = [f.path.rpartition(".")[2] for f in component.fields] if component else []
        return next((name for name in named if "eps" in name), "rms_norm_eps")

    def _component(self, group: str, *names: str, field: bool = False) -> Any:
        found = [c for c in self.found.components if c.group == group and (not names or c.name in names)]
        if not field:
            return found[0] if found else None
        return found[0].fields[0] if found and found[0].fields else None

    def has(self, group: str, name: str) -> Component | None:
        """Return a component of the model."""
        return self._component(group, name)

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

    # -- expressions --------------------------------------------------------------------------------------------------

    def dtype_of(self, config: str) -> str:
        """Return how the dtype of the parameters is read from a config."""
        if self.shared.dtype_of is not None:
            return f"{self.shared.dtype_of.name}({config})"
        if self.shared.dtype_from is not None:
            return f"{self.shared.dtype_from.name}({config}.dtype, torch.bfloat16)"
        return f"{config}.dtype"

    @property
    def dtype(self) -> str:
        """How the dtype of the parameters is read."""
        return self.dtype_of("config")

    def linear(self, inputs: str, outputs: str, bias: str, backend: str = "backend") -> str:
        """Return how a projection is built."""
        if self.shared.linear is not None:
            name = self.shared.linear.name
            return f"{name}({backend}.linear, {inputs}, {outputs}, bias={bias}, dtype=dtype)"
        return f"nn.Linear({inputs}, {outputs}, bias={bias}, dtype=dtype)"

    def norm(self, size: str) -> str:
        """Return how a norm is built."""
        eps = f"config.{self.f.eps}" if self.states(self.f.eps) else "1e-6"
        if self.has(NORM, "LayerNorm"):
            return f"nn.LayerNorm({size}, eps={eps}, dtype=dtype)"
        if self.shared.rms_norm is not None:
            return f"{self.shared.rms_norm.name}(backend.rms_norm, {size}, eps={eps}, dtype=dtype)"
        return f"nn.RMSNorm({size}, eps={eps}, dtype=dtype)"

    def activation(self, argument: str) -> str:
        """Return how the activation of the feed-forward block is applied."""
        if self.transformers:
            return f"self.act_fn({argument})"
        word = str(self.found.parts.backbone.data.get(self.f.act, "silu")).lower()
        return (_ACTIVATIONS.get(word) or "F.silu({})").format(argument)

    # -- blocks -------------------------------------------------------------------------------------------------------

    @property
    def attention_bias(self) -> str:
        """Whether the projections of queries, keys and values have a bias."""
        named = self._component(ATTENTION, "bias", field=True)
        if named is not None:
            return f"config.{_last(named, '')}"
        return "config.attention_bias" if self.states("attention_bias") else "False"

    @property
    def output_bias(self) -> str:
        """Whether the output projection has one."""
        return self.attention_bias if self.attention_bias == "config.attention_bias" else "False"

    @property
    def mlp_bias(self) -> str:
        """Whether the feed-forward block has biases."""
        return "config.mlp_bias" if self.states("mlp_bias") else "False"

    @property
    def qk_norm(self) -> bool:
        """Whether queries and keys are normalised head by head."""
        return self.has(ATTENTION, "QK norm") is not None

    @property
    def gated(self) -> bool:
        """Whether the feed-forward block has a gate."""
        return self.has(MLP, "squared ReLU") is None

    @property
    def windows(self) -> str:
        """``listed`` where layers differ in how far they see, ``all`` where none sees further than a window."""
        component = self.has(ATTENTION, "sliding window")
        if component is None:
            return ""
        return "listed" if "layer_types" in self.found.parts.backbone.data else "all"

    @property
    def layer_idx(self) -> bool:
        """Whether a layer must know its number."""
        return self.windows == "listed" or bool(self.moe and self.dense_layers)

    @property
    def scaled_rope(self) -> bool:
        """Whether rotary positions are scaled."""
        names = {c.name for c in self.found.components if c.group == ROPE}
        return bool(names - {"default", "partial", "apart from the rest of the head"})

    @property
    def partial_rotary(self) -> bool:
        """Whether only a part of each head is turned."""
        return self.has(ROPE, "partial") is not None

    @property
    def rotary_size(self) -> str:
        """How many channels of a head are turned."""
        head = self.value("head_dim")
        component = self.has(ROPE, "partial")
        if component is None:
            return head
        path = component.fields[0].path.removeprefix(f"{self.found.parts.backbone.path}.")
        if path == "rotary_dim":
            return "config.rotary_dim"
        top, *inside = path.split(".")
        share = f"config.{top}" + "".join(f'["{key}"]' for key in inside)
        return f"int({head} * {share})" if " " not in head else f"int(({head}) * {share})"

    # -- experts ------------------------------------------------------------------------------------------------------

    @property
    def padding_mask(self) -> bool:
        """Whether the experts' layer wants to know what is padding."""
        return self.moe and "padding_mask" in self.shared.moe.calls

    @property
    def mixture(self) -> str:
        """What stands behind attention, in words."""
        if not self.moe:
            return "the feed-forward block"
        return "the feed-forward block or experts" if self.dense_layers else "experts"

    @cached_property
    def dense_layers(self) -> str:
        """Whether a layer has experts, as an expression over its number; empty if all have."""
        data = self.found.parts.backbone.data
        if isinstance(data.get("mlp_layer_types"), list):
            return 'config.mlp_layer_types[layer_idx] == "sparse"'
        if isinstance(data.get("moe_layer_freq"), list):
            return "bool(config.moe_layer_freq[layer_idx])"
        tests = []
        for name in ("first_k_dense_replace", "num_dense_layers", "n_dense_layers", "moe_layer_start_index"):
            if data.get(name):
                tests.append(f"layer_idx >= config.{name}")
        if data.get("mlp_only_layers"):
            tests.append("layer_idx not in config.mlp_only_layers")
        for name in ("decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step"):
            if data.get(name, 1) not in (1, None):
                tests.append(f"(layer_idx + 1) % config.{name} == 0")
        return " and ".join(tests)

    @property
    def gate_bias(self) -> bool:
        """Whether the router has a bias that balances the load."""
        return self.moe and self.found.experts.correction_bias is not None

    @property
    def gate_precision(self) -> bool:
        """Whether the backend lets a model say in which dtype the router computes."""
        return self.moe and "gate_precision" in self.shared.backend.parameters

    @property
    def pins(self) -> str:
        """What must stay in fp32, as a list; empty if nothing must."""
        return '["e_score_correction_bias"]' if self.gate_bias else ""

    # -- the rest -----------------------------------------------------------------------------------------------------

    @property
    def output(self) -> str:
        """What ``forward`` returns."""
        head = self.shared.head
        if head is None or not head.returns or head.returns.startswith("torch."):
            return "torch.Tensor"
        return head.returns.rpartition(".")[2]

    @property
    def head_keeps_hidden(self) -> bool:
        """Whether the shared projection to logits can return the hidden states as well."""
        return self.shared.head is not None and "output_hidden_states" in self.shared.head.parameters

    @property
    def adapter_switch(self) -> bool:
        """Whether the backend can switch adapters off."""
        return "enable_hf_state_dict_adapter" in self.shared.backend.parameters

    @property
    def adapter_flag(self) -> str:
        """The attribute in which an adapter says that it writes through to the model's storage."""
        base = self.shared.adapter_base
        flags = [name for name in base.parameters if name.startswith("_supports_")] if base is not None else []
        return flags[0] if flags else "_supports_low_memory_dcp_load"

    @property
    def fill(self) -> bool:
        """Whether the package must fill a model itself."""
        return self.shared.initialize is None

    @property
    def std(self) -> str:
        """The spread of the first values."""
        config = f"self.config.{self.text_key}" if self.multimodal else "self.config"
        return f"{config}.initializer_range" if self.states("initializer_range") else "0.02"

    @property
    def adapter(self) -> bool:
        """Whether a checkpoint has other names or layouts than the model."""
        return self.moe

    @property
    def adapter_arguments(self) -> str:
        """What the adapter is built of."""
        if self.shared.experts_mixin is None:
            return ""
        config = "text_config" if self.multimodal else "config"
        return f"{config}, self.{self.decoder}.moe_config, self.backend, dtype"

    @property
    def quantized(self) -> str:
        """What to think about where the checkpoint is quantised; empty if it is not."""
        if self.found.quantization is None:
            return ""
        return f"the checkpoint is quantised ({self.found.quantization.value}): undo it here, shard by shard"


def prefix_of(architecture: str) -> str:
    """Return what the names of a model's classes begin with."""
    return _SUFFIX.sub("", architecture) or architecture


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a class or package."""
    return text.isidentifier() and not keyword.iskeyword(text) and text.isascii()


def _last(found: Any, default: str) -> str:
    return found.path.rpartition(".")[2] if found is not None else default
