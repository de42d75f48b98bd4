"""What looks like a fault of NAM601-NAM604 and is none."""

from __future__ import annotations

from . import PACKAGE, Edit, Harmless, model
from .casts import EMBEDDINGS, imported
from .experts import (
    ACCEPTED,
    FACTOR,
    FORWARDED,
    HANDED,
    HORNBEAM,
    MERGED,
    NO_UPDATE,
    PARAMETER,
    SPRUCE,
    SPRUCE_UPDATE,
    SYNC,
    above,
    backend,
    bases,
)

FIR = model("fir")
PLAIN = ("HFCheckpointingMixin", "nn.Module")
LAYER = "class SpruceDecoderLayer("


def _synced(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM601", name, edits, why)


SYNCED = [
    _synced("mixin-last", "it is in the MRO", bases(SPRUCE, "HFCheckpointingMixin", "nn.Module", "MoEFSDPSyncMixin")),
    _synced(
        "mixin-of-a-base",
        "it is in the MRO",
        above(
            HORNBEAM,
            'class HornbeamBase(MoEFSDPSyncMixin, nn.Module):\n    """Shared."""',
            "HFCheckpointingMixin",
            "HornbeamBase",
        ),
    ),
    _synced(
        "mixin-by-another-name",
        "meaning over spelling",
        bases(SPRUCE, "HFCheckpointingMixin", "Sync", "nn.Module"),
        Edit(SPRUCE, SYNC, SYNC.rstrip() + " as Sync\n"),
    ),
    _synced(
        "mixin-through-its-module",
        "meaning over spelling",
        bases(SPRUCE, "HFCheckpointingMixin", "fsdp_mixin.MoEFSDPSyncMixin", "nn.Module"),
        Edit(SPRUCE, SYNC, f"from {PACKAGE}.components.moe import fsdp_mixin\n"),
    ),
    _synced(
        "mixin-through-the-package",
        "meaning over spelling",
        Edit(SPRUCE, SYNC, f"from {PACKAGE}.components.moe import MoEFSDPSyncMixin\n"),
    ),
    _synced(
        "heir-of-the-mixin",
        "it is in the MRO",
        above(
            SPRUCE,
            'class SpruceSync(MoEFSDPSyncMixin):\n    """Its own."""',
            "HFCheckpointingMixin",
            "SpruceSync",
            "nn.Module",
        ),
    ),
    _synced(
        "only-an-annotation",
        "no experts are built",
        Edit(FIR, "        self.mlp = SwiGLU(", "        self.mlp: MoE | SwiGLU = SwiGLU("),
        imported(FIR, f"from {PACKAGE}.components.moe.layers import MoE"),
    ),
    _synced(
        "in-a-function-that-nobody-calls",
        "no experts are built",
        imported(
            FIR,
            f"from {PACKAGE}.components.moe.layers import MoE\n\n\ndef build(config, backend):\n    return MoE(config, backend)\n",
        ),
    ),
    _synced(
        "ruled-out-by-a-literal",
        "a literal decides the condition",
        Edit(
            FIR,
            "        self.mlp = SwiGLU(",
            "        self.routes = False\n        if self.routes:\n            self.experts = MoE(config, None)\n        self.mlp = SwiGLU(",
        ),
        imported(FIR, f"from {PACKAGE}.components.moe.layers import MoE"),
    ),
    _synced(
        "dropped-again",
        "no experts are left",
        Edit(FIR, "        self.mlp = SwiGLU(", "        self.mlp = MoE(config, None)\n        self.mlp = SwiGLU("),
        imported(FIR, f"from {PACKAGE}.components.moe.layers import MoE"),
    ),
]

NO_BIAS = Edit(SPRUCE, '["mlp.gate.e_score_correction_bias", "rotary_emb.inv_freq"]', '["rotary_emb.inv_freq"]')
OWN_METHOD = SPRUCE_UPDATE.rstrip()


NO_BIAS_PIN = Edit(SPRUCE, '"mlp.gate.e_score_correction_bias", ', "")  # without the factor there is no bias


def _balanced(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM602", name, edits, why)


BALANCED = [
    _balanced(
        "no-factor",
        "nothing is to be updated",
        NO_UPDATE,
        NO_BIAS_PIN,
        Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", "0.0")),
    ),
    _balanced("factor-of-the-default", "nothing is to be updated", NO_UPDATE, NO_BIAS_PIN, Edit(SPRUCE, FACTOR, "")),
    _balanced(
        "factor-of-the-config",
        "the config decides",
        NO_UPDATE,
        NO_BIAS_PIN,
        Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", 'getattr(config, "router_bias_step", 0.0)')),
    ),
    _balanced(
        "factor-of-the-caller",
        "the caller decides",
        NO_UPDATE,
        Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", 'float((moe_overrides or {}).get("step", 0))')),
    ),
    _balanced(
        "method-of-a-base",
        "inherited",
        NO_UPDATE,
        above(
            SPRUCE,
            f'class SpruceBase(nn.Module):\n    """Shared."""\n\n{OWN_METHOD}',
            "HFCheckpointingMixin",
            "MoEFSDPSyncMixin",
            "SpruceBase",
        ),
    ),
    _balanced(
        "method-of-the-mixin",
        "inherited",
        NO_UPDATE,
        Edit(
            f"{PACKAGE}/components/moe/fsdp_mixin.py",
            "    def prepare_for_grad",
            f"{SPRUCE_UPDATE}    def prepare_for_grad",
        ),
    ),
    _balanced(
        "method-by-assignment",
        "the body binds the name",
        Edit(SPRUCE, SPRUCE_UPDATE, "    update_moe_gate_bias = _update\n\n"),
        above(SPRUCE, "def _update(self):\n    raise NotImplementedError"),
    ),
    _balanced(
        "method-in-a-branch",
        "the body binds the name",
        Edit(
            SPRUCE,
            SPRUCE_UPDATE,
            "    if __debug__:\n\n        def update_moe_gate_bias(self):\n            raise NotImplementedError\n\n",
        ),
    ),
    _balanced(
        "method-by-getattr",
        "unknown code may bring it",
        NO_UPDATE,
        Edit(
            SPRUCE,
            EMBEDDINGS,
            f"    def __getattr__(self, name: str) -> Any:\n        return super().__getattr__(name)\n\n{EMBEDDINGS}",
        ),
    ),
]


def _set(name: str, why: str, path: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM603", name, (backend(path, *lines), *more), why)


DEFAULT = "self.backend = backend or BackendConfig()"
PRECISION = [
    _set("assigned", "it is set", SPRUCE, DEFAULT, "self.backend.gate_precision = torch.float32"),
    _set(
        "assigned-where-none",
        "it is set",
        SPRUCE,
        DEFAULT,
        "if self.backend.gate_precision is None:",
        "    self.backend.gate_precision = torch.float32",
    ),
    _set("setattr", "it is set", SPRUCE, DEFAULT, 'setattr(self.backend, "gate_precision", torch.float32)'),
    _set("dict", "it is set", SPRUCE, 'self.backend = backend or BackendConfig(**{"gate_precision": torch.float32})'),
    _set("in-bf16", "it is set", SPRUCE, "self.backend = backend or BackendConfig(gate_precision=torch.bfloat16)"),
    _set(
        "in-a-helper",
        "it is set",
        HORNBEAM,
        "self.backend = _precise(backend or BackendConfig())",
        more=(above(HORNBEAM, "def _precise(backend):\n    return replace(backend, gate_precision=torch.float32)"),),
    ),
    _set(
        "in-a-method",
        "it is set",
        HORNBEAM,
        "self.backend = self._precise(backend or BackendConfig())",
        more=(
            Edit(
                HORNBEAM,
                EMBEDDINGS,
                f"    def _precise(self, backend):\n        backend.gate_precision = torch.float32\n        return backend\n\n{EMBEDDINGS}",
            ),
        ),
    ),
    _set(
        "in-the-decoder",
        "it is set",
        HORNBEAM,
        DEFAULT,
        more=(Edit(HORNBEAM, MERGED, f"{MERGED}        backend = replace(backend, gate_precision=torch.float32)\n"),),
    ),
    _set(
        "of-the-config",
        "it is passed on",
        SPRUCE,
        "self.backend = backend or BackendConfig(gate_precision=dtype_of(config))",
    ),
    _set(
        "by-copy",
        "it is set",
        HORNBEAM,
        "self.backend = copy(backend or BackendConfig())",
        "self.backend.gate_precision = torch.float32",
        more=(imported(HORNBEAM, "from copy import copy"),),
    ),
]

NO_PARAMETER = Edit(
    SPRUCE, PARAMETER, PARAMETER.replace("moe_overrides: dict[str, Any] | None = None,", "**kwargs: Any,")
)


def _taken(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM604", name, edits, why)


def _handed(value: str) -> Edit:
    return Edit(SPRUCE, HANDED, HANDED.replace("moe_overrides", value))


OVERRIDES = [
    _taken(
        "named-by-a-constant",
        "it is read",
        NO_PARAMETER,
        _handed("kwargs.pop(_OVERRIDES, None)"),
        above(SPRUCE, '_OVERRIDES = "moe_overrides"'),
    ),
    _taken("popped", "it is read", NO_PARAMETER, _handed('kwargs.pop("moe_overrides", None)')),
    _taken("got", "it is read", NO_PARAMETER, _handed('kwargs.get("moe_overrides")')),
    _taken(
        "by-subscript",
        "it is read",
        NO_PARAMETER,
        _handed('kwargs["moe_overrides"] if "moe_overrides" in kwargs else None'),
    ),
    _taken("of-the-config", "it is read", NO_PARAMETER, _handed('getattr(config, "moe_overrides", None)')),
    _taken("of-the-config-itself", "it is read", NO_PARAMETER, _handed("config.moe_overrides")),
    _taken(
        "forwarded-as-a-dict",
        "it is forwarded",
        Edit(
            HORNBEAM,
            FORWARDED,
            "options = dict(kwargs)\n        self.model = HornbeamModel(config, self.backend, **options)",
        ),
    ),
    _taken(
        "forwarded-to-a-function",
        "it is forwarded",
        Edit(HORNBEAM, FORWARDED, "self.model = _decoder(config, self.backend, **kwargs)"),
        above(
            HORNBEAM, "def _decoder(config, backend, **kwargs):\n    return HornbeamModel(config, backend, **kwargs)"
        ),
    ),
    _taken(
        "forwarded-to-a-method",
        "it is forwarded",
        Edit(HORNBEAM, FORWARDED, "self._build(config, **kwargs)"),
        Edit(
            HORNBEAM,
            EMBEDDINGS,
            f"    def _build(self, config, **options):\n        self.model = HornbeamModel(config, self.backend, **options)\n\n{EMBEDDINGS}",
        ),
    ),
    _taken(
        "popped-by-the-decoder",
        "it is forwarded to what reads it",
        Edit(HORNBEAM, ACCEPTED, ACCEPTED.replace("moe_overrides: dict[str, Any] | None = None,", "**kwargs: Any,")),
        Edit(HORNBEAM, MERGED, '        defaults.update(kwargs.pop("moe_overrides", None) or {})\n'),
    ),
    _taken(
        "config-must-be-given",
        "none is built by default",
        Edit(
            HORNBEAM, FORWARDED, "self.model = HornbeamModel(config, self.backend, moe_config=kwargs.pop('moe_config'))"
        ),
        Edit(
            HORNBEAM,
            "        self.moe_config = moe_config or MoEConfig(**defaults)\n",
            "        self.moe_config = moe_config\n",
        ),
    ),
]

HARMLESS = [*SYNCED, *BALANCED, *PRECISION, *OVERRIDES]
