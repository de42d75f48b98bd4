"""NAM605: blocks that ask in their forward code for the class of a child."""

from __future__ import annotations

from . import PACKAGE, Edit, Fault, Place, model
from .casts import imported, indented

HORNBEAM, HAWTHORN = model("hornbeam"), model("hawthorn")
ROUTED = "        if self.is_routed:\n            return hidden + self.mlp(normed, attention_mask)\n"
DENSE_PATH = "        return hidden + self.mlp(normed)\n"
LAYER_FORWARD = "    def forward(\n        self,\n        hidden: torch.Tensor,\n"


def asked(*lines: str) -> Edit:
    """Other lines where a layer of Hornbeam chooses how to call its feed-forward block."""
    return Edit(HORNBEAM, ROUTED + DENSE_PATH, indented(*lines))


def _asks(name: str, *lines: str, at: str = "isinstance(", more: tuple[Edit, ...] = ()) -> Fault:
    return Fault("NAM605", name, (asked(*lines), *more), at=at)


THEN = ("    return hidden + self.mlp(normed, attention_mask)", "return hidden + self.mlp(normed)")
WRAPPED = [
    _asks("in-forward", "if isinstance(self.mlp, MaskedMoE):", *THEN),
    _asks(
        "in-an-expression",
        "return hidden + (self.mlp(normed, attention_mask) if isinstance(self.mlp, MaskedMoE) else self.mlp(normed))",
    ),
    _asks("the-other-way-round", "if not isinstance(self.mlp, DenseMLP):", *THEN),
    _asks("one-of-several", "if isinstance(self.mlp, (MaskedMoE, nn.Linear)):", *THEN),
    _asks("union", "if isinstance(self.mlp, MaskedMoE | nn.Linear):", *THEN),
    _asks("second-name", "block = self.mlp", "if isinstance(block, MaskedMoE):", *THEN),
    _asks("walrus", "if isinstance(block := self.mlp, MaskedMoE):", *THEN),
    _asks("asserted", "if self.is_routed:", "    assert isinstance(self.mlp, MaskedMoE)", *THEN),
    _asks("with-more", "if attention_mask is not None and isinstance(self.mlp, MaskedMoE):", *THEN),
    _asks(
        "shared-class",
        "if isinstance(self.mlp, MoE):",
        *THEN,
        more=(imported(HORNBEAM, f"from {PACKAGE}.components.moe.layers import MoE"),),
    ),
    _asks(
        "class-by-another-name",
        "if isinstance(self.mlp, _ROUTED):",
        *THEN,
        more=(
            Edit(HORNBEAM, "class HornbeamDecoderLayer(", "_ROUTED = (MaskedMoE,)\n\n\nclass HornbeamDecoderLayer("),
        ),
    ),
    _asks(
        "class-through-its-module",
        "if isinstance(self.mlp, layers.MaskedMoE):",
        *THEN,
        more=(imported(HORNBEAM, f"from {PACKAGE}.components.models.hornbeam import layers"),),
    ),
    _asks(
        "in-a-method",
        "return hidden + self._fed(normed, attention_mask)",
        more=(
            Edit(
                HORNBEAM,
                LAYER_FORWARD,
                "    def _fed(self, normed, mask):\n"
                "        return self.mlp(normed, mask) if isinstance(self.mlp, MaskedMoE) else self.mlp(normed)\n\n"
                + LAYER_FORWARD,
            ),
        ),
    ),
    _asks(
        "in-a-property",
        "if self.routes:",
        *THEN,
        more=(
            Edit(
                HORNBEAM,
                LAYER_FORWARD,
                "    @property\n    def routes(self):\n        return isinstance(self.mlp, MaskedMoE)\n\n"
                + LAYER_FORWARD,
            ),
        ),
    ),
    Fault(
        "NAM605",
        "another-child",
        (
            Edit(
                HORNBEAM,
                "        hidden = hidden + self.self_attn(self.input_layernorm(hidden), visible, rotary)\n",
                "        normed = self.input_layernorm(hidden)\n"
                "        if isinstance(self.self_attn, GroupedQueryAttention):\n"
                "            hidden = hidden + self.self_attn(normed, visible, rotary)\n",
            ),
        ),
        at="isinstance(self.self_attn",
    ),
    Fault(
        "NAM605",
        "in-two-methods",
        (
            asked(
                "if isinstance(self.mlp, MaskedMoE):", "    return hidden + self._fed(normed, attention_mask)", THEN[1]
            ),
            Edit(
                HORNBEAM,
                LAYER_FORWARD,
                "    def _fed(self, normed, mask):\n        assert not isinstance(self.mlp, DenseMLP)\n"
                f"        return self.mlp(normed, mask)\n\n{LAYER_FORWARD}",
            ),
        ),
        at="if isinstance(self.mlp, MaskedMoE)",
        also=(Place("NAM605", HORNBEAM, "assert not isinstance(self.mlp, DenseMLP)"),),
    ),
    Fault(
        "NAM605",
        "layers-of-another-model",
        (
            Edit(
                HAWTHORN,
                "if self.is_attention else self.mixer(normed, visible)\n",
                "if self.is_attention else self.mixer(normed, visible)\n        assert isinstance(self.mlp, Experts)\n",
            ),
        ),
        at="assert isinstance(self.mlp, Experts)",
    ),
]

FAULTS = WRAPPED
