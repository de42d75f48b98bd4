"""How a model is to be written in a checkout: the decisions, in the words of the templates."""

from __future__ import annotations

from functools import cached_property

from automodel_lint.onboarding.component import ATTENTION, MLP, NORM, ROPE
from automodel_lint.skeleton.naming import Naming, last
from automodel_lint.skeleton.questions import SCALED

_ACTIVATIONS = {
    "relu": "F.relu({})",
    "relu2": "F.relu({}).square()",
    "gelu": "F.gelu({})",
    "gelu_new": 'F.gelu({}, approximate="tanh")',
    "gelu_pytorch_tanh": 'F.gelu({}, approximate="tanh")',
}


class Design(Naming):
    """A model as the templates write it."""

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
        named = self.component(ATTENTION, "bias", field=True)
        if named is not None:
            return f"config.{last(named, '')}"
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
        if self.has(ROPE, "by kind of layer"):  # which table is for whom is not written
            return False
        return any(c.name in SCALED for c in self.found.components if c.group == ROPE)

    @property
    def partial_rotary(self) -> bool:
        """Whether only a part of each head is turned."""
        return self.has(ROPE, "partial") is not None and not self.has(ROPE, "by kind of layer")

    @property
    def rotary_size(self) -> str:
        """How many channels of a head are turned."""
        head = self.value("head_dim")
        component = self.has(ROPE, "partial")
        if component is None or not self.partial_rotary:
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
