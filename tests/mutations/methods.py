"""NAM714: calls of methods that a submodule does not have."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, Place, model
from .policy import CEDAR, FIR, FIR_CLASS, LARCH, SPRUCE

WILLOW, HORNBEAM = model("willow"), model("hornbeam")
MOE = f"{PACKAGE}/components/moe/layers.py"
ROTARY = f"{PACKAGE}/components/models/common/rotary.py"
BODY = "        initialize_module_tree(self, self.config.initializer_range, buffer_device)\n"
EMBEDDING = "        return self.model.embed_tokens\n"
UPDATE = """        for layer in self.model.layers:
            layer.mlp.gate.update_bias()
"""
NORMED = "        return self.norm(hidden)\n\n\nclass FirForCausalLM("


def prepared(name: str, *lines: str, at: str = "", path: str = FIR, more: tuple[Edit, ...] = ()) -> Fault:
    """More statements in a model's ``initialize_weights``; the finding is at the last one, if nothing else is said."""
    text = "".join(f"        {line}\n" for line in lines)
    return Fault("NAM714", name, (Edit(path, BODY, text + BODY), *more), at=at or lines[-1].strip())


def _update(name: str, *lines: str, at: str = "") -> Fault:
    """Another body for Spruce's ``update_moe_gate_bias``."""
    text = "".join(f"        {line}\n" for line in lines)
    return Fault("NAM714", name, (Edit(SPRUCE, UPDATE, text),), at=at or lines[-1].strip())


FAULTS = [
    prepared("of-the-backbone", "self.model.init_weights(0.02)"),
    prepared("of-a-module-of-torch", "self.lm_head.init_weights(0.02)"),
    prepared("in-a-loop", "for layer in self.model.layers:", "    layer.init_weights(0.02)"),
    prepared(
        "in-a-numbered-loop",
        "for number, layer in enumerate(self.model.layers, 1):",
        "    layer.mlp.init_weights(0.02 / number)",
    ),
    prepared("in-a-reversed-loop", "for layer in reversed(self.model.layers):", "    layer.self_attn.freeze()"),
    prepared("in-a-comprehension", "_ = [layer.self_attn.reset() for layer in self.model.layers]"),
    prepared("of-one-layer", "self.model.layers[0].init_weights(0.02)"),
    prepared("of-some-layers", "for layer in self.model.layers[1:]:", "    layer.input_layernorm.reset()"),
    prepared("through-a-local", "backbone = self.model", "backbone.reset()"),
    prepared("through-two-locals", "backbone = self.model", "rotary = backbone.rotary_emb", "rotary.reset()"),
    prepared("by-getattr", 'getattr(self, "model").reset()'),
    prepared("by-walrus", "if (head := self.lm_head) is not None:", "    head.reset()"),
    prepared("as-an-argument", "print(self.model.rotary_emb.describe())"),
    prepared("misspelled", "self.lm_head.reset_parameter()"),
    prepared(
        "of-every-variant",
        "self.model.norm.reset()",
        more=(
            Edit(
                FIR,
                "        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)\n"
                "        self.rotary_emb",
                "        kind = nn.LayerNorm if config.attention_bias else nn.RMSNorm\n"
                "        self.norm = kind(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)\n"
                "        self.rotary_emb",
            ),
        ),
    ),
    prepared(
        "taken-by-a-module-in-between",
        "self.model.rotary_emb.init_weights(buffer_device=buffer_device)",
        more=(
            Edit(FIR, FIR_CLASS, f"class _Wrapped(nn.Module):\n    pass\n\n\n{FIR_CLASS}"),
            Edit(
                FIR,
                "self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)",
                "self.rotary_emb = _Wrapped()\n        self.rotary_emb.inner = RotaryEmbedding(\n"
                "            config.hidden_size // config.num_attention_heads, config.rope_theta\n        )",
            ),
            Edit(FIR, '["rotary_emb.inv_freq"]', '["rotary_emb.inner.inv_freq"]'),
            Edit(CEDAR, "rotary_emb.inv_freq", "rotary_emb.inner.inv_freq"),
        ),
    ),
    prepared("of-the-tower", "self.model.vision_tower.get_input_embeddings().requires_grad_(False)", path=CEDAR),
    prepared("of-a-tower-s-layer", "self.model.vision_tower.layers[-1].freeze()", path=CEDAR),
    Fault(
        "NAM714",
        "handed-on-to-the-backbone",
        (Edit(FIR, EMBEDDING, "        return self.model.get_input_embeddings()\n"),),
        at="self.model.get_input_embeddings()",
    ),
    Fault(
        "NAM714",
        "handed-on-by-the-base-of-another-file",
        (Edit(BASE, "        return self.lm_head\n", "        return self.lm_head.get_output_embeddings()\n"),),
        at="self.lm_head.get_output_embeddings()",
    ),
    Fault(
        "NAM714",
        "in-a-module-of-the-tree",
        (Edit(FIR, NORMED, NORMED.replace("self.norm(hidden)", "self.norm.normalise(hidden)")),),
        at="self.norm.normalise(hidden)",
    ),
    Fault(
        "NAM714",
        "of-another-registered-class",
        (Edit(WILLOW, EMBEDDING, "        return self.model.input_embeddings()\n"),),
        at="self.model.input_embeddings()",
    ),
    Fault(
        "NAM714",
        "definition-was-renamed",
        (Edit(MOE, "    def update_bias(self)", "    def update_correction_bias(self)"),),
        path=SPRUCE,
        at="layer.mlp.gate.update_bias()",
        also=(Place("NAM714", HORNBEAM, "layer.mlp.gate.update_bias()"),),
    ),
    Fault(
        "NAM714",
        "of-an-embedding",
        (Edit(LARCH, EMBEDDING, "        return self.model.embed_tokens.of_tokens()\n"),),
        at="self.model.embed_tokens.of_tokens()",
    ),
    _update("one-level-too-high", "for layer in self.model.layers:", "    layer.mlp.update_bias()"),
    _update("of-the-experts", "for layer in self.model.layers:", "    layer.mlp.experts[0].update_bias()"),
    _update(
        "in-a-nested-loop",
        "for layer in self.model.layers:",
        "    for expert in layer.mlp.experts:",
        "        expert.update_bias()",
    ),
]
