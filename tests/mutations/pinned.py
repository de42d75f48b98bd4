"""NAM406-NAM408, NAM410: what is pinned by the wrong list, lies or is allocated wrong, or is pinned by accident."""

from __future__ import annotations

from . import Edit, Fault, Place, model
from .pins import (
    ALL,
    BIAS,
    HAWTHORN,
    HOLDER,
    IN_MIXER,
    LARCH,
    LARCH_LIST,
    LAYERS,
    PLAIN,
    ROTARY,
    SPRUCE,
    SPRUCE_LIST,
    STRICT,
    above,
    added,
    beside,
    constructed,
    instead,
    later,
    more,
)

CEDAR = model("cedar")
A_LOG = "        self.A_log = nn.Parameter(torch.zeros(num_heads, dtype=torch.float32))\n"
SINKS = "        self.sinks = nn.Parameter(torch.zeros(num_heads, dtype=torch.float32))\n"
IN_ATTENTION = "        self._fp32_params = Sinks(num_heads)\n"
DECAY = "        self._fp32_params = Decay(num_heads)\n"
ROUTING_BIAS = '        self.register_buffer("e_score_correction_bias", torch.zeros(config.n_routed_experts, dtype=torch.float32))\n'
SKIP = "self.D = nn.Parameter(torch.ones(num_heads, dtype=torch.float32))"  # one more parameter, of the mixer
PINS_SKIP = more('"mixer.D"')
CEDAR_LIST = f'    {STRICT} = ["language_model.rotary_emb.inv_freq"]\n'

# -- NAM406 -------------------------------------------------------------------------------------------------------


def _loose(name: str, *edits: Edit, at: str = f"    {STRICT} = ", path: str = HAWTHORN) -> Fault:
    return Fault("NAM406", name, edits, at=at, path=path)


_NAME = "class HawthornForCausalLM("
_NO_HOLDER = f"[{BIAS}, {ROTARY}]"

LOOSE = [
    _loose("holder", instead(f"{STRICT} = {_NO_HOLDER}", f"{PLAIN} = [{HOLDER}]")),
    _loose("buffer", instead(f"{STRICT} = [{HOLDER}, {ROTARY}]", f"{PLAIN} = [{BIAS}]")),  # a warning
    _loose("no-strict-list", instead(f"{PLAIN} = {ALL}"), at=_NAME),
    _loose("strict-list-misspelled", instead(f"{PLAIN} = {ALL}", f"{STRICT}ly = {ALL}"), at=_NAME),
    _loose("part-of-the-holder", instead(f'{STRICT} = ["A_log", "sinks", {BIAS}, {ROTARY}]', f'{PLAIN} = ["dt_"]')),
    _loose(
        "set-of-a-constant", above(f"_KEPT = {{{HOLDER}}}"), instead(f"{STRICT} = {_NO_HOLDER}", f"{PLAIN} = _KEPT")
    ),
    _loose(
        "swapped",
        instead(f"{PLAIN}, {STRICT} = [{HOLDER}, {BIAS}], [{ROTARY}]"),
        at=f"{PLAIN}, {STRICT} = ",
    ),
    _loose(
        "added-by-the-constructor",
        instead(f"{STRICT} = {_NO_HOLDER}"),
        constructed(f'self.{PLAIN} = [*(getattr(self, "{PLAIN}", None) or ()), {HOLDER}]'),
    ),
    _loose(
        "inherited",
        above(f"class Kept:\n    {PLAIN} = [{HOLDER}]", line=f"{_NAME}Kept, HFCheckpointingMixin, nn.Module):\n"),
        instead(f"{STRICT} = {_NO_HOLDER}"),
    ),
    _loose(
        "strict-list-emptied",
        instead(f"{PLAIN} = {ALL}"),
        constructed(f"self.{STRICT} = []"),
        at=f"self.{STRICT} = []",
    ),
    _loose(
        "extended-from-outside", instead(f"{STRICT} = {_NO_HOLDER}"), later(f"HawthornForCausalLM.{PLAIN} = [{HOLDER}]")
    ),
    _loose(
        "bias-of-the-shared-gate",
        Edit(SPRUCE, SPRUCE_LIST, f'    {STRICT} = [{ROTARY}]\n    {PLAIN} = ["e_score_correction_bias"]\n'),
        path=SPRUCE,
    ),
]

# -- NAM407 (info) ------------------------------------------------------------------------------------------------


def _bare(name: str, *lines: str, at: str = "self.D = ") -> Fault:
    """A parameter of the mixer, pinned, beside its projections."""
    return Fault("NAM407", name, (added(IN_MIXER, *lines), PINS_SKIP), at=at)


BARE = [
    _bare("parameter", SKIP),
    _bare(
        "registered", 'self.register_parameter("D", nn.Parameter(torch.ones(num_heads, dtype=torch.float32)))', at='"D"'
    ),
    _bare(
        "setattr",
        'setattr(self, "D", nn.Parameter(torch.ones(num_heads, dtype=torch.float32)))',
        at='setattr(self, "D"',
    ),
    _bare("cast", "self.D = nn.Parameter(torch.ones(num_heads).to(torch.float32))"),
    _bare("trained-on-purpose", SKIP[:-1] + ", requires_grad=True)"),
    _bare("in-two-steps", "start = torch.ones(num_heads, dtype=torch.float)", "self.D = nn.Parameter(start)"),
    _bare("in-a-branch", "if num_heads > 1:", f"    {SKIP}", "else:", "    self.D = None"),
    Fault(
        "NAM407",
        "from-a-base",
        (
            Edit(
                LAYERS,
                "class StateSpaceMixer(nn.Module):\n",
                "class WithSkip(nn.Module):\n"
                '    """Adds what it is given."""\n\n'
                "    def __init__(self, num_heads: int):\n"
                f"        super().__init__()\n        {SKIP}\n\n\n"
                "class StateSpaceMixer(WithSkip):\n",
            ),
            Edit(
                LAYERS,
                "        super().__init__()\n        self.num_heads = num_heads\n",
                "        super().__init__(num_heads)\n        self.num_heads = num_heads\n",
            ),
            PINS_SKIP,
        ),
        at=SKIP,
    ),
    Fault(
        "NAM407", "sinks-beside-projections", (Edit(LAYERS, IN_ATTENTION, SINKS), more('"sinks"')), at="self.sinks = "
    ),
    Fault(
        "NAM407",
        "holder-with-a-projection",
        (
            Edit(LAYERS, DECAY, "        self.decay = Decay(num_heads)\n"),
            Edit(LAYERS, A_LOG, f"{A_LOG}        self.proj = nn.Linear(num_heads, num_heads, bias=False)\n"),
            instead(f'{STRICT} = ["A_log", "dt_bias", "sinks", {BIAS}, {ROTARY}]'),
        ),
        at="self.A_log = ",
    ),
]

# -- NAM408 -------------------------------------------------------------------------------------------------------


def _low(name: str, value: str) -> Fault:
    """Another start for the decay, which is pinned."""
    return Fault(
        "NAM408", name, (Edit(LAYERS, A_LOG, f"        self.A_log = nn.Parameter({value})\n"),), at="self.A_log = "
    )


def _pinned(name: str, pattern: str, at: str, path: str = LAYERS) -> Fault:
    """A parameter in the dtype of the model is pinned."""
    return Fault("NAM408", name, (more(pattern),), at=at, path=path)


_NO_DTYPE = ", dtype=torch.float32"

LOW = [
    _low("no-dtype", "torch.zeros(num_heads)"),
    _low("dtype-none", "torch.zeros(num_heads, dtype=None)"),
    _low("bfloat16", "torch.zeros(num_heads, dtype=torch.bfloat16)"),
    _low("half", "torch.zeros(num_heads, dtype=torch.half)"),
    _low("default-of-torch", "torch.zeros(num_heads, dtype=torch.get_default_dtype())"),
    _low("cast-down", "torch.zeros(num_heads, dtype=torch.float32).to(torch.bfloat16)"),
    _low("cast-down-by-keyword", "torch.zeros(num_heads, dtype=torch.float32).to(dtype=torch.float16)"),
    _low("cast-down-by-name", "torch.zeros(num_heads, dtype=torch.float32).bfloat16()"),
    _low("negated", "-torch.ones(num_heads)"),
    _low("random-numbers", "torch.rand(num_heads)"),
    Fault(
        "NAM408", "buffer", (Edit(LAYERS, ROUTING_BIAS, ROUTING_BIAS.replace(_NO_DTYPE, "")),), at="register_buffer("
    ),
    Fault(
        "NAM408",
        "dtype-of-the-model",
        (Edit(LAYERS, ROUTING_BIAS, ROUTING_BIAS.replace("torch.float32", "dtype")),),
        at="register_buffer(",
    ),
    Fault("NAM408", "sinks", (Edit(LAYERS, SINKS, SINKS.replace(_NO_DTYPE, "")),), at="self.sinks = "),
    Fault(
        "NAM408",
        "pinned-by-the-other-list",
        (
            added(IN_MIXER, "self.D = nn.Parameter(torch.ones(num_heads, dtype=dtype))"),
            beside(f'{PLAIN} = ["mixer.D"]'),
        ),
        at="self.D = ",
        path=LAYERS,
    ),
    _pinned("weight-of-the-router", '"gate.weight"', "self.weight = "),
    _pinned("projection", '"mixer.step_proj"', "self.step_proj = "),
    _pinned("norm", '"model.norm"', "self.norm = nn.RMSNorm(", path=HAWTHORN),
    _pinned("head-of-a-factory", '"lm_head"', "self.lm_head = initialize_linear_module(", path=HAWTHORN),
    _pinned("shared-layer", '"self_attn.q_proj"', "q_proj", path=HAWTHORN),
    Fault(
        "NAM408",
        "shared-gate",
        (Edit(SPRUCE, SPRUCE_LIST, f'    {STRICT} = ["mlp.gate.", {ROTARY}]\n'),),
        at="mlp.gate.",
    ),
]

# -- NAM410 -------------------------------------------------------------------------------------------------------


def _broad(name: str, *edits: Edit, at: str = STRICT, also: tuple[Place, ...] = ()) -> Fault:
    return Fault("NAM410", name, edits, at=at, also=also)


BROAD = [
    _broad("end-of-a-word", more('"proj"')),
    _broad("middle-of-a-word", more('"layernorm"')),
    _broad("start-of-a-word", more('"embed"')),
    _broad("one-letter", more('"e"')),
    _broad("underscore", more('"_"')),
    _broad("module-around-it", instead(f'{STRICT} = ["mixer", "sinks", {BIAS}, {ROTARY}]')),
    _broad("module-and-a-dot", more('"self_attn."')),
    _broad("all-experts", more('"experts"')),
    _broad("whole-backbone", instead(f'{STRICT} = ["model"]')),
    _broad("start-of-another-name", more('"gate"'), also=(Place("NAM408", LAYERS, "self.weight = "),)),
    _broad("f-string", above('_BLOCK = "mixer"'), more('f"{_BLOCK}.in"')),
    _broad("constant", above('_WIDE = ["mlp"]'), instead(f"{STRICT} = {ALL} + _WIDE"), at="_WIDE = "),
    _broad("appended-by-the-constructor", constructed(f'self.{STRICT}.append("mixer")'), at=".append("),
    _broad("in-the-other-list", beside(f'{PLAIN} = ("mlp",)'), at=PLAIN),
    _broad(
        "in-both-lists",
        instead(f'{STRICT} = [*{ALL}, "mixer"]', f'{PLAIN} = ["mixer"]'),
        also=(Place("NAM410", HAWTHORN, f"{PLAIN} = "),),
    ),
    _broad("feed-forward-of-a-heir", Edit(LARCH, LARCH_LIST, f'    {STRICT} = [{ROTARY}, "mlp"]\n')),
    _broad("vision-tower", Edit(CEDAR, CEDAR_LIST, CEDAR_LIST.replace("= [", '= ["vision", '))),
    _broad("language-model", Edit(CEDAR, CEDAR_LIST, f'    {STRICT} = ["language_model"]\n')),
    _broad("one-layer", more('"layers.0."')),
    _broad("one-layer-of-one-kind", more('"layers.1.mixer"')),
    _broad("one-expert", more('"experts.0"')),
    _broad("every-weight", more('"weight"')),
]

FAULTS = [*LOOSE, *BARE, *LOW, *BROAD]
