"""NAM401-NAM403: what must stay in fp32, and whether the lists that pin it say what they mean."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, Place, model
from .policy import POLICY

HAWTHORN, LARCH, SPRUCE = model("hawthorn"), model("larch"), model("spruce")
LAYERS = f"{PACKAGE}/components/models/hawthorn/layers.py"
STRICT = "_keep_in_fp32_modules_strict"
PLAIN = "_keep_in_fp32_modules"
HOLDER, BIAS, ROTARY = '"_fp32_params"', '"gate.e_score_correction_bias"', '"rotary_emb.inv_freq"'
ALL = f"[{HOLDER}, {BIAS}, {ROTARY}]"
LIST = f"    {STRICT} = {ALL}\n"
LARCH_LIST = f"    {STRICT} = [{ROTARY}]\n"
SPRUCE_LIST = f'    {STRICT} = ["mlp.gate.e_score_correction_bias", {ROTARY}]\n'
NAME = "class HawthornForCausalLM("
CLASS = f"{NAME}HFCheckpointingMixin, nn.Module):\n"
EXPORT = "ModelClass = HawthornForCausalLM\n"
MODEL_SET = "        self.model = HawthornModel(config)\n"
IN_ROUTER = "        self.top_k = config.num_experts_per_tok\n"
IN_MIXER = "        self.step_proj = nn.Linear(hidden_size, num_heads, bias=False, dtype=dtype)\n"


def instead(*lines: str) -> Edit:
    """Something else where Hawthorn's strict list is."""
    return Edit(HAWTHORN, LIST, "".join(f"    {line}\n" for line in lines))


def beside(*lines: str) -> Edit:
    """Something beside Hawthorn's strict list."""
    return instead(LIST.strip(), *lines)


def more(*patterns: str) -> Edit:
    """More patterns in that list."""
    return instead(f"{STRICT} = [{HOLDER}, {BIAS}, {ROTARY}, {', '.join(patterns)}]")


def constructed(*lines: str) -> Edit:
    """More statements in Hawthorn's constructor."""
    return Edit(HAWTHORN, MODEL_SET, MODEL_SET + "".join(f"        {line}\n" for line in lines))


def above(*lines: str, line: str = CLASS) -> Edit:
    """Something in front of Hawthorn's class, which then begins with another ``line``."""
    return Edit(HAWTHORN, CLASS, "\n".join(lines) + f"\n\n\n{line}")


def later(line: str) -> Edit:
    """A statement behind the class."""
    return Edit(HAWTHORN, EXPORT, f"{line}\n{EXPORT}")


def added(anchor: str, *lines: str) -> Edit:
    """More statements in the constructor of one of Hawthorn's layers."""
    return Edit(LAYERS, anchor, anchor + "".join(f"        {line}\n" for line in lines))


# -- NAM401 -------------------------------------------------------------------------------------------------------


def _unpinned(name: str, *edits: Edit, at: str = f"    {STRICT} = ", path: str = "", also: tuple = ()) -> Fault:
    return Fault("NAM401", name, edits, at=at, path=path or HAWTHORN, also=also)


def _in_router(name: str, *lines: str) -> Fault:
    """A tensor of the router that its author wants in fp32, and that nobody pins."""
    return _unpinned(f"router-{name}", added(IN_ROUTER, *lines))


_LESS = f"[{HOLDER}, {ROTARY}]"  # all but the routing bias

UNPINNED = [
    _unpinned("bias-forgotten", instead(f"{STRICT} = {_LESS}")),
    _unpinned("holder-forgotten", instead(f"{STRICT} = [{BIAS}, {ROTARY}]")),
    _unpinned("half-of-the-holder", instead(f'{STRICT} = ["A_log", "sinks", {BIAS}, {ROTARY}]')),
    _unpinned("no-strict-list", instead(f"{PLAIN} = [{ROTARY}]"), at=NAME),
    _unpinned("constant", above(f"_FP32 = (\n    {HOLDER},\n    {ROTARY},\n)"), instead(f"{STRICT} = list(_FP32)")),
    _unpinned("overwritten", beside(f"{STRICT} = {_LESS}"), at=f"{STRICT} = {_LESS}"),
    _unpinned("one-of-two-in-a-tuple", instead(f"{PLAIN}, {STRICT} = None, {_LESS}"), at=f"{PLAIN}, {STRICT} = "),
    _unpinned(
        "emptied-by-the-constructor",
        beside(f"{PLAIN} = [{ROTARY}]"),
        constructed(f"self.{STRICT} = None"),
        at=f"self.{STRICT} = None",
    ),
    _unpinned(
        "sorted-by-the-constructor",
        instead(f"{STRICT}: list | None = None"),
        constructed(f"self.{STRICT} = sorted({{{HOLDER}, {ROTARY}}})"),
        at=f"self.{STRICT} = sorted(",
    ),
    _unpinned(
        "by-setattr",
        instead(),
        constructed(f'setattr(self, "{STRICT}", {_LESS})'),
        at=f'setattr(self, "{STRICT}"',
    ),
    _unpinned(
        "by-a-helper-that-gets-the-model",
        above(f"def _pin(model):\n    model.{STRICT} = [{HOLDER}]"),
        instead(f"{PLAIN} = [{ROTARY}]"),
        constructed("_pin(self)"),
        at="_pin(self)",
    ),
    _unpinned(
        "on-the-class-from-outside",
        instead(),
        later(f"HawthornForCausalLM.{STRICT} = {_LESS}"),
        at=f"HawthornForCausalLM.{STRICT} = ",
    ),
    _unpinned("list-of-another-class", above(f"class Pins:\n    FP32 = {_LESS}"), instead(f"{STRICT} = Pins.FP32")),
    _unpinned(
        "list-of-a-base-without-the-tensor",
        Edit(LARCH, LARCH_LIST, ""),
        Edit(BASE, POLICY, f"{POLICY}    {STRICT} = [{ROTARY}]\n"),
        Edit(
            LARCH,
            "        self.attention_window = config.attention_window\n",
            '        self.register_buffer("slopes", torch.ones(config.num_attention_heads, dtype=torch.float32))\n'
            "        self.attention_window = config.attention_window\n",
        ),
        path=LARCH,
        at="class LarchForCausalLM(",
    ),
    _unpinned(
        "bias-of-the-shared-gate",
        Edit(SPRUCE, SPRUCE_LIST, f"    {STRICT} = [{ROTARY}]\n"),
        path=SPRUCE,
    ),
    _unpinned(
        "sinks-in-the-dtype-of-the-model",  # info
        Edit(
            LAYERS,
            "        self._fp32_params = Sinks(num_heads)\n",
            "        self.sinks = nn.Parameter(torch.zeros(num_heads, dtype=dtype))\n",
        ),
        also=(Place("NAM407", LAYERS, "self.sinks = "),),
    ),
    _unpinned(
        "named-and-in-the-dtype-of-the-model",
        added(IN_MIXER, "self.A_log = nn.Parameter(torch.zeros(num_heads, dtype=dtype))"),
        also=(Place("NAM407", LAYERS, "self.A_log = nn.Parameter(torch.zeros(num_heads, dtype=dtype))"),),
    ),
    _in_router("buffer", 'self.register_buffer("load", torch.zeros(4, dtype=torch.float32), persistent=False)'),
    _in_router("buffer-by-keywords", 'self.register_buffer(tensor=torch.zeros(4, dtype=torch.float), name="load")'),
    _in_router("buffer-by-assignment", "self.load = nn.Buffer(torch.zeros(4, dtype=torch.float32))"),
    _in_router("buffer-by-setattr", 'setattr(self, "load", nn.Buffer(torch.zeros(4, dtype=torch.float32)))'),
    _in_router("buffer-cast", "self.load = nn.Buffer(torch.zeros(4).to(torch.float32))"),
    _in_router("buffer-cast-by-keyword", "self.load = nn.Buffer(torch.zeros(4).to(dtype=torch.float32))"),
    _in_router(
        "buffers-in-a-loop",
        'for name in ("load", "seen"):',
        "    self.register_buffer(name, torch.zeros(4, dtype=torch.float32))",
    ),
    _in_router(
        "dtype-in-a-table",
        'options = {"dtype": torch.float32, "device": None}',
        "self.load = nn.Buffer(torch.zeros(4, **options))",
    ),
    _in_router(
        "dtype-in-a-local",
        "fp32 = torch.float32",
        "load = torch.ones(4, dtype=fp32)",
        'self.register_buffer("load", load)',
    ),
    _in_router(
        "under-a-condition",
        "if config.n_routed_experts > 8:",
        "    self.load = nn.Buffer(torch.zeros(4, dtype=torch.float32))",
    ),
    _in_router("filled-later", 'self.register_buffer("load", None)', "self.load = torch.zeros(4, dtype=torch.float32)"),
    _in_router("projection", "self.scale = nn.Linear(config.hidden_size, 1, dtype=torch.float32)"),
    _in_router("projection-cast", "self.scale = nn.Linear(config.hidden_size, 1).to(torch.float32)"),
    _in_router("table-of-parameters", 'self.extra = nn.ParameterDict({"A_log": nn.Parameter(torch.zeros(4))})'),
    _unpinned(
        "glob",
        instead(f'{STRICT} = ["layers.*.mixer._fp32_params", "sinks", {BIAS}, {ROTARY}]'),
        also=(Place("NAM402", HAWTHORN, STRICT),),
    ),
    _in_router("new-zeros", "self.load = nn.Buffer(torch.empty(0).new_zeros(4, dtype=torch.float32))"),
]

# -- NAM402 -------------------------------------------------------------------------------------------------------


def _dead(name: str, *edits: Edit, at: str = STRICT, also: tuple[Place, ...] = ()) -> Fault:
    return Fault("NAM402", name, edits, at=at, path=HAWTHORN, also=also)


_NO_BIAS = (Place("NAM401", HAWTHORN, f"{STRICT} = "),)

DEAD = [
    _dead("typo", instead(f'{STRICT} = [{HOLDER}, "gate.e_score_corection_bias", {ROTARY}]'), also=_NO_BIAS),
    _dead("without-its-holder", more('"mixer.A_log"')),
    _dead("module-that-is-gone", more('"conv1d"')),
    _dead("no-comma", instead(f"{STRICT} = [{HOLDER}, {ROTARY}, {BIAS}", '    "step_proj"]'), at=BIAS, also=_NO_BIAS),
    _dead("lower-case", more('"a_log"')),
    _dead("regular-expression", more('r"A_log$"')),
    _dead("another-root", more('"transformer.layers.0.mixer._fp32_params"')),
    _dead("blank-in-front", more('" sinks"')),
    _dead("last-layer-from-behind", more('"layers.-1.mixer._fp32_params"')),
    _dead("attribute-that-is-no-module", more('"backend"')),
    _dead("f-string", above('_BLOCK = "conv"'), more('f"{_BLOCK}.weight"')),
    _dead("list-of-a-constant", above('_OLD = ("conv1d",)'), instead(f"{STRICT} = [*{ALL}, *_OLD]"), at="_OLD = "),
    _dead("extended-in-the-class-body", beside(f'{STRICT} += ["conv1d"]'), at=f"{STRICT} += "),
    _dead("in-a-branch", beside("if __debug__:", f'    {STRICT}.append("conv1d")'), at=".append("),
    _dead("appended-by-the-constructor", constructed(f'self.{STRICT}.append("conv1d")'), at=".append("),
    _dead("extended-from-outside", later(f'HawthornForCausalLM.{STRICT}.extend(["conv1d"])'), at=".extend("),
    _dead("in-the-other-list", beside(f'{PLAIN} = {{"conv1d"}}'), at=f"{PLAIN} = "),
    _dead(
        "looped-over-by-the-constructor",
        constructed('for name in ("conv1d",):', f"    self.{STRICT}.append(name)"),
        at='("conv1d",)',
    ),
    _dead("glob", more('"layers.*.mixer._fp32_params"')),
]

# -- NAM403 -------------------------------------------------------------------------------------------------------


def _malformed(name: str, *edits: Edit, at: str = f"{PLAIN}", path: str = HAWTHORN) -> Fault:
    return Fault("NAM403", name, edits, at=at, path=path)


def _plain(name: str, value: str, *lines: str) -> Fault:
    """Another value for the list that Hawthorn does not have."""
    return _malformed(name, beside(f"{PLAIN} = {value}"), *([above(*lines)] if lines else []))


MALFORMED = [
    _plain("bare-string", '"sinks"'),
    _plain("tuple-without-its-comma", '("sinks")'),
    _plain("several-in-one-string", '"sinks A_log"'),
    _malformed("annotated-string", beside(f'{PLAIN}: str = "sinks"')),
    _plain("string-kept-in-a-name", "_SINKS", '_SINKS = "sinks"'),
    _plain("string-of-another-class", "Pins.SINKS", 'class Pins:\n    SINKS = "sinks"'),
    _plain("string-that-is-joined", '", ".join(["sinks", "A_log"])'),
    _plain("string-in-one-case", '"sinks" if __debug__ else None'),
    _plain("string-of-a-function", "_sinks()", 'def _sinks():\n    return "sinks"'),
    _plain("letters-of-a-string", 'list("sinks")'),
    _plain("letters-spread", '[*"sinks"]'),
    _plain("frozenset", 'frozenset({"sinks"})'),
    _plain("dict", '{"sinks": True}'),
    _plain("dict-of-keys", 'dict.fromkeys(("sinks", "A_log"))'),
    _plain("flag", "True"),
    _plain("empty-pattern", '["sinks", ""]'),
    _plain("empty-pattern-by-name", "[_NONE]", '_NONE = ""'),
    _plain("empty-pattern-in-a-sum", '["sinks"] + [""]'),
    _plain("list-in-a-list", '[["sinks"]]'),
    _plain("class", "[Experts]"),
    _plain("dtype", '["sinks", torch.float32]'),
    _plain("none", '("sinks", None)'),
    _plain("bytes", '{b"sinks"}'),
    _malformed("string-by-the-constructor", constructed(f'self.{PLAIN} = "sinks"'), at=f"self.{PLAIN} = "),
    _malformed("string-by-setattr", constructed(f'setattr(self, "{PLAIN}", "sinks")'), at="setattr("),
    _malformed(
        "string-on-the-class", later(f'HawthornForCausalLM.{PLAIN} = "sinks"'), at=f"HawthornForCausalLM.{PLAIN}"
    ),
    _malformed("extended-by-a-string", constructed(f'self.{STRICT}.extend("sinks")'), at='.extend("sinks")'),
    _malformed("string-added-in-place", beside(f'{STRICT} += "sinks"'), at=f"{STRICT} += "),
    _malformed("tuple-appended", constructed(f'self.{STRICT}.append(("sinks", "A_log"))'), at=".append(("),
    _malformed(
        "inherited-from-another-file",
        Edit(BASE, POLICY, f'{POLICY}    {PLAIN} = "inv_freq"\n'),
        path=BASE,
    ),
    _plain("generator", '(name for name in ("sinks", "A_log"))'),
    _plain("view-of-a-dict", '{"sinks": 1}.keys()'),
    _plain("map", 'map(str, ["sinks"])'),
    _plain("string-that-is-added", '"sinks" + "x"'),
]

FAULTS = [*UNPINNED, *DEAD, *MALFORMED]
