"""NAM705: forward code that multiplies by the weight of a projection."""

from __future__ import annotations

from . import PACKAGE, Edit, Fault, Harmless, model
from .casts import indented
from .policy import FIR, SPRUCE

ATTENTION = f"{PACKAGE}/components/models/common/attention.py"
FEED_FORWARD = f"{PACKAGE}/components/models/common/feed_forward.py"
VISION = f"{PACKAGE}/components/models/cedar/vision.py"
MOE = f"{PACKAGE}/components/moe/layers.py"
OUT = "        return self.o_proj(mixed.transpose(1, 2).flatten(2))\n"
MIXED = "mixed.transpose(1, 2).flatten(2)"
NN = "import torch.nn as nn\n"


def output(name: str, *lines: str, at: str = "self.o_proj.weight", more: tuple[Edit, ...] = ()) -> Fault:
    """Other lines where the shared attention projects its output."""
    return Fault("NAM705", name, (Edit(ATTENTION, OUT, indented(*lines)), *more), at=at)


FAULTS = [
    output("linear", f"return F.linear({MIXED}, self.o_proj.weight)"),
    output("at", f"return {MIXED} @ self.o_proj.weight.t()"),
    output("matmul", f"return torch.matmul({MIXED}, self.o_proj.weight.T)"),
    output("method", f"return {MIXED}.matmul(self.o_proj.weight.transpose(0, 1))"),
    output("einsum", f'return torch.einsum("bsd,hd->bsh", {MIXED}, self.o_proj.weight)'),
    output("cast", f"return F.linear({MIXED}.float(), self.o_proj.weight.float()).to(hidden.dtype)"),
    output("by-keyword", f"return F.linear(input={MIXED}, weight=self.o_proj.weight)"),
    output(
        "function-by-another-name",
        f"return project({MIXED}, self.o_proj.weight)",
        more=(Edit(ATTENTION, NN, f"{NN}from torch.nn.functional import linear as project\n"),),
    ),
    output("through-a-name", "weight = self.o_proj.weight", f"return F.linear({MIXED}, weight)"),
    output("second-name-for-the-layer", "out = self.o_proj", f"return F.linear({MIXED}, out.weight)", at="out.weight"),
    output(
        "in-parts",
        "upper, lower = self.o_proj.weight.chunk(2)",
        f"return torch.cat([F.linear({MIXED}, part) for part in (upper, lower)], dim=-1)"
        " if len(upper) else F.linear(hidden, upper)",
    ),
    output("a-slice", f"return F.linear({MIXED}, self.o_proj.weight[: hidden.shape[-1]])"),
    output(
        "on-one-path",
        "if self.training:",
        f"    return self.o_proj({MIXED})",
        f"return F.linear({MIXED}, self.o_proj.weight)",
    ),
    output(
        "in-a-method",
        f"return self.projected({MIXED})",
        more=(
            Edit(
                ATTENTION,
                "        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)\n",
                "        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False, dtype=dtype)\n\n"
                "    def projected(self, mixed: torch.Tensor) -> torch.Tensor:\n"
                "        return F.linear(mixed, self.o_proj.weight)\n",
            ),
        ),
    ),
    Fault(
        "NAM705",
        "of-a-feed-forward-block",
        (Edit(FEED_FORWARD, "self.gate_proj(hidden)", "F.linear(hidden, self.gate_proj.weight)"),),
        at="self.gate_proj.weight",
    ),
    Fault(
        "NAM705",
        "of-a-module-below",
        (
            Edit(
                VISION,
                "        patches = patches + self.attn(self.norm1(patches), visible)\n",
                "        patches = patches + self.norm1(patches) @ self.attn.v_proj.weight.mT\n",
            ),
        ),
        at="self.attn.v_proj.weight",
    ),
    Fault(
        "NAM705",
        "of-the-head",
        (
            Edit(
                FIR,
                "        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)\n",
                "        kept = hidden[:, -logits_to_keep:] if logits_to_keep else hidden\n"
                "        return nn.functional.linear(kept.float(), self.lm_head.weight.float())\n",
            ),
        ),
        at="self.lm_head.weight",
    ),
]


def _harmless(name: str, why: str, *lines: str) -> Harmless:
    return Harmless("NAM705", name, (Edit(ATTENTION, OUT, indented(*lines)),), why)


HARMLESS = [
    _harmless("only-its-dtype", "nothing is multiplied", f"return self.o_proj({MIXED}.to(self.o_proj.weight.dtype))"),
    _harmless(
        "effective-weight",
        "what wraps it is asked",
        'effective = getattr(self.o_proj, "materialize_effective_weight", None)',
        "weight = effective() if effective is not None else self.o_proj.weight",
        f"return F.linear({MIXED}, weight)",
    ),
    _harmless(
        "only-of-a-plain-layer",
        "what wraps it is asked",
        "if type(self.o_proj) is nn.Linear:",
        f"    return F.linear({MIXED}, self.o_proj.weight)",
        f"return self.o_proj({MIXED})",
    ),
    Harmless(
        "NAM705",
        "its-own-weight",
        (Edit(MOE, "self.weight.to(precision)", "self.weight.float().to(precision)"),),
        "a parameter of the module itself",
    ),
    Harmless(
        "NAM705",
        "of-an-embedding",
        (
            Edit(
                FIR,
                "        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)\n",
                "        kept = hidden[:, -logits_to_keep:] if logits_to_keep else hidden\n"
                "        return nn.functional.linear(kept, self.model.embed_tokens.weight)\n",
            ),
        ),
        "an embedding cannot be called with hidden states",
    ),
    Harmless(
        "NAM705",
        "when-it-is-initialised",
        (
            Edit(
                SPRUCE,
                "        cast_model_to_dtype(self, dtype)\n",
                "        spread = self.lm_head.weight @ self.lm_head.weight.t()\n"
                "        print(spread.norm())\n        cast_model_to_dtype(self, dtype)\n",
            ),
        ),
        "no forward code",
    ),
    Harmless(
        "NAM705",
        "of-the-router",
        (Edit(model("spruce"), "        return self.norm(hidden)\n", "        return hidden * self.norm.weight\n"),),
        "a norm is no projection",
    ),
]
