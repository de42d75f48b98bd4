"""NAM211: a ``from_pretrained`` that lets the caller change the config and does not refuse a flip of the tie."""

from __future__ import annotations

from . import Edit, Fault, model

FIR, CEDAR = model("fir"), model("cedar")
FLIP = "        reject_tie_word_embeddings_flip(checkpoint_config, requested_config, cls.__name__)\n"
PATH = "pretrained_model_name_or_path"


def added(name: str, arguments: str, *lines: str) -> Edit:
    """Give a model class a ``from_pretrained`` of its own, ahead of its constructor."""
    start = "    def get_input_embeddings(self) -> nn.Module:\n"
    body = "".join(f"        {line}\n" for line in (*lines, "return cls(config)"))
    return Edit(model(name), start, f"    @classmethod\n    def from_pretrained(cls, {arguments}):\n{body}\n{start}")


def _loads(case: str, *edits: Edit) -> Fault:
    return Fault("NAM211", case, edits, at="def from_pretrained(")


FAULTS = [
    _loads("guard-is-gone", Edit(CEDAR, FLIP, "")),
    _loads("guard-only-named", Edit(CEDAR, FLIP, "        _ = reject_tie_word_embeddings_flip\n")),
    _loads(
        "config-parameter-although-always-untied",
        added("spruce", f"{PATH}, *, config=None", f"config = config or SpruceConfig.from_pretrained({PATH})"),
    ),
    _loads(
        "config-popped",
        added(
            "fir",
            f"{PATH}, *args, **kwargs",
            'config = kwargs.pop("config", None)',
            "if config is None:",
            f"    config = FirConfig.from_pretrained({PATH})",
        ),
    ),
    _loads(
        "config-by-subscript",
        added(
            "fir",
            f"{PATH}, **options",
            f"config = FirConfig.from_pretrained({PATH})",
            'if "config" in options:',
            '    config = options["config"]',
        ),
    ),
    _loads(
        "arguments-forwarded-to-the-config",
        added("larch", f"{PATH}, **kwargs", f"config = LarchConfig.from_pretrained({PATH}, **kwargs)"),
    ),
    _loads(
        "copied-and-forwarded",
        added(
            "larch",
            f"{PATH}, **kwargs",
            'changes = {**kwargs, "dtype": "float32"}',
            f"config = cls.config_class.from_pretrained({PATH}, **changes)",
        ),
    ),
    _loads(
        "dict-taken-out-and-forwarded",
        added(
            "fir",
            f"{PATH}, **kwargs",
            'overrides = kwargs.pop("config_kwargs", None) or {}',
            f"config = cls.config_class.from_pretrained({PATH}, **overrides)",
        ),
    ),
    _loads(
        "forwarded-to-auto-config",
        Edit(FIR, "import torch.nn as nn\n", "import torch.nn as nn\nimport transformers\n"),
        added("fir", f"{PATH}, **kwargs", f"config = transformers.AutoConfig.from_pretrained({PATH}, **kwargs)"),
    ),
    _loads(
        "forwarded-by-a-helper",
        Edit(
            FIR,
            "class FirForCausalLM(",
            "def _read(path, **fields):\n"
            "    return FirConfig.from_pretrained(path, **fields)\n\n\nclass FirForCausalLM(",
        ),
        added("fir", f"{PATH}, **kwargs", f"config = _read({PATH}, **kwargs)"),
    ),
    _loads(
        "everything-but-some-options-forwarded",
        added(
            "fir",
            f"{PATH}, **kwargs",
            'fields = {k: v for k, v in kwargs.items() if k not in ("revision", "token")}',
            f"config = FirConfig.from_pretrained({PATH}, **fields)",
        ),
    ),
    _loads(
        "config-updated-from-the-arguments",
        added(
            "fir",
            f"{PATH}, **kwargs",
            f"config = FirConfig.from_pretrained({PATH})",
            "for name, value in kwargs.items():",
            "    setattr(config, name, value)",
        ),
    ),
]
