"""What looks like a fault of the fp32 pins (NAM401-NAM403, NAM406-NAM408, NAM410) and is none."""

from __future__ import annotations

from . import BASE, Edit, Harmless
from .pinned import A_LOG, DECAY, IN_MIXER, PINS_SKIP, ROUTING_BIAS, SKIP
from .pins import (
    ALL,
    BIAS,
    CLASS,
    HAWTHORN,
    HOLDER,
    IN_ROUTER,
    LARCH,
    LARCH_LIST,
    LAYERS,
    NAME,
    PLAIN,
    ROTARY,
    STRICT,
    above,
    added,
    beside,
    constructed,
    instead,
    later,
    more,
)
from .policy import POLICY

# -- NAM401 -------------------------------------------------------------------------------------------------------


def _pins(name: str, *edits: Edit, why: str = "everything is pinned") -> Harmless:
    return Harmless("NAM401", name, edits, why)


def _in_router(name: str, why: str, *lines: str) -> Harmless:
    return Harmless("NAM401", f"router-{name}", (added(IN_ROUTER, *lines),), why)


_REST = f"{BIAS}, {ROTARY}"
_ZEROS = "torch.zeros(4, dtype=torch.float32)"

PINNED = [
    _pins("tuple-with-an-annotation", instead(f"{STRICT}: tuple[str, ...] = ({HOLDER}, {_REST})")),
    _pins("set-of-two-sets", instead(f"{STRICT} = {{{HOLDER}}} | {{{_REST}}}")),
    _pins("union", instead(f"{STRICT} = {{{HOLDER}}}.union([{_REST}])")),
    _pins("sum-of-constants", above(f"_STATE = [{HOLDER}]\n_REST = [{_REST}]"), instead(f"{STRICT} = _STATE + _REST")),
    _pins(
        "spread-constants", above(f"_STATE, _REST = ({HOLDER},), ({_REST})"), instead(f"{STRICT} = [*_STATE, *_REST]")
    ),
    _pins("function", above(f"def _pins():\n    return {ALL}"), instead(f"{STRICT} = _pins()")),
    _pins(
        "all-from-another-class",
        above(f"class Pins:\n    {STRICT} = ({ALL[1:-1]})"),
        instead(f"{STRICT} = Pins.{STRICT}"),
    ),
    _pins(
        "filled-in-the-class-body",
        instead(f"{STRICT} = [{HOLDER}]", f"{STRICT}.append({BIAS})", f"{STRICT} += [{ROTARY}]"),
    ),
    _pins("filled-in-a-loop", instead(f"{STRICT} = []", f"for _name in {ALL}:", f"    {STRICT}.append(_name)")),
    _pins(
        "set-in-both-branches",
        instead("if __debug__:", f"    {STRICT} = {ALL}", "else:", f"    {STRICT} = ({ALL[1:-1]})"),
    ),
    _pins("all-on-the-class-from-outside", instead(), later(f"HawthornForCausalLM.{STRICT} = {ALL}")),
    _pins("extended-from-outside", instead(f"{STRICT} = []"), later(f"HawthornForCausalLM.{STRICT}.extend({ALL})")),
    _pins("extended-by-the-constructor", instead(f"{STRICT} = [{HOLDER}]"), constructed(f"self.{STRICT} += [{_REST}]")),
    _pins(
        "extended-on-its-type-by-the-constructor",
        instead(f"{STRICT} = [{HOLDER}]"),
        constructed(f"type(self).{STRICT} = [*type(self).{STRICT}, {_REST}]"),
    ),
    _pins(
        "all-by-a-helper-that-gets-the-model",
        above(f"def _pin(model):\n    for name in ({_REST}):\n        model.{STRICT}.append(name)"),
        instead(f"{STRICT} = [{HOLDER}]"),
        constructed("_pin(self)"),
    ),
    _pins("parts-of-the-names", instead(f'{STRICT} = ["_fp32", "score_corr", ".inv_"]')),
    _pins("by-their-own-names", instead(f'{STRICT} = ["A_log", "dt_bias", "sinks", {_REST}]')),
    _pins(
        "inherited-from-another-file",
        Edit(LARCH, LARCH_LIST, ""),
        Edit(BASE, POLICY, f'{POLICY}    {STRICT} = [{ROTARY}, "slopes"]\n'),
        Edit(
            LARCH,
            "        self.attention_window = config.attention_window\n",
            '        self.register_buffer("slopes", torch.ones(config.num_attention_heads, dtype=torch.float32))\n'
            "        self.attention_window = config.attention_window\n",
        ),
    ),
    _pins(
        "computed-list",
        instead(f"{PLAIN} = [{ROTARY}]"),
        constructed(f'self.{STRICT} = [n for n, p in self.named_parameters() if n.endswith("_log")]'),
        why="nobody knows what is in it",
    ),
    _in_router(
        "cast-by-float", "`.float()` only undoes what was before", "self.load = nn.Buffer(torch.zeros(4).float())"
    ),
    _in_router("whole-numbers", "no dtype of the model", "self.load = nn.Buffer(torch.zeros(4, dtype=torch.int64))"),
    _in_router("plain-tensor", "no buffer, so no cast meets it", f"self.load = {_ZEROS}"),
    _in_router(
        "local-tensor", "it is gone after the constructor", f"load = {_ZEROS}", "self.total = load.sum().item()"
    ),
    _in_router("listed-parameters", "a plain list registers nothing", f"self.extra = [nn.Parameter({_ZEROS})]"),
    _in_router("taken-back", "it is not there", f"self.load = nn.Buffer({_ZEROS})", "del self.load"),
    _in_router("replaced", "it is not there", f'self.register_buffer("load", {_ZEROS})', "self.load = None"),
    _in_router("no-tensor", "nothing is registered", 'self.register_buffer("load", None)'),
    _in_router(
        "ruled-out", "a literal rules it out", "tracked = False", "if tracked:", f"    self.load = nn.Buffer({_ZEROS})"
    ),
    _in_router(
        "field-that-does-not-exist",
        "the config has no such field, so the default counts",
        'if getattr(config, "track_load", False):',
        f"    self.load = nn.Buffer({_ZEROS})",
    ),
    _in_router(
        "rotary-table", "NAM405 looks after these", f'self.register_buffer("freqs_cis", {_ZEROS}, persistent=False)'
    ),
    _pins("property", instead("@property", f"def {STRICT}(self):", f"    return {ALL}")),
    _pins(
        "class-decorator",
        above(f"def pinned(cls):\n    cls.{STRICT} = {ALL}\n    return cls", line="@pinned\n" + CLASS),
        instead(),
    ),
    _pins(
        "init-subclass",
        above(
            f"class Pinned:\n    def __init_subclass__(cls, pins=(), **kwargs):\n        super().__init_subclass__(**kwargs)\n        cls.{STRICT} = list(pins)",
            line=f"{NAME}Pinned, HFCheckpointingMixin, nn.Module, pins={ALL}):\n",
        ),
        instead(),
    ),
    _pins("walrus", instead(f"_pinned = ({STRICT} := {ALL})")),
    _pins("slice", instead(f"{STRICT} = [{HOLDER}]", f"{STRICT}[1:] = [{BIAS}, {ROTARY}]")),
    _pins("instance-dict", instead(f"{STRICT} = [{HOLDER}]"), constructed(f'self.__dict__["{STRICT}"] = {ALL}')),
    _pins("instance-vars", instead(f"{STRICT} = [{HOLDER}]"), constructed(f"vars(self).update({STRICT}={ALL})")),
    _pins("comprehension", instead(f'{STRICT} = [f"{{name}}" for name in ({ALL[1:-1]})]')),
    _pins("split", instead(f'{STRICT} = "_fp32_params gate.e_score_correction_bias rotary_emb.inv_freq".split()')),
    _pins(
        "function-with-arguments",
        above("def _listed(*names):\n    return list(names)"),
        instead(f"{STRICT} = _listed({ALL[1:-1]})"),
    ),
    _pins(
        "computed-by-the-constructor",
        constructed(f"self.{STRICT} = [n for n, t in self.state_dict().items() if t.dtype is torch.float32]"),
    ),
]

# -- NAM402 -------------------------------------------------------------------------------------------------------


def _alive(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM402", name, edits, why)


_ADAPTER = HAWTHORN.replace("model.py", "state_dict_adapter.py")

ALIVE = [
    _alive("one-layer-of-many", "a layer may have this index", more('"layers.7.mixer._fp32_params"')),
    _alive("one-expert-of-many", "there is such a module", more('"layers.0.mlp.gate.e_score"')),
    _alive("full-name", "that is the name", more('"model.layers.11.self_attn._fp32_params.sinks"')),
    _alive("other-side-of-a-branch", "a layer may attend", more('"self_attn._fp32_params"')),
    _alive("part-of-a-word", "it is part of a name", more('"A_lo"')),
    _alive(
        "buffer-under-a-condition",
        "it may be there",
        added(IN_ROUTER, "if config.n_routed_experts > 8:", f"    self.load = nn.Buffer({_ZEROS})"),
        more('"gate.load"'),
    ),
    _alive(
        "module-without-tensors",
        "there is such a module",
        added(IN_MIXER, "self.skip = nn.Identity()"),
        more('"mixer.skip"'),
    ),
    _alive(
        "module-without-source",
        "nobody knows what names it has",
        added(IN_MIXER, "from fused_ops import Conv", "", "self.conv1d = Conv(hidden_size)"),
        more('"conv1d.weight"'),
    ),
    _alive(
        "inherited-pattern",
        "the base is not registered",
        Edit(LARCH, LARCH_LIST, ""),
        Edit(BASE, POLICY, f'{POLICY}    {STRICT} = [{ROTARY}, "conv1d"]\n'),
    ),
    _alive(
        "name-of-the-checkpoint",
        "the adapter knows it",
        Edit(_ADAPTER, '.replace(".mixer.", ".ssm.")', '.replace(".mixer.", ".ssm.").replace(".gate.", ".moe.gate.")'),
        Edit(
            _ADAPTER,
            'key.replace(".ssm.", ".mixer.")',
            'key.replace(".ssm.", ".mixer.").replace(".moe.gate.", ".gate.")',
        ),
        more('"moe.gate"'),
    ),
]

# -- NAM403 -------------------------------------------------------------------------------------------------------


def _fine(name: str, value: str, *lines: str) -> Harmless:
    edits = (beside(f"{PLAIN} = {value}"), *([above(*lines)] if lines else []))
    return Harmless("NAM403", name, edits, "a list, tuple or set of names, or nothing")


FINE = [
    _fine("extended-by-an-iterator", "[*map(str, _SINKS)]", '_SINKS = ("sinks",)'),
    _fine("spread-keys", '[*{"sinks": 1}.keys()]'),
    _fine("nothing", "None"),
    _fine("empty-list", "[]"),
    _fine("empty-tuple", "()"),
    _fine("empty-set", "set()"),
    _fine("tuple-of-one", '"sinks",'),
    _fine("list-of-a-set", 'list({"sinks"})'),
    _fine("list-of-the-keys", 'list({"sinks": 1})'),
    _fine("sorted", 'sorted({"sinks", "A_log"})'),
    _fine("string-that-is-split", '"sinks A_log".split()'),
    _fine("list-of-a-generator", 'tuple(name for name in ("sinks", "A_log"))'),
    _fine("strings-that-are-joined", '["si" "nks", "dt" + "_bias"]'),
    _fine("none-or-a-list", "_NONE or _SINKS", '_NONE, _SINKS = None, ["sinks"]'),
    _fine("function", '_listed("sinks")', "def _listed(*names):\n    return list(names)"),
    _fine("extended-by-a-generator", f'["A_log"]\n    {PLAIN} += (name for name in ("sinks",))'),
    Harmless("NAM403", "annotation-without-a-value", (beside(f"{PLAIN}: list[str]"),), "nothing is assigned"),
    Harmless("NAM403", "another-attribute", (beside(f'{PLAIN}_note = "sinks"'),), "nobody reads it"),
    Harmless("NAM403", "local-of-the-constructor", (constructed(f'{PLAIN} = "sinks"'),), "a local, not the attribute"),
]

# -- NAM406 -------------------------------------------------------------------------------------------------------


def _strict(name: str, *edits: Edit, why: str = "the strict list has them, too") -> Harmless:
    return Harmless("NAM406", name, edits, why)


STRICTLY = [
    _strict("in-both-lists", beside(f"{PLAIN} = [{HOLDER}, {BIAS}]")),
    _strict("one-list-for-both", instead(f"{STRICT} = {PLAIN} = {ALL}")),
    _strict("strict-list-from-the-other", instead(f"{PLAIN} = [{HOLDER}]", f"{STRICT} = [*{PLAIN}, {_REST}]")),
    _strict(
        "taken-over-by-the-constructor", instead(f"{PLAIN} = {ALL}"), constructed(f"self.{STRICT} = list(self.{PLAIN})")
    ),
    _strict(
        "covered-by-another-pattern",
        instead(f'{STRICT} = ["_params", {_REST}]', f'{PLAIN} = ["mixer._fp32_params", "sinks"]'),
    ),
    _strict(
        "rotary-table",
        instead(f"{STRICT} = [{HOLDER}, {BIAS}]", f"{PLAIN} = [{ROTARY}]"),
        why="either list keeps a rotary table",
    ),
    _strict(
        "plain-list-under-a-name-of-its-own",
        beside(f"kept = [{HOLDER}]"),
        why="that is neither list",
    ),
]

# -- NAM407 -------------------------------------------------------------------------------------------------------


def _held(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM407", name, edits, why)


_D = "self.D = nn.Parameter(torch.ones(num_heads, dtype=torch.float32))"


def _frozen(name: str, *lines: str) -> Harmless:
    return _held(name, "it is not trained", added(IN_MIXER, *lines), PINS_SKIP)


HELD = [
    _held("frozen", "it is not trained", added(IN_MIXER, SKIP[:-1] + ", requires_grad=False)"), PINS_SKIP),
    _held("frozen-by-position", "it is not trained", added(IN_MIXER, SKIP[:-1] + ", False)"), PINS_SKIP),
    _held(
        "buffer",
        "buffers are not sharded",
        added(IN_MIXER, "self.D = nn.Buffer(torch.ones(num_heads, dtype=torch.float32))"),
        PINS_SKIP,
    ),
    _held(
        "holder-by-another-name",
        "nothing but fp32 is in it",
        Edit(LAYERS, DECAY, "        self.decay = Decay(num_heads)\n"),
        instead(f'{STRICT} = ["decay", "sinks", {_REST}]'),
    ),
    _held(
        "table-of-parameters",
        "nothing but fp32 is in it",
        added(
            IN_MIXER, 'self.skip = nn.ParameterDict({"D": nn.Parameter(torch.ones(num_heads, dtype=torch.float32))})'
        ),
        more('"skip.D"'),
    ),
    _held(
        "projection-in-fp32",
        "nothing but fp32 is in it",
        added(IN_MIXER, "self.skip = nn.Linear(num_heads, 1, bias=False, dtype=torch.float32)"),
        more('"mixer.skip"'),
    ),
    _held(
        "holder-in-a-list",
        "nothing but fp32 is in it",
        Edit(LAYERS, DECAY, "        self.decays = nn.ModuleList([Decay(num_heads)])\n"),
        instead(f'{STRICT} = ["decays.", "sinks", {_REST}]'),
    ),
    _frozen("frozen-by-method", _D, "self.D.requires_grad_(False)"),
    _frozen("frozen-by-attribute", _D, "self.D.requires_grad = False"),
    _frozen("frozen-in-a-chain", _D + ".requires_grad_(False)"),
    _frozen("frozen-in-a-loop", _D, "for parameter in self.parameters():", "    parameter.requires_grad = False"),
    _frozen("frozen-as-a-whole", _D, "self.requires_grad_(False)"),
]

# -- NAM408 -------------------------------------------------------------------------------------------------------


def _high(name: str, value: str, why: str = "allocated in fp32") -> Harmless:
    return Harmless("NAM408", name, (Edit(LAYERS, A_LOG, f"        self.A_log = nn.Parameter({value})\n"),), why)


HIGH = [
    _high("torch-float", "torch.zeros(num_heads, dtype=torch.float)"),
    _high("cast-up", "torch.zeros(num_heads).to(torch.float32)"),
    _high("cast-up-by-float", "torch.zeros(num_heads).float()"),
    _high("logarithm-of-a-range", "torch.arange(1, num_heads + 1, dtype=torch.float32).log()"),
    _high("like-another", "torch.zeros_like(torch.empty(num_heads), dtype=torch.float32)"),
    _high("double", "torch.zeros(num_heads, dtype=torch.float64)", "no low precision"),
    _high("loaded", 'torch.load("decay.pt")', "nobody knows its dtype"),
    _high("cast-down-and-up", "torch.zeros(num_heads, dtype=torch.bfloat16).to(torch.float32)"),
    Harmless(
        "NAM408",
        "dtype-by-default",
        (
            Edit(
                LAYERS,
                "    def __init__(self, num_heads: int):\n        super().__init__()\n" + A_LOG,
                "    def __init__(self, num_heads: int, dtype: torch.dtype = torch.float32):\n"
                "        super().__init__()\n" + A_LOG.replace("torch.float32", "dtype"),
            ),
        ),
        "nobody gives another dtype",
    ),
    Harmless(
        "NAM408",
        "whole-numbers",
        (Edit(LAYERS, ROUTING_BIAS, ROUTING_BIAS.replace("torch.float32", "torch.int64")),),
        "no low precision",
    ),
    Harmless(
        "NAM408",
        "in-the-dtype-of-the-model-and-not-pinned",
        (added(IN_MIXER, "self.D = nn.Parameter(torch.ones(num_heads, dtype=dtype))"),),
        "no list has it",
    ),
]

# -- NAM410 -------------------------------------------------------------------------------------------------------


def _narrow(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM410", name, edits, why)


NARROW = [
    _narrow(
        "projection-by-its-name",
        "it names the projection",
        added(IN_MIXER, "self.skip_proj = nn.Linear(num_heads, 1, dtype=torch.float32)"),
        more('"skip_proj"'),
    ),
    _narrow("up-to-the-dot", "`gate_proj` has no dot there", more('"gate.e_"')),
    _narrow("all-holders", "every parameter in them is fp32", more('"self_attn._fp32_params."')),
    _narrow("buffers-only", "no parameter has it in its name", more('"bias"')),
    _narrow(
        "module-with-nothing-but-fp32",
        "every parameter in it is fp32",
        added(
            IN_MIXER,
            "self.skip = nn.Sequential(",
            "    nn.Linear(num_heads, 2, dtype=torch.float32), nn.Linear(2, 1, dtype=torch.float32)",
            ")",
        ),
        more('"skip"'),
    ),
]

HARMLESS = [*PINNED, *ALIVE, *FINE, *STRICTLY, *HELD, *HIGH, *NARROW]
