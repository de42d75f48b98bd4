"""NAM707, NAM709: models that nothing fills; constructors that go on with an argument that has a default."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, model, write
from .casts import indented
from .policy import CEDAR, FIR, FIR_CLASS, LARCH, POLICY, SPRUCE

JUNIPER = model("juniper")
FEED_FORWARD = f"{PACKAGE}/components/models/common/feed_forward.py"
KEPT = "        self.backend = backend or BackendConfig()\n"
HEAD = "            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)\n"
RAW = HEAD.replace("self.backend", "backend")
AT = "            backend.linear, config.hidden_size"


def raw(name: str, *kept: str, path: str = FIR, more: tuple[Edit, ...] = (), at: str = AT, use: str = RAW) -> Fault:
    """The head of a model is made with the raw argument, which was kept in one or another way."""
    edits = (Edit(path, KEPT, indented(*kept)),) if kept else ()
    return Fault("NAM709", name, (*edits, Edit(path, HEAD, use), *more), at=at)


RAW_USES = [
    raw("or"),
    raw("conditional", "self.backend = backend if backend is not None else BackendConfig()"),
    raw("conditional-the-other-way-round", "self.backend = BackendConfig() if backend is None else backend"),
    raw("asked-for-its-truth", "self.backend = backend if backend else BackendConfig()"),
    raw("annotated", "self.backend: BackendConfig = backend or BackendConfig()"),
    raw("by-setattr", 'setattr(self, "backend", backend or BackendConfig())'),
    raw(
        "in-two-branches",
        "if backend is None:",
        "    self.backend = BackendConfig()",
        "else:",
        "    self.backend = backend",
    ),
    raw("through-a-local", "chosen = backend or BackendConfig()", "self.backend = chosen"),
    raw("in-a-tuple", "self.backend, self.built = backend or BackendConfig(), False"),
    raw("in-the-base-of-another-file", path=BASE),
    raw(
        "behind-a-question",
        "self.backend = backend or BackendConfig()",
        "if backend is None:",
        "    print('the default backend')",
    ),
    raw(
        "in-a-block",
        use=HEAD,
        more=(
            Edit(
                FIR,
                "        self.model = FirModel(config)\n",
                "        self.model = FirModel(config)\n        for name in ('linear',):\n"
                "            setattr(self, name, getattr(backend, name))\n",
            ),
        ),
        at="getattr(backend, name)",
    ),
    Fault(
        "NAM709",
        "inside-an-availability-branch",
        (Edit(JUNIPER, "self.backend.linear, config.hidden_size", "backend.linear, config.hidden_size"),),
        at="backend.linear, config.hidden_size",
    ),
    Fault(
        "NAM709",
        "handed-to-the-model",
        (Edit(SPRUCE, "SpruceModel(config, self.backend", "SpruceModel(config, backend"),),
        at="SpruceModel(config, backend",
    ),
    Fault(
        "NAM709",
        "of-images",
        (Edit(CEDAR, "            self.backend.linear, text_config", "            backend.linear, text_config"),),
        at="backend.linear, text_config",
    ),
    Fault(
        "NAM709",
        "in-a-shared-layer",
        (
            Edit(
                FEED_FORWARD,
                "    def __init__(self, hidden_size: int, intermediate_size: int, *, dtype: torch.dtype | None = None):\n"
                "        super().__init__()\n",
                "    def __init__(self, hidden_size: int, intermediate_size: int, *, dtype: torch.dtype | None = None):\n"
                "        super().__init__()\n"
                "        self.width = intermediate_size or 4 * hidden_size\n"
                "        self.shrinks = intermediate_size < hidden_size\n",
            ),
        ),
        at="self.shrinks = intermediate_size",
    ),
]

DEF = "    def initialize_weights(\n"
OTHER_NAME = "    def fill_weights(\n"
CONFIG_CLASS = "    config_class = FirConfig\n"
MODELS = f"{PACKAGE}/components/models/__init__.py"
DRAFT = f"{PACKAGE}/components/models/draft.py"
OFFERED = '''"""Models that are made by a function."""

from acme_automodel.components.models.draft import build_draft

__all__ = ["build_draft"]
'''
MADE = '''"""A small model for first trials."""

import torch.nn as nn


class Draft(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.embed = nn.Embedding(size, size)

    def forward(self, input_ids, **kwargs):
        return self.embed(input_ids)


def build_draft(size: int = 8) -> nn.Module:
    """Make one."""
    {}
'''


def off(name: str, line: str, path: str = FIR, more: tuple[Edit, ...] = ()) -> Fault:
    """Fir says in its class body that nothing need be filled."""
    return Fault("NAM707", name, (Edit(path, CONFIG_CLASS, f"{CONFIG_CLASS}    {line}\n"), *more), at=line)


def offers(name: str, *lines: str) -> Fault:
    """The models folder exports a function that makes a model without an initialiser."""
    made = MADE.format("\n    ".join(lines))
    return Fault("NAM707", name, (write(MODELS, OFFERED), write(DRAFT, made)), path=DRAFT, at="class Draft(")


UNFILLED = [
    Fault("NAM707", "another-name", (Edit(FIR, DEF, OTHER_NAME),), at="class FirForCausalLM("),
    Fault(
        "NAM707", "misspelled", (Edit(SPRUCE, DEF, DEF.replace("weights", "weight")),), at="class SpruceForCausalLM("
    ),
    Fault("NAM707", "of-images", (Edit(CEDAR, DEF, OTHER_NAME),), at="class CedarForConditionalGeneration("),
    Fault(
        "NAM707",
        "base-in-another-file-lost-it",
        (Edit(BASE, DEF, OTHER_NAME),),
        path=LARCH,
        at="class LarchForCausalLM(",
    ),
    Fault(
        "NAM707",
        "inside-an-availability-branch",
        (Edit(JUNIPER, DEF, OTHER_NAME),),
        at="class JuniperForCausalLM(",
    ),
    off("switched-off", "_skip_init_weights_on_load = True"),
    off("switched-off-annotated", "_skip_init_weights_on_load: bool = True"),
    off(
        "switched-off-by-a-constant",
        "_skip_init_weights_on_load = _LOADS_ITSELF",
        more=(Edit(FIR, FIR_CLASS, f"_LOADS_ITSELF = True\n\n\n{FIR_CLASS}"),),
    ),
    Fault(
        "NAM707",
        "switched-off-by-a-base",
        (Edit(BASE, POLICY, f"    _skip_init_weights_on_load = True\n{POLICY}"),),
        at="_skip_init_weights_on_load = True",
    ),
    Fault(
        "NAM707",
        "switched-off-by-the-constructor",
        (Edit(FIR, KEPT, f"{KEPT}        self._skip_init_weights_on_load = True\n"),),
        at="self._skip_init_weights_on_load = True",
    ),
    offers("made-by-a-function", "return Draft(size)"),
    offers("made-by-a-function-and-named", "model = Draft(size)", "print(model)", "return model"),
]

FAULTS = [*UNFILLED, *RAW_USES]
