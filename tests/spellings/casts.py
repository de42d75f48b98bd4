"""Casts of the whole model, rotary tables that they round, and routing below fp32 (NAM404, NAM405, NAM409)."""

from __future__ import annotations

from . import GUARD, UNTIED, Spelling, acme, function, init, klass, mark, module

IMPORTS = """\
import torch
import torch.nn.functional as F
from nemo_automodel.components.models.common.utils import cast_model_to_dtype, yield_fp32_model
"""
PINNED = '_keep_in_fp32_modules_strict = ["inv_freq"]'
SIGNATURE = "self, buffer_device=None, dtype=torch.bfloat16"
FREQUENCIES = """\
def frequencies(dim):
    return 10000.0 ** -(torch.arange(0, dim, 2, dtype=torch.float32) / dim)
"""
READ = "angles = position_ids[..., None].float() * self.inv_freq"


def _rotary(*forward: str, members: str = "", buffer: str = "inv_freq") -> str:
    """Return a rotary module whose ``forward`` begins so."""
    kept = f'self.register_buffer("{buffer}", frequencies(dim), persistent=False)'
    made = function("__init__", "self, dim", "super().__init__()", "self.dim, self.longest = dim, 0", kept)
    used = function("forward", "self, position_ids", *(forward or (READ,)), "return angles.cos(), angles.sin()")
    body = "\n".join(f"    {line}".rstrip() for part in (made, members, used) for line in part.splitlines())
    return f"{FREQUENCIES}\n\nclass AcmeRotary(nn.Module):\n{body}\n"


def _model(
    code: str, name: str, *members: str, rotary: str = "", above: str = "", end: str = "", pins: str = PINNED, found=""
) -> Spelling:
    """A model with a rotary module; ``end`` ends its constructor."""
    build = (
        "super().__init__()",
        "self.config = config",
        "self.model = AcmeModel(config)",
        "self.rotary = AcmeRotary(config.hidden_size)",
        "self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)",
        *([end] if end else []),
    )
    made = init(GUARD, *build, build="")
    cls = klass(pins, *members, policy=UNTIED, constructor=made, found=found)
    return acme(code, name, module(rotary or _rotary(), above, cls, imports=IMPORTS))


def _initialiser(*lines: str) -> str:
    return function("initialize_weights", SIGNATURE, "super().initialize_weights(buffer_device, dtype)", *lines)


def _cast(name: str, *lines: str, found: str = "NAM404") -> Spelling:
    """An initialiser that ends in a cast, or in what is none."""
    return _model("NAM404", name, _initialiser(*lines[:-1], mark(lines[-1], found)))


def _method(name: str, signature: str, *lines: str, above: str = "", found: str = "NAM404") -> Spelling:
    return _model("NAM404", name, function(name.replace("-", "_"), signature, *lines, above=above))


RAW = [
    _cast("dtype-under-a-name", "kind = torch.bfloat16", "self.to(kind)"),
    _cast("annotated-name", "kind: torch.dtype = torch.float16", "self.to(kind)"),
    _cast("of-the-config", "self.to(self.config.dtype)"),
    _cast("device-and-dtype", "self.to(buffer_device, dtype)"),
    _cast("from-the-module-class", "nn.Module.to(self, dtype)"),
    _cast("of-the-base", "super().to(dtype)"),
    _cast("half", "self.half()"),
    _cast("type", "self.type(torch.bfloat16)"),
    _cast("by-the-name-of-the-dtype", "self.to(getattr(torch, self.config.torch_dtype))"),
    _cast("self-under-a-name", "model = self", "model.to(dtype)"),
    _cast("behind-another-method", "self.eval().bfloat16()"),
    _cast("one-or-the-other", "dtype = dtype or self.config.torch_dtype", "self.to(dtype)"),
    _cast("another-module", "other = AcmeModel(self.config)", "other.to(dtype)", found=""),
    _cast("a-part", "self.model.to(dtype)", found=""),
    _cast("like-a-tensor", "self.to(self.lm_head.weight)", found=""),
    _cast("no-dtype", "self.to(dtype=None)", found=""),
    _cast("devices", 'self.to("cuda")', "self.to(self.device)", "self.to(device=buffer_device)", found=""),
    _cast("wider", "self.float()", "self.double()", "self.to(dtype=torch.float)", found=""),
    _method("of-a-parameter", "self, precision: torch.dtype", "self.to(precision)  # NAM404"),
    _method("from-config", "cls, config", "return cls(config).half()  # NAM404", above="@classmethod\n"),
    _method(
        "from-pretrained",
        "cls, path, torch_dtype=torch.bfloat16",
        "return super().from_pretrained(path).to(torch_dtype)  # NAM404",
        above="@classmethod\n",
    ),
    _method(
        "built-by-name",
        "config, torch_dtype",
        "(model := AcmeForCausalLM(config)).to(torch_dtype)  # NAM404",
        "return model",
        above="@staticmethod\n",
    ),
    _method("to", "self, *args, **kwargs", "return super().to(*args, **kwargs)"),
    _model(
        "NAM404",
        "in-a-helper",
        above="def finish(model, dtype):\n    model.to(dtype)\n",
        end="finish(self, config.torch_dtype)  # NAM404",
    ),
]


def _table(
    name: str, *behind: str, before: str = "pass", dtype: str = "dtype", safe: bool = True, rotary="", above=""
) -> Spelling:
    """A model without a list that is cast; ``behind`` is what follows the cast."""
    body = _initialiser(before, f"cast_model_to_dtype(self, {dtype})", *behind)
    return _model("NAM405", name, body, rotary=rotary, above=above, pins="", found="" if safe else "NAM405")


def _put_back(name: str, *lines: str, safe: bool = True) -> Spelling:
    """A rotary module with an ``_apply``."""
    return _table(name, rotary=_rotary(members=function("_apply", "self, fn, recurse=True", *lines)), safe=safe)


ANEW = "self.rotary.inv_freq = frequencies(self.rotary.dim)"
RESET = function("reset", "self", "self.inv_freq = frequencies(self.dim)")
APPLIED = "super()._apply(fn, recurse)"

TABLES = [
    _table("model-by-keyword", "cast_model_to_dtype(dtype=dtype, model=self)", safe=False),
    _table("by-a-method-of-the-module", "self.rotary.reset()", rotary=_rotary(members=RESET)),
    _table("in-a-loop", "for module in (self.rotary,):", "    module.reset()", rotary=_rotary(members=RESET)),
    _table(
        "for-every-module",
        "for module in self.modules():",
        "    if isinstance(module, AcmeRotary):",
        "        module.inv_freq = frequencies(module.dim)",
    ),
    _table("registered-anew", 'self.rotary.register_buffer("inv_freq", frequencies(8), persistent=False)'),
    _table("setattr", 'setattr(self.rotary, "inv_freq", frequencies(8))'),
    _table("among-the-buffers", 'self.rotary._buffers["inv_freq"] = frequencies(8)'),
    _table("data", "self.rotary.inv_freq.data = frequencies(8)"),
    _table("saved-before", "self.rotary.inv_freq = kept", before="kept = self.rotary.inv_freq.clone()"),
    _table("on-a-device", 'with torch.device("cpu"):', f"    {ANEW}"),
    _table("if-it-is-there", 'if hasattr(self, "rotary"):', f"    {ANEW}"),
    _table("in-a-helper", "restore(self)", above="def restore(model):\n    model.rotary.inv_freq = frequencies(8)\n"),
    _table("cast-up", "self.rotary.inv_freq = self.rotary.inv_freq.float()", safe=False),
    _table("cast-up-by-a-name", "up = self.rotary.inv_freq.float()", "self.rotary.inv_freq = up", safe=False),
    _table("copied-into-the-rounded", "self.rotary.inv_freq.copy_(frequencies(8))", safe=False),
    _table("cast-down-again", "self.rotary.inv_freq = frequencies(8).to(dtype)", safe=False),
    _table("another-tensor", "self.model.inv_freq = frequencies(8)", safe=False),
    _table(
        "on-another-path",
        ANEW,
        before="if buffer_device is None:\n    cast_model_to_dtype(self, dtype)\n    return",
        safe=False,
    ),
    _table("to-fp32", dtype="torch.float32"),
    _table("left-out", dtype="dtype, skip_modules=LEFT_OUT", above='LEFT_OUT = ("rotary",)\n'),
    _table("always-anew", rotary=_rotary("self.inv_freq = frequencies(self.dim)", READ)),
    _table("always-anew-by-a-method", rotary=_rotary("self.reset()", READ, members=RESET)),
    _table(
        "anew-if-rounded",
        rotary=_rotary("if self.inv_freq.dtype != torch.float32:", "    self.inv_freq = frequencies(self.dim)", READ),
    ),
    _table(
        "anew-if-longer",
        rotary=_rotary("if position_ids.max() > self.longest:", "    self.inv_freq = frequencies(self.dim)", READ),
        safe=False,
    ),
    _table("only-its-device", rotary=_rotary("angles = frequencies(self.dim).to(self.inv_freq.device)")),
    _table("a-spare", rotary=_rotary("angles = self.original_inv_freq", buffer="original_inv_freq")),
    _table("cosines", rotary=_rotary("angles = self.cos_cached", buffer="cos_cached"), safe=False),
    _table(
        "read-by-a-function",
        rotary=_rotary("angles = position_ids"),
        above="def turn(rotary, x):\n    return x * rotary.inv_freq\n",
        safe=False,
    ),
    _put_back("apply-without-the-base", "return self"),
    _put_back(
        "apply-with-a-dict",
        "kept = {n: b.clone() for n, b in self.named_buffers() if n == 'inv_freq'}",
        APPLIED,
        "for name, buffer in kept.items():",
        "    setattr(self, name, buffer.to(getattr(self, name).device))",
        "return self",
    ),
    _put_back(
        "apply-in-vain",
        APPLIED,
        "for name, buffer in self.named_buffers():",
        "    if name == 'inv_freq':",
        "        setattr(self, name, buffer.float())",
        "return self",
        safe=False,
    ),
]


def _router(
    name: str,
    *forward: str,
    made: str = "pass",
    given: str = "",
    arguments: str = "",
    above: str = "",
    cls="AcmeRouter",
) -> Spelling:
    """A model with a module that chooses; the first line of ``forward`` is where a finding is announced."""
    start = ("super().__init__()", "self.score = nn.Linear(config.hidden_size, 8)", made)
    body = (
        function("__init__", f"self, config{arguments}", *start) + "\n" + function("forward", "self, hidden", *forward)
    )
    lines = "\n".join(f"    {line}".rstrip() for line in body.splitlines())
    build = (
        "super().__init__()",
        "self.config = config",
        "self.model = AcmeModel(config)",
        f"self.chooser = {cls}(config{given})",
        "self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)",
    )
    model = klass(policy=UNTIED, constructor=init(GUARD, *build, build=""))
    return acme("NAM409", name, module(above, f"class {cls}(nn.Module):\n{lines}", model, imports=IMPORTS))


FOUND = "  # NAM409"
TAKEN = "return scores.topk(2)"
GIVEN = (
    "logits = self.score(hidden)",
    "if self.kind is not None:",
    "    logits = logits.to(self.kind)",
)
PICK = "def pick(logits):\n    scores = logits.softmax(-1)\n    return scores.topk(2)\n"

ROUTING = [
    _router("module", f"scores = self.act(self.score(hidden)){FOUND}", TAKEN, made="self.act = nn.Softmax(dim=-1)"),
    _router("module-at-once", f"scores = nn.Softmax(dim=-1)(self.score(hidden)){FOUND}", TAKEN),
    _router("module-of-fp32", "scores = nn.Softmax(dim=-1)(self.score(hidden).float())", TAKEN),
    _router("dtype-by-position", "scores = self.score(hidden).softmax(-1, torch.float32)", TAKEN),
    _router(
        "dtype-under-a-name", "kind = torch.float", "scores = F.softmax(self.score(hidden), -1, dtype=kind)", TAKEN
    ),
    _router("dtype-of-the-input", f"scores = F.softmax(self.score(hidden), -1, dtype=hidden.dtype){FOUND}", TAKEN),
    _router("low-dtype", f"scores = F.softmax(self.score(hidden), -1, dtype=torch.bfloat16){FOUND}", TAKEN),
    _router("argmax", f"scores = self.score(hidden).sigmoid(){FOUND}", "return scores.argmax(dim=-1)"),
    _router("chained", f"return self.score(hidden).softmax(-1).topk(2, dim=-1){FOUND}"),
    _router("type-as", f"scores = self.score(hidden).float().sigmoid().type_as(hidden){FOUND}", TAKEN),
    _router("in-a-helper", "return pick(self.score(hidden))", above=PICK.replace("(-1)\n", f"(-1){FOUND}\n", 1)),
    _router("in-a-helper-of-fp32", "return pick(self.score(hidden).float())", above=PICK),
    _router(
        "fixed-in-the-constructor",
        "scores = self.score(hidden).to(self.kind).softmax(-1)",
        TAKEN,
        made="self.kind = torch.float32",
    ),
    _router(
        "given-fp32",
        *GIVEN,
        "scores = logits.softmax(-1)",
        TAKEN,
        made="self.kind = kind",
        arguments=", kind=None",
        given=", torch.float32",
    ),
    _router(
        "given-nothing",
        *GIVEN,
        f"scores = logits.softmax(-1){FOUND}",
        TAKEN,
        made="self.kind = kind",
        arguments=", kind=None",
    ),
    _router(
        "given-by-the-config",
        *GIVEN,
        f"scores = logits.softmax(-1){FOUND}",
        TAKEN,
        made="self.kind = kind",
        arguments=", kind=None",
        given=", kind=config.router_dtype",
    ),
    _router(
        "fp32-by-default",
        *GIVEN,
        "scores = logits.softmax(-1)",
        TAKEN,
        made="self.kind = kind",
        arguments=", kind=torch.float32",
    ),
    _router("no-choice", "return F.log_softmax(self.score(hidden), dim=-1)"),
    _router("no-experts", "scores = self.score(hidden).sigmoid()", TAKEN, cls="AcmeTokens"),
]

SPELLINGS = [*RAW, *TABLES, *ROUTING]
