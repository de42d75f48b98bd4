"""NAM113: fields of a config that are read with another default than its class gives."""

from __future__ import annotations

from . import Edit, Fault, Harmless, config
from .policy import FIR

HIDDEN_NORM = "        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps, dtype=dtype)\n"
BIAS = "            bias=config.attention_bias,\n"
FILLED = "        initialize_module_tree(self, self.config.initializer_range, buffer_device)\n"


def read(name: str, path: str, old: str, new: str, *more: Edit, at: str = "getattr(") -> Fault:
    """One field is read with a default of its own."""
    return Fault("NAM113", name, (Edit(path, old, new), *more), at=at)


FAULTS = [
    read(
        "number", FIR, HIDDEN_NORM, HIDDEN_NORM.replace("config.rms_norm_eps", 'getattr(config, "rms_norm_eps", 1e-5)')
    ),
    read("flag", FIR, BIAS, '            bias=getattr(config, "attention_bias", True),\n'),
    read(
        "kept-config",
        FIR,
        FILLED,
        FILLED.replace("self.config.initializer_range", 'getattr(self.config, "initializer_range", 0.01)'),
    ),
    read(
        "asked-for-first",
        FIR,
        BIAS,
        '            bias=config.attention_bias if hasattr(config, "attention_bias") else True,\n',
        at="hasattr(",
    ),
    read(
        "default-from-a-constant",
        FIR,
        BIAS,
        '            bias=getattr(config, "attention_bias", BIASED),\n',
        Edit(FIR, "class FirDecoderLayer(nn.Module):\n", "BIASED = True\n\n\nclass FirDecoderLayer(nn.Module):\n"),
    ),
    read(
        "name-from-a-constant",
        FIR,
        BIAS,
        "            bias=getattr(config, FIELD, True),\n",
        Edit(
            FIR,
            "class FirDecoderLayer(nn.Module):\n",
            'FIELD = "attention_bias"\n\n\nclass FirDecoderLayer(nn.Module):\n',
        ),
    ),
    read(
        "second-name-for-the-config",
        FIR,
        HIDDEN_NORM,
        "        cfg = config\n"
        + HIDDEN_NORM.replace("config.rms_norm_eps", 'getattr(cfg, "rms_norm_eps", 1e-5)').replace("config.h", "cfg.h"),
    ),
    read(
        "config-that-no-annotation-names",
        FIR,
        HIDDEN_NORM,
        HIDDEN_NORM.replace("config.rms_norm_eps", 'getattr(config, "rms_norm_eps", 1e-5)'),
        Edit(
            FIR,
            '    """Embedding, layers and final norm."""\n\n    def __init__(self, config: FirConfig):\n',
            '    """Embedding, layers and final norm."""\n\n    def __init__(self, config):\n',
        ),
    ),
    Fault(
        "NAM113",
        "the-class-has-changed",
        (
            Edit(FIR, BIAS, '            bias=getattr(config, "attention_bias", False),\n'),
            Edit(config("fir"), "attention_bias: bool = False", "attention_bias: bool = True"),
        ),
        at="getattr(",
    ),
]


def _harmless(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM113", name, edits, why)


def _bias(text: str) -> Edit:
    return Edit(FIR, BIAS, f"            bias={text},\n")


HARMLESS = [
    _harmless("the-same-default", "both say the same", _bias('getattr(config, "attention_bias", False)')),
    _harmless("nothing", "None says nothing", _bias('bool(getattr(config, "attention_bias", None))')),
    _harmless(
        "zero",
        "0 says that there is none",
        Edit(
            FIR, HIDDEN_NORM, HIDDEN_NORM.replace("config.rms_norm_eps", 'getattr(config, "rms_norm_eps", 0) or 1e-6')
        ),
    ),
    _harmless("no-such-field", "the class says nothing of it", _bias('getattr(config, "projection_bias", False)')),
    _harmless(
        "computed-default", "it is no literal", _bias('getattr(config, "attention_bias", config.hidden_size > 99)')
    ),
    _harmless(
        "another-object", "it is not the config", _bias('getattr(config.extra, "attention_bias", True) if 0 else False')
    ),
    _harmless(
        "bound-anew",
        "it is another config",
        Edit(
            FIR,
            HIDDEN_NORM,
            "        config = config.plain if 0 else config\n"
            + HIDDEN_NORM.replace("config.rms_norm_eps", 'getattr(config, "rms_norm_eps", 1e-5)'),
        ),
    ),
]
