"""NAM709: constructors that go on with an argument for which they have kept a default."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, model
from .casts import indented
from .policy import CEDAR, FIR, SPRUCE

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


FAULTS = [
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
