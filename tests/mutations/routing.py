"""NAM409: experts that are chosen, and attention with sinks that is normalised, in too low a precision."""

from __future__ import annotations

from . import PACKAGE, Edit, Fault

GATE = f"{PACKAGE}/components/moe/layers.py"
HAWTHORN = f"{PACKAGE}/components/models/hawthorn/layers.py"

SHARED_SCORES = "        scores = F.linear(tokens.to(precision), self.weight.to(precision)).float().sigmoid()\n"
SCORES = "        scores = F.linear(tokens.float(), self.weight.float()).sigmoid()\n"
RANKED = "        indices = (scores + self.e_score_correction_bias).topk(self.top_k, dim=-1).indices\n"
WEIGHED = (
    "        weights = scores.gather(-1, indices)\n        return weights / weights.sum(-1, keepdim=True), indices\n"
)
ROUTER = "class Router(nn.Module):\n"
EXPERTS = "\n\nclass Experts(nn.Module):\n"
MATRIX = "        self.weight = nn.Parameter(torch.empty(config.n_routed_experts, config.hidden_size, dtype=dtype))\n"
LOGITS = "        logits = query.float() @ key.float().transpose(-1, -2) * self.head_dim**-0.5\n"
COARSE = "        logits = query @ key.transpose(-1, -2) / 8\n"
PROJECTED = """        query, key, value = (
            projection(hidden).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # [B, heads, S, D]
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
"""
ONE_BY_ONE = "".join(
    f"        {name} = self.{name[0]}_proj(hidden).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)\n"
    for name in ("query", "key", "value")
)
SINKS = "        return torch.cat((logits.float(), sinks), dim=-1).softmax(dim=-1)[..., :-1]\n"


def lines(*texts: str) -> str:
    """Lines of a method's body."""
    return "".join(f"        {text}\n" for text in texts)


def scores(*texts: str) -> Edit:
    """Other lines where Hawthorn's router scores the experts."""
    return Edit(HAWTHORN, SCORES, lines(*texts))


def sinks(*texts: str) -> Edit:
    """Other lines where Hawthorn's sinks join the logits."""
    return Edit(HAWTHORN, SINKS, lines(*texts))


def _router(name: str, *texts: str, at: str = "", more: tuple[Edit, ...] = ()) -> Fault:
    return Fault("NAM409", name, (scores(*texts), *more), at=at or texts[-1])


def _sinks(name: str, *texts: str, at: str = "softmax(", logits: str = COARSE) -> Fault:
    return Fault(
        "NAM409", name, (sinks(*texts), Edit(HAWTHORN, PROJECTED, ONE_BY_ONE), Edit(HAWTHORN, LOGITS, logits)), at=at
    )


ROUTERS = [
    _router("sigmoid", "scores = F.linear(tokens, self.weight).sigmoid()"),
    _router("softmax", "scores = F.linear(tokens, self.weight).softmax(dim=-1)"),
    _router("function-of-torch", "logits = F.linear(tokens, self.weight)", "scores = torch.sigmoid(logits)"),
    _router("functional", "logits = tokens @ self.weight.t()", "scores = F.softmax(logits, dim=-1)"),
    _router(
        "functional-by-another-name", "scores = nn.functional.softmax(torch.matmul(tokens, self.weight.t()), dim=-1)"
    ),
    _router("module-on-the-spot", "scores = nn.Softmax(dim=-1)(F.linear(tokens, self.weight))"),
    _router("cast-up-too-late", "scores = F.linear(tokens, self.weight).sigmoid().float()"),
    _router("dtype-of-the-input", "scores = F.linear(tokens, self.weight).softmax(-1, dtype=tokens.dtype)"),
    _router(
        "cast-down-again",
        "logits = F.linear(tokens.float(), self.weight.float())",
        "scores = logits.to(tokens.dtype).sigmoid()",
    ),
    _router("low-dtype", "scores = F.linear(tokens, self.weight).softmax(-1, dtype=torch.bfloat16)"),
    _router(
        "in-a-method",
        "scores = self._scores(tokens)",
        at="return F.linear(tokens, self.weight)",
        more=(
            Edit(
                HAWTHORN,
                EXPERTS,
                f"\n    def _scores(self, tokens):\n        return F.linear(tokens, self.weight).sigmoid()\n{EXPERTS}",
            ),
        ),
    ),
    _router(
        "in-a-function",
        "scores = _scores(F.linear(tokens, self.weight))",
        at="return torch.softmax(logits",
        more=(Edit(HAWTHORN, ROUTER, f"def _scores(logits):\n    return torch.softmax(logits, dim=-1)\n\n\n{ROUTER}"),),
    ),
    _router(
        "projection-by-a-module",
        "scores = self.score(tokens).sigmoid()",
        more=(
            Edit(
                HAWTHORN,
                MATRIX,
                f"{MATRIX}        self.score = nn.Linear(config.hidden_size, config.n_routed_experts, dtype=dtype)\n",
            ),
        ),
    ),
    _router(
        "softmax-by-a-module",
        "scores = self.normalise(F.linear(tokens, self.weight))",
        more=(Edit(HAWTHORN, MATRIX, f"{MATRIX}        self.normalise = nn.Softmax(dim=-1)\n"),),
    ),
    _router(
        "on-one-side",
        "logits = F.linear(tokens, self.weight)",
        "if self.training:",
        "    logits = logits.float()",
        "scores = logits.sigmoid()",
    ),
    Fault(
        "NAM409",
        "result-cast-down-and-ranked-without-a-bias",
        (
            scores("scores = F.linear(tokens.float(), self.weight.float()).softmax(-1).type_as(tokens)"),
            Edit(HAWTHORN, RANKED, RANKED.replace("(scores + self.e_score_correction_bias)", "scores")),
        ),
        at="scores = F.linear(",
    ),
    Fault(
        "NAM409",
        "only-one-is-chosen",
        (
            scores("scores = F.linear(tokens, self.weight).sigmoid()"),
            Edit(HAWTHORN, RANKED, lines("indices = scores.argmax(dim=-1, keepdim=True)")),
        ),
        at="scores = F.linear(",
    ),
    Fault(
        "NAM409",
        "chosen-by-their-logits",
        (
            scores("logits = F.linear(tokens, self.weight)"),
            Edit(HAWTHORN, RANKED, lines("chosen, indices = logits.topk(self.top_k, dim=-1)")),
            Edit(HAWTHORN, WEIGHED, lines("return chosen.softmax(dim=-1), indices")),
        ),
        at="return chosen.softmax(",
    ),
    Fault(
        "NAM409",
        "shared-gate",
        (Edit(GATE, SHARED_SCORES, SHARED_SCORES.replace(".float()", "")),),
        at="scores = F.linear(",
    ),
    Fault(
        "NAM409",
        "shared-gate-in-the-dtype-of-the-tokens",
        (Edit(GATE, SHARED_SCORES, SHARED_SCORES.replace(".float()", ".to(tokens.dtype)")),),
        at="scores = F.linear(",
    ),
]

ATTENTION = [
    _sinks(
        "sinks-cast-down",
        "joined = torch.cat((logits, sinks.to(logits.dtype)), dim=-1)",
        "return joined.softmax(dim=-1)[..., :-1]",
    ),
    _sinks(
        "sinks-as-their-neighbour",
        "joined = torch.cat([logits, sinks.type_as(logits)], dim=-1)",
        "return F.softmax(joined, dim=-1)[..., :-1]",
    ),
    _sinks(
        "joined-and-cast-down",
        "joined = torch.cat((logits, sinks), dim=-1).to(logits.dtype)",
        "return torch.softmax(joined, -1)[..., :-1]",
    ),
    _sinks(
        "cast-down-though-handed-fp32",
        "joined = torch.cat((logits, sinks), dim=-1).bfloat16()",
        "return torch.softmax(joined, -1)[..., :-1]",
        logits=LOGITS,
    ),
]

FAULTS = [*ROUTERS, *ATTENTION]
