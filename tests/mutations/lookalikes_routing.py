"""What looks like a fault of NAM409 or NAM605 and is none."""

from __future__ import annotations

from . import Edit, Harmless
from .blocks import HORNBEAM, LAYER_FORWARD, THEN, asked
from .casts import FIR, imported, indented
from .routing import (
    COARSE,
    GATE,
    HAWTHORN,
    LOGITS,
    ONE_BY_ONE,
    PROJECTED,
    RANKED,
    SHARED_SCORES,
    WEIGHED,
    scores,
    sinks,
)


def _fine(name: str, why: str, *texts: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM409", name, (scores(*texts), *more), why)


def _sunk(name: str, why: str, *texts: str, logits: str = COARSE) -> Harmless:
    edits = (sinks(*texts), Edit(HAWTHORN, PROJECTED, ONE_BY_ONE), Edit(HAWTHORN, LOGITS, logits))
    return Harmless("NAM409", name, edits, why)


ROUTED = [
    _fine(
        "dtype-of-the-softmax",
        "it runs in fp32",
        "scores = F.softmax(F.linear(tokens, self.weight), dim=-1, dtype=torch.float32)",
    ),
    _fine("dtype-by-position", "it runs in fp32", "scores = F.linear(tokens, self.weight).softmax(-1, torch.float)"),
    _fine(
        "logits-cast-up",
        "it runs in fp32",
        "logits = F.linear(tokens, self.weight)",
        "scores = logits.to(torch.float32).sigmoid()",
    ),
    _fine(
        "cast-up-by-type",
        "it runs in fp32",
        "logits = (tokens @ self.weight.t()).type(torch.float32)",
        "scores = logits.sigmoid()",
    ),
    _fine("double", "it runs in more than fp32", "scores = F.linear(tokens.double(), self.weight.double()).sigmoid()"),
    _fine(
        "mixed-with-fp32",
        "fp32 wins",
        "logits = F.linear(tokens, self.weight) + self.e_score_correction_bias",
        "scores = logits.sigmoid()",
    ),
    _fine(
        "logits-cast-up-by-a-helper",
        "it runs in fp32",
        "scores = _wide(F.linear(tokens, self.weight)).sigmoid()",
        more=(
            Edit(
                HAWTHORN,
                "class Router(nn.Module):\n",
                "def _wide(logits):\n    return logits.float()\n\n\nclass Router(nn.Module):\n",
            ),
        ),
    ),
    _fine(
        "cast-up-on-both-sides",
        "it runs in fp32",
        "if self.training:",
        "    logits = F.linear(tokens.float(), self.weight.float())",
        "else:",
        "    logits = F.linear(tokens, self.weight).float()",
        "scores = logits.sigmoid()",
    ),
    Harmless(
        "NAM409",
        "weights-cast-down-after-the-choice",
        (
            Edit(
                HAWTHORN,
                WEIGHED,
                WEIGHED.replace("scores.gather(-1, indices)", "scores.gather(-1, indices).to(tokens.dtype)"),
            ),
        ),
        "the choice has been made",
    ),
    Harmless(
        "NAM409",
        "scores-cast-down-after-the-choice",
        (Edit(HAWTHORN, RANKED, f"{RANKED}        scores = scores.to(tokens.dtype)\n"),),
        "the choice has been made",
    ),
    Harmless(
        "NAM409",
        "shared-gate-cast-up-by-hand",
        (Edit(GATE, SHARED_SCORES, SHARED_SCORES.replace(".float()", ".to(dtype=torch.float32)")),),
        "it runs in fp32",
    ),
    Harmless(
        "NAM409",
        "gate-that-chooses-nothing",
        (
            Edit(
                FIR,
                "        return hidden + self.mlp(self.post_attention_layernorm(hidden))\n",
                "        return hidden + torch.sigmoid(hidden) * self.mlp(self.post_attention_layernorm(hidden))\n",
            ),
        ),
        "no experts are chosen",
    ),
    Harmless(
        "NAM409",
        "choice-of-words",
        (
            Edit(
                FIR,
                "        return project_to_vocabulary(",
                "        kwargs['best'] = hidden.softmax(dim=-1).topk(4).indices\n        return project_to_vocabulary(",
            ),
        ),
        "no experts are chosen",
    ),
    Harmless(
        "NAM409",
        "chosen-by-logits-in-the-dtype-of-the-input",
        (
            scores("logits = F.linear(tokens, self.weight)"),
            Edit(HAWTHORN, RANKED, indented("chosen, indices = logits.topk(self.top_k, dim=-1)")),
            Edit(HAWTHORN, WEIGHED, indented("return chosen.softmax(dim=-1, dtype=torch.float32), indices")),
        ),
        "the softmax runs in fp32",
    ),
    _sunk("sinks-in-fp32", "fp32 wins", "return torch.cat((logits, sinks), dim=-1).softmax(dim=-1)[..., :-1]"),
    _sunk(
        "softmax-in-fp32",
        "it runs in fp32",
        "joined = torch.cat((logits, sinks.to(logits.dtype)), dim=-1)",
        "return joined.softmax(dim=-1, dtype=torch.float32)[..., :-1]",
    ),
    _sunk(
        "handed-fp32",
        "the caller hands fp32 in",
        "joined = torch.cat((logits, sinks.to(logits.dtype)), dim=-1)",
        "return joined.softmax(dim=-1)[..., :-1]",
        logits=LOGITS,
    ),
    _sunk(
        "result-cast-down",
        "attention chooses nobody",
        "joined = torch.cat((logits.float(), sinks), dim=-1)",
        "return joined.softmax(dim=-1).to(logits.dtype)[..., :-1]",
    ),
    Harmless(
        "NAM409",
        "attention-without-sinks",
        (
            Edit(
                HAWTHORN,
                LOGITS,
                LOGITS
                + "        plain = (query @ key.transpose(-1, -2)).softmax(dim=-1) @ value\n        hidden = hidden + plain.sum()\n",
            ),
        ),
        "only sinks demand fp32",
    ),
]


def _asks(name: str, why: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM605", name, (asked(*lines), *more), why)


REMEMBERED = "        self.is_routed = layer_index >= config.num_dense_layers\n"
MLP = "            self.mlp = DenseMLP(config.hidden_size, config.intermediate_size, dtype=dtype)\n"
MARKED = "if self.is_routed:"
ASKED = [
    Harmless(
        "NAM605",
        "in-the-constructor",
        (Edit(HORNBEAM, MLP, f"{MLP}        self.is_routed = isinstance(self.mlp, MaskedMoE)\n"),),
        "nothing is wrapped yet",
    ),
    Harmless(
        "NAM605",
        "in-the-initialiser-of-the-layer",
        (
            Edit(
                HORNBEAM,
                LAYER_FORWARD,
                "    def init_weights(self, std, buffer_device=None):\n"
                f"        assert isinstance(self.mlp, (MaskedMoE, DenseMLP))\n\n{LAYER_FORWARD}",
            ),
        ),
        "it does not run in forward",
    ),
    Harmless(
        "NAM605",
        "in-a-method-of-the-whole-model",
        (
            Edit(
                HORNBEAM,
                "            if layer.is_routed:\n",
                "            if isinstance(layer.mlp, MaskedMoE):\n",
            ),
        ),
        "no forward code of a block",
    ),
    _asks(
        "wrapped-module-by-hand",
        "the wrapped module is asked",
        'if isinstance(getattr(self.mlp, "_checkpoint_wrapped_module", self.mlp), MaskedMoE):',
        *THEN,
    ),
    _asks(
        "wrapped-module-by-a-helper",
        "the wrapped module is asked",
        "if isinstance(_unwrapped(self.mlp), MaskedMoE):",
        *THEN,
        more=(
            Edit(
                HORNBEAM,
                "class HornbeamDecoderLayer(",
                "def _unwrapped(module):\n"
                '    return getattr(module, "_checkpoint_wrapped_module", module)\n\n\nclass HornbeamDecoderLayer(',
            ),
        ),
    ),
    _asks(
        "wrapped-module-in-a-local",
        "the wrapped module is asked",
        'inner = getattr(self.mlp, "_checkpoint_wrapped_module", self.mlp)',
        "if isinstance(inner, MaskedMoE):",
        *THEN,
    ),
    _asks("any-module", "a wrapper is one, too", MARKED, "    assert isinstance(self.mlp, nn.Module)", *THEN),
    _asks("a-tensor", "a tensor is no child", MARKED, "    assert isinstance(normed, torch.Tensor)", *THEN),
    _asks("a-mask", "a mask is no child", "if self.is_routed and not isinstance(attention_mask, tuple):", *THEN),
    _asks("a-number", "a number is no module", MARKED, "    assert isinstance(self.is_routed, bool)", *THEN),
    _asks("what-it-has", "no test of its class", 'if hasattr(self.mlp, "gate"):', *THEN),
    _asks(
        "result-of-a-child",
        "a tensor is no child",
        "mixed = self.mlp(normed, attention_mask) if self.is_routed else self.mlp(normed)",
        "return hidden + (mixed[0] if isinstance(mixed, tuple) else mixed)",
    ),
    _asks(
        "protocol",
        "no module class",
        MARKED,
        "    assert isinstance(self.mlp, Callable)",
        *THEN,
        more=(imported(HORNBEAM, "from collections.abc import Callable"),),
    ),
]

HARMLESS = [*ROUTED, *ASKED]
