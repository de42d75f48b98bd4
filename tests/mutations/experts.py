"""NAM601-NAM604: what a class with the shared experts owes the framework."""

from __future__ import annotations

from . import PACKAGE, Edit, Fault, model
from .casts import EMBEDDINGS, indented

SPRUCE, HORNBEAM = model("spruce"), model("hornbeam")
MOE_CONFIG = f"{PACKAGE}/components/moe/config.py"
SYNC = f"from {PACKAGE}.components.moe.fsdp_mixin import MoEFSDPSyncMixin\n"

SPRUCE_CLASS = "class SpruceForCausalLM(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module):\n"
HORNBEAM_CLASS = "class HornbeamForCausalLM(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module):\n"
AT_SPRUCE, AT_HORNBEAM = "class SpruceForCausalLM(", "class HornbeamForCausalLM("


def bases(path: str, *names: str) -> Edit:
    """Other bases for the registered class of Spruce or Hornbeam."""
    old = SPRUCE_CLASS if path == SPRUCE else HORNBEAM_CLASS
    return Edit(path, old, f"{old.partition('(')[0]}({', '.join(names)}):\n")


def above(path: str, text: str, *names: str) -> Edit:
    """Something new above the registered class, and other bases for it."""
    old = SPRUCE_CLASS if path == SPRUCE else HORNBEAM_CLASS
    head = f"{old.partition('(')[0]}({', '.join(names)}):\n" if names else old
    return Edit(path, old, f"{text}\n\n\n{head}")


SYNCED = [
    Fault("NAM601", "no-mixin", (bases(SPRUCE, "HFCheckpointingMixin", "nn.Module"),), at=AT_SPRUCE),
    Fault("NAM601", "experts-in-some-layers", (bases(HORNBEAM, "HFCheckpointingMixin", "nn.Module"),), at=AT_HORNBEAM),
    Fault(
        "NAM601",
        "on-the-decoder",
        (
            bases(SPRUCE, "HFCheckpointingMixin", "nn.Module"),
            Edit(SPRUCE, "class SpruceModel(nn.Module):\n", "class SpruceModel(nn.Module, MoEFSDPSyncMixin):\n"),
        ),
        at=AT_SPRUCE,
    ),
    Fault(
        "NAM601",
        "held-not-inherited",
        (
            bases(SPRUCE, "HFCheckpointingMixin", "nn.Module"),
            Edit(
                SPRUCE,
                "    config_class = SpruceConfig\n",
                "    config_class = SpruceConfig\n    sync_mixin = MoEFSDPSyncMixin\n",
            ),
        ),
        at=AT_SPRUCE,
    ),
    Fault(
        "NAM601",
        "base-without-it",
        (above(SPRUCE, 'class SpruceBase(HFCheckpointingMixin, nn.Module):\n    """Shared."""', "SpruceBase"),),
        at=AT_SPRUCE,
    ),
    Fault(
        "NAM601",
        "methods-written-out",
        (
            bases(HORNBEAM, "HFCheckpointingMixin", "nn.Module"),
            Edit(
                HORNBEAM,
                EMBEDDINGS,
                f"    def prepare_for_final_backward(self, pp_enabled: bool = False) -> None:\n        raise NotImplementedError\n\n{EMBEDDINGS}",
            ),
        ),
        at=AT_HORNBEAM,
    ),
    Fault(
        "NAM601",
        "experts-by-a-factory",
        (
            bases(SPRUCE, "HFCheckpointingMixin", "nn.Module"),
            Edit(
                SPRUCE,
                "        self.mlp = MoE(moe_config, backend)\n",
                "        self.mlp = _experts(moe_config, backend)\n",
            ),
            Edit(
                SPRUCE,
                "class SpruceDecoderLayer(",
                "def _experts(moe_config, backend):\n    return MoE(moe_config, backend)\n\n\nclass SpruceDecoderLayer(",
            ),
        ),
        at=AT_SPRUCE,
    ),
    Fault(
        "NAM601",
        "experts-of-an-heir",
        (
            bases(SPRUCE, "HFCheckpointingMixin", "nn.Module"),
            Edit(
                SPRUCE,
                "        self.mlp = MoE(moe_config, backend)\n",
                "        self.add_module('mlp', SpruceMoE(moe_config, backend=backend))\n",
            ),
            Edit(
                SPRUCE,
                "class SpruceDecoderLayer(",
                'class SpruceMoE(MoE):\n    """Spruce\'s own."""\n\n\nclass SpruceDecoderLayer(',
            ),
        ),
        at=AT_SPRUCE,
    ),
]

SPRUCE_UPDATE = '''    def update_moe_gate_bias(self) -> None:
        """Rebalance the experts; to be called once an optimiser step."""
        for layer in self.model.layers:
            layer.mlp.gate.update_bias()

'''
HORNBEAM_UPDATE = SPRUCE_UPDATE.replace(
    "            layer.mlp.gate", "            if layer.is_routed:\n                layer.mlp.gate"
)
FACTOR = "            gate_bias_update_factor=1e-3,\n"
NO_UPDATE = Edit(SPRUCE, SPRUCE_UPDATE, "")
DECODER_RETURNS = "        return self.norm(hidden)\n"
REPLACED = "        self.moe_config = replace(moe_config, **(moe_overrides or {}))\n"


def _unbalanced(name: str, *edits: Edit, at: str = AT_SPRUCE, path: str = "") -> Fault:
    return Fault("NAM602", name, edits, at=at, path=path)


BALANCED = [
    _unbalanced("no-method", NO_UPDATE),
    _unbalanced("factor-in-a-dict", Edit(HORNBEAM, HORNBEAM_UPDATE, ""), at=AT_HORNBEAM),
    _unbalanced("misspelled", Edit(SPRUCE, "    def update_moe_gate_bias(", "    def update_gate_bias(")),
    _unbalanced(
        "on-the-decoder",
        NO_UPDATE,
        Edit(SPRUCE, DECODER_RETURNS, f"{DECODER_RETURNS}\n{SPRUCE_UPDATE.replace('self.model.', 'self.').rstrip()}\n"),
    ),
    _unbalanced(
        "factor-kept-in-a-name",
        NO_UPDATE,
        Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", "_STEP")),
        Edit(SPRUCE, "class SpruceDecoderLayer(", "_STEP = 0.01\n\n\nclass SpruceDecoderLayer("),
    ),
    _unbalanced("whole-number", NO_UPDATE, Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", "1"))),
    _unbalanced("computed", NO_UPDATE, Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", "1 / 1024"))),
    _unbalanced(
        "factor-of-a-base",
        NO_UPDATE,
        Edit(SPRUCE, FACTOR, FACTOR.replace("1e-3", "self.STEP")),
        Edit(
            SPRUCE,
            '    """Embedding, layers and final norm."""\n',
            '    """Embedding, layers and final norm."""\n\n    STEP = 1e-4\n',
        ),
    ),
    _unbalanced(
        "default-of-the-shared-config",
        NO_UPDATE,
        Edit(SPRUCE, FACTOR, ""),
        Edit(MOE_CONFIG, "gate_bias_update_factor: float = 0.0\n", "gate_bias_update_factor: float = 1e-3\n"),
    ),
    _unbalanced(
        "default-of-a-config-of-its-own",
        NO_UPDATE,
        Edit(SPRUCE, FACTOR, ""),
        Edit(SPRUCE, "        moe_config = MoEConfig(\n", "        moe_config = SpruceMoEConfig(\n"),
        Edit(
            SPRUCE,
            "class SpruceDecoderLayer(",
            "@dataclass\nclass SpruceMoEConfig(MoEConfig):\n    gate_bias_update_factor: float = 0.001\n\n\nclass SpruceDecoderLayer(",
        ),
    ),
    _unbalanced(
        "config-by-a-function",
        NO_UPDATE,
        Edit(SPRUCE, "        moe_config = MoEConfig(\n", "        moe_config = _moe_config(\n"),
        Edit(
            SPRUCE,
            "class SpruceDecoderLayer(",
            "def _moe_config(**fields):\n    return MoEConfig(**fields)\n\n\nclass SpruceDecoderLayer(",
        ),
    ),
    _unbalanced("annotation-without-a-value", Edit(SPRUCE, SPRUCE_UPDATE, "    update_moe_gate_bias: Any\n\n")),
]

SPRUCE_BACKEND = "        self.backend = backend or BackendConfig(gate_precision=torch.float32)\n"
HORNBEAM_BACKEND = "        self.backend = replace(backend or BackendConfig(), gate_precision=torch.float32)\n"


def backend(path: str, *lines: str) -> Edit:
    """Other lines where Spruce or Hornbeam takes its backend."""
    return Edit(path, SPRUCE_BACKEND if path == SPRUCE else HORNBEAM_BACKEND, indented(*lines))


def _precision(name: str, path: str, *lines: str) -> Fault:
    at = AT_SPRUCE if path == SPRUCE else AT_HORNBEAM
    return Fault("NAM603", name, (backend(path, *lines),), at=at)


PRECISION = [
    _precision("default-backend", SPRUCE, "self.backend = backend or BackendConfig()"),
    _precision("as-it-came", HORNBEAM, "self.backend = backend", "assert backend is not None"),
    _precision("another-field", HORNBEAM, 'self.backend = replace(backend or BackendConfig(), linear="torch")'),
    _precision("none", SPRUCE, "self.backend = backend or BackendConfig(gate_precision=None)"),
    _precision(
        "put-back-to-none", HORNBEAM, "self.backend = backend or BackendConfig()", "self.backend.gate_precision = None"
    ),
    _precision(
        "on-the-model-itself",
        HORNBEAM,
        "self.backend = backend or BackendConfig()",
        "self.gate_precision = torch.float32",
    ),
    _precision(
        "only-read",
        SPRUCE,
        "self.backend = backend or BackendConfig()",
        "self.routes_in_fp32 = self.backend.gate_precision is torch.float32",
    ),
]

PARAMETER = "        moe_overrides: dict[str, Any] | None = None,\n    ):\n        reject_"
HANDED = "self.model = SpruceModel(config, self.backend, moe_overrides)"
FORWARDED = "self.model = HornbeamModel(config, self.backend, **kwargs)"
ACCEPTED = """        moe_overrides: dict[str, Any] | None = None,
    ):
        super().__init__()
"""
MERGED = "        if moe_overrides:\n            defaults.update(moe_overrides)\n"


def _fixed(name: str, *edits: Edit, at: str = AT_HORNBEAM) -> Fault:
    return Fault("NAM604", name, edits, at=at)


OVERRIDES = [
    _fixed(
        "no-parameter",
        Edit(SPRUCE, PARAMETER, PARAMETER.replace("        moe_overrides: dict[str, Any] | None = None,\n", "")),
        Edit(SPRUCE, HANDED, HANDED.replace(", moe_overrides", "")),
        at=AT_SPRUCE,
    ),
    _fixed("swallowed", Edit(HORNBEAM, FORWARDED, FORWARDED.replace(", **kwargs", ""))),
    _fixed(
        "under-another-name",
        Edit(SPRUCE, PARAMETER, PARAMETER.replace("moe_overrides", "overrides")),
        Edit(SPRUCE, HANDED, HANDED.replace("moe_overrides", "overrides")),
        at=AT_SPRUCE,
    ),
    _fixed(
        "misspelled",
        Edit(HORNBEAM, FORWARDED, FORWARDED.replace("**kwargs", 'moe_overrides=kwargs.pop("moe_override", None)')),
    ),
    _fixed(
        "only-a-whole-config",
        Edit(HORNBEAM, FORWARDED, FORWARDED.replace("**kwargs", 'moe_config=kwargs.get("moe_config")')),
    ),
    _fixed(
        "forwarded-to-what-swallows-them",
        Edit(HORNBEAM, ACCEPTED, ACCEPTED.replace("moe_overrides: dict[str, Any] | None = None,", "**kwargs: Any,")),
        Edit(HORNBEAM, MERGED, ""),
    ),
    _fixed(
        "forwarded-to-another-part",
        Edit(
            HORNBEAM,
            FORWARDED,
            "self.model = HornbeamModel(config, self.backend)\n        self.extra = _Extra(**kwargs)",
        ),
        above(HORNBEAM, "class _Extra(nn.Module):\n    def __init__(self, **kwargs):\n        super().__init__()"),
    ),
    _fixed(
        "dropped-before-the-decoder",
        Edit(
            HORNBEAM,
            FORWARDED,
            'known = {"moe_config": kwargs.get("moe_config")}\n        self.model = HornbeamModel(config, self.backend, **known)',
        ),
    ),
    _fixed(
        "only-asked-for",
        Edit(HORNBEAM, FORWARDED, "assert len(kwargs) < 2\n        self.model = HornbeamModel(config, self.backend)"),
    ),
]

FAULTS = [*SYNCED, *BALANCED, *PRECISION, *OVERRIDES]
