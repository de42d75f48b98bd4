"""Models that are made of transformers."""

from __future__ import annotations

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, LlamaConfig, PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaForCausalLM, LlamaModel, LlamaRMSNorm
from transformers.models.siglip.configuration_siglip import SiglipVisionConfig
from transformers.models.siglip.modeling_siglip import SiglipVisionModel

SMALL = {
    "vocab_size": 16,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 4,
}
SMALL_VISION = {
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 4,
    "patch_size": 2,
}


class Inherited(LlamaForCausalLM):
    """Nothing of its own."""


class Extended(LlamaForCausalLM):
    _tied_weights_keys = {}  # noqa: RUF012

    def __init__(self, config: LlamaConfig):
        super().__init__(config)
        self.extra = nn.Linear(config.hidden_size, 1)
        for layer in self.model.layers:
            layer.self_attn.q_norm = LlamaRMSNorm(config.hidden_size)
        self.model.norm = nn.LayerNorm(config.hidden_size)


class OwnModel(PreTrainedModel):
    config_class = LlamaConfig

    def __init__(self, config: LlamaConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([LlamaDecoderLayer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = LlamaRMSNorm(config.hidden_size)
        self.act = ACT2FN[config.hidden_act]
        self.post_init()


class Replaced(LlamaModel):
    """Parts of the base are built again, or taken away."""

    def __init__(self, config: LlamaConfig):
        super().__init__(config)
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(config.num_hidden_layers)])
        self.rotary_emb = None
        del self.norm


class Attention(nn.Module):
    def __init__(self, config: LlamaConfig, layer_idx: int):
        super().__init__()
        self.sinks = nn.Parameter(torch.zeros(config.num_attention_heads))


class Layer(LlamaDecoderLayer):
    def __init__(self, config: LlamaConfig, layer_idx: int):
        super().__init__(config, layer_idx)
        self.self_attn = Attention(config, layer_idx)


class Swapped(LlamaModel):
    def __init__(self, config: LlamaConfig):
        super().__init__(config)
        self.layers = nn.ModuleList([Layer(config, i) for i in range(config.num_hidden_layers)])


class BothConfig(PretrainedConfig):
    model_type = "sprout_both"
    sub_configs = {"text_config": LlamaConfig, "vision_config": SiglipVisionConfig}  # noqa: RUF012

    def __init__(self, text_config=None, vision_config=None, **kwargs):
        self.text_config = LlamaConfig(**(text_config or SMALL))
        self.vision_config = SiglipVisionConfig(**(vision_config or SMALL_VISION))
        super().__init__(**kwargs)


class Tower(nn.Module):
    """Two models below a projector, one made directly, one by an Auto class."""

    def __init__(self, config: BothConfig):
        super().__init__()
        self.vision_tower = SiglipVisionModel(config.vision_config)
        self.language_model = AutoModel.from_config(config.text_config)
        self.projector = nn.Linear(config.vision_config.hidden_size, config.text_config.hidden_size)
        self.private = LlamaModel._from_config(config.text_config)


class OpenConfig(PretrainedConfig):
    model_type = "sprout_open"
    sub_configs = {"text_config": AutoConfig}  # noqa: RUF012

    def __init__(self, text_config=None, **kwargs):
        self.text_config = AutoConfig.for_model("llama", **SMALL)
        super().__init__(**kwargs)


class OpenTower(nn.Module):
    """Any model may be the text model: its default is shown, and that it may be another one."""

    def __init__(self, config: OpenConfig):
        super().__init__()
        self.language_model = AutoModel.from_config(config.text_config)
        self.head = nn.Linear(config.text_config.hidden_size, config.text_config.vocab_size)


CASES = {
    Inherited: [LlamaConfig(**SMALL), LlamaConfig(**SMALL, attention_bias=True), LlamaConfig(**SMALL, mlp_bias=True)],
    Extended: [LlamaConfig(**SMALL), LlamaConfig(**SMALL, attention_bias=True), LlamaConfig(**SMALL, mlp_bias=True)],
    OwnModel: [LlamaConfig(**SMALL), LlamaConfig(**SMALL, attention_bias=True), LlamaConfig(**SMALL, mlp_bias=True)],
    Replaced: [LlamaConfig(**SMALL)],
    Swapped: [LlamaConfig(**SMALL), LlamaConfig(**SMALL, mlp_bias=True)],
    Tower: [
        BothConfig(),
        BothConfig(text_config=SMALL | {"attention_bias": True}),
        BothConfig(text_config=SMALL | {"mlp_bias": True}),
    ],
    OpenTower: [OpenConfig()],
}
OPAQUE = {"OpenTower": ["language_model"]}
# Computed by functions that the tree does not follow, looked up in a table of activations: the dtypes of the first and
# the classes of the others are not asked for.
UNFOLLOWED = ["inv_freq", "original_inv_freq", "act", "act_fn", "activation_fn"]
