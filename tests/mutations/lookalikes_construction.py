"""What looks like a fault of NAM707 or NAM709 and is none."""

from __future__ import annotations

from . import BASE, Edit, Harmless, write
from .casts import indented
from .construction import CONFIG_CLASS, DEF, DRAFT, HEAD, KEPT, MADE, MODELS, OFFERED, RAW
from .policy import FIR


def _kept(name: str, why: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM709", name, (Edit(FIR, KEPT, indented(*lines)), *more), why)


_GETTER = "    def get_output_embeddings(self) -> nn.Module:\n"
_RAW = (Edit(FIR, HEAD, RAW),)

HARMLESS = [
    _kept(
        "bound-anew-first",
        "the name is the default",
        "backend = backend or BackendConfig()",
        "self.backend = backend",
        more=_RAW,
    ),
    _kept(
        "bound-in-one-go", "the name is the default", "backend = self.backend = backend or BackendConfig()", more=_RAW
    ),
    _kept("bound-anew-afterwards", "the name is the default", KEPT.strip(), "backend = self.backend", more=_RAW),
    _kept(
        "filled-where-missing",
        "it is there",
        "if backend is None:",
        "    backend = BackendConfig()",
        "self.backend = backend",
        more=_RAW,
    ),
    _kept("used-before", "the default was not yet there", "self.given = backend", KEPT.strip()),
    _kept("asked-whether-it-is-there", "a question", KEPT.strip(), "self.is_default = backend is None"),
    _kept(
        "only-if-it-is-there",
        "it is there",
        KEPT.strip(),
        "if backend is not None:",
        "    self.linear = backend.linear",
    ),
    _kept("only-if-it-is-true", "it is there", KEPT.strip(), "self.linear = backend.linear if backend else None"),
    _kept("another-default", "it is asked for again", KEPT.strip(), "self.other = backend or BackendConfig()"),
    _kept("and-then", "it is there", KEPT.strip(), "self.linear = backend and backend.linear"),
    _kept("asserted", "it is there", KEPT.strip(), "assert backend is not None", more=_RAW),
    _kept("in-a-message", "nothing is built with it", KEPT.strip(), 'print(f"built with {backend}")'),
    _kept("no-default", "nothing takes its place", "self.backend = backend or None", more=_RAW),
    _kept("kept-as-it-is", "no default is given", "self.backend = backend", more=_RAW),
    Harmless(
        "NAM707",
        "inherited",
        (
            Edit(FIR, DEF, "    def fill_weights(\n"),
            Edit(
                FIR,
                "class FirForCausalLM(HFCheckpointingMixin, nn.Module):\n",
                "class _Filled:\n    def initialize_weights(self, buffer_device=None, dtype=None):\n"
                "        self.fill_weights(buffer_device, dtype)\n\n\n"
                "class FirForCausalLM(HFCheckpointingMixin, _Filled, nn.Module):\n",
            ),
        ),
        "a base has it",
    ),
    Harmless(
        "NAM707",
        "not-switched-off",
        (Edit(FIR, CONFIG_CLASS, f"{CONFIG_CLASS}    _skip_init_weights_on_load = False\n"),),
        "it says no",
    ),
    Harmless(
        "NAM707",
        "switched-off-where-it-loads",
        (
            Edit(
                BASE,
                _GETTER,
                "    @classmethod\n    def from_folder(cls, folder, config):\n        model = cls(config)\n"
                f"        model._skip_init_weights_on_load = True\n        return model\n\n{_GETTER}",
            ),
        ),
        "something is loaded there",
    ),
    Harmless(
        "NAM707",
        "of-transformers",
        (
            Edit(FIR, DEF, "    def fill_weights(\n"),
            Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nfrom transformers import PreTrainedModel\n"),
            Edit(
                FIR,
                "class FirForCausalLM(HFCheckpointingMixin, nn.Module):",
                "class FirForCausalLM(HFCheckpointingMixin, PreTrainedModel):",
            ),
            Edit(
                FIR, "        super().__init__()\n        self.config = config\n", "        super().__init__(config)\n"
            ),
        ),
        "transformers fills it",
    ),
    Harmless(
        "NAM707",
        "made-by-a-function-and-filled",
        (
            write(MODELS, OFFERED),
            write(
                DRAFT,
                MADE.format("return Draft(size)").replace(
                    "    def forward",
                    "    def initialize_weights(self):\n        nn.init.normal_(self.embed.weight)\n\n    def forward",
                ),
            ),
        ),
        "it has one",
    ),
]
