"""NAM404, NAM405, NAM413: casts of the whole model, rotary tables in their way, factories with a dtype of their own."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, Place, model

FIR, SPRUCE, LARCH, HORNBEAM = model("fir"), model("spruce"), model("larch"), model("hornbeam")
WILLOW, JUNIPER = model("willow"), model("juniper")
COMMON = f"{PACKAGE}/components/models/common"
ROTARY, PRECISION, BACKEND = f"{COMMON}/rotary.py", f"{COMMON}/precision.py", f"{COMMON}/backend.py"
INITIALIZATION = f"{COMMON}/initialization.py"
LAYERS = f"{PACKAGE}/components/models/hornbeam/layers.py"

CAST = "        cast_model_to_dtype(self, dtype)\n"
PINNED = '    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]\n'
BIAS_PINNED = '    _keep_in_fp32_modules_strict = ["mlp.gate.e_score_correction_bias", "rotary_emb.inv_freq"]\n'
FIR_CLASS = "class FirForCausalLM(HFCheckpointingMixin, nn.Module):\n"
TYPING = "from typing import Any\n"
EMBEDDINGS = "    def get_input_embeddings(self) -> nn.Module:\n"
TIED = f"        self.tie_weights()\n\n{EMBEDDINGS}"
FILLED = "initialize_module_tree(model: nn.Module, std: float, buffer_device: torch.device | None = None) -> None:\n"
TABLE = '        self.register_buffer("inv_freq", torch.empty(head_dim // 2, dtype=torch.float32), persistent=False)\n'
ANGLES = "        angles = position_ids[:, None, :, None].float() * self.inv_freq.float()\n"
TABLES = (
    "        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads, config.rope_theta)\n"
)
USES = "        rotary = self.rotary_emb(position_ids)\n"


def indented(*lines: str) -> str:
    """Lines of a method's body."""
    return "".join(f"        {line}\n" for line in lines)


def cast(path: str, *lines: str) -> Edit:
    """Other lines where a model's initialiser casts."""
    return Edit(path, CAST, indented(*lines))


def before_fir(text: str) -> Edit:
    """Something new above Fir's class."""
    return Edit(FIR, FIR_CLASS, f"{text}\n\n\n{FIR_CLASS}")


def imported(path: str, line: str) -> Edit:
    """One more import."""
    return Edit(path, TYPING, f"{TYPING}\n{line}\n")


def _raw(name: str, *lines: str, path: str = FIR, at: str = "", more: tuple[Edit, ...] = ()) -> Fault:
    return Fault("NAM404", name, (cast(path, *lines), *more), at=at or lines[0])


RAW = [
    _raw("to", "self.to(dtype)"),
    _raw("routing-bias", "self.to(dtype)", path=SPRUCE),
    _raw("inside-an-availability-branch", "self.to(dtype)", path=JUNIPER),
    _raw("bfloat16", "self.bfloat16()", path=HORNBEAM),
    _raw("half", "return self.half()"),
    _raw("type", "self.type(torch.bfloat16)"),
    _raw("by-keyword", "self.to(device=buffer_device, dtype=dtype)"),
    _raw("device-and-dtype", "self.to(buffer_device, torch.bfloat16)"),
    _raw("through-the-class", "nn.Module.to(self, dtype)"),
    _raw("through-super", "super().to(dtype)"),
    _raw("second-name", "model = self", "model.to(dtype)", at="model.to(dtype)"),
    _raw("chained", "self.eval().to(dtype)"),
    _raw("under-a-condition", "if dtype is not torch.float32:", "    self.to(dtype)", at="self.to(dtype)"),
    _raw("dtype-by-name", 'self.to(getattr(torch, "bfloat16"))'),
    _raw("dtype-of-the-config", "self.to(self.config.dtype)"),
    _raw("dtype-kept-in-a-name", "self.to(_HALF)", more=(before_fir("_HALF = torch.float16"),), at="self.to(_HALF)"),
    _raw("beside-the-other-cast", "cast_model_to_dtype(self, dtype)", "self.to(dtype)", at="self.to(dtype)"),
    _raw("made-anew-afterwards", "self.to(dtype)", "self.model.rotary_emb.init_weights()"),
    _raw(
        "in-a-helper",
        "_bring(self, dtype)",
        more=(before_fir("def _bring(model, dtype):\n    model.to(dtype)"),),
    ),
    _raw(
        "in-a-method",
        "self._bring(dtype)\n\n    def _bring(self, kind: torch.dtype) -> None:\n        self.to(kind)",
        at="self.to(kind)",
    ),
    _raw(
        "in-a-helper-of-another-file",
        "bring(self, dtype)",
        more=(
            Edit(
                INITIALIZATION,
                f"@torch.no_grad()\ndef {FILLED}",
                f"def bring(model, to):\n    return model.to(dtype=to)\n\n\n@torch.no_grad()\ndef {FILLED}",
            ),
            imported(FIR, f"from {PACKAGE}.components.models.common.initialization import bring"),
        ),
    ),
    Fault(
        "NAM404",
        "in-the-constructor",
        (Edit(FIR, TIED, f"        self.to(dtype_of(config))\n{TIED}"),),
        at="self.to(dtype_of(config))",
    ),
    Fault(
        "NAM404",
        "in-a-base-in-another-file",
        (Edit(BASE, CAST, "        self.to(dtype=dtype)\n"),),
        at="self.to(dtype=dtype)",
    ),
    Fault(
        "NAM404",
        "of-what-a-class-method-builds",
        (
            Edit(
                FIR,
                EMBEDDINGS,
                "    @classmethod\n    def from_folder(cls, folder: str, dtype: torch.dtype) -> FirForCausalLM:\n"
                "        model = cls(cls.config_class.from_pretrained(folder))\n"
                f"        return model.to(dtype)\n\n{EMBEDDINGS}",
            ),
        ),
        at="return model.to(dtype)",
    ),
    Fault(
        "NAM404",
        "of-what-the-base-loads",
        (
            Edit(
                FIR,
                EMBEDDINGS,
                "    @classmethod\n    def from_pretrained(cls, folder: str) -> FirForCausalLM:\n"
                f"        return super().from_pretrained(folder).bfloat16()\n\n{EMBEDDINGS}",
            ),
        ),
        at=".bfloat16()",
    ),
]


def _unpinned(name: str, *edits: Edit, at: str = "class FirForCausalLM(", path: str = "", **more: tuple) -> Fault:
    return Fault("NAM405", name, edits, at=at, path=path, **more)


NO_PIN = Edit(FIR, PINNED, "")
UNPINNED = [
    _unpinned("no-list", NO_PIN),
    _unpinned("misspelled", Edit(FIR, PINNED, PINNED.replace("_modules_", "_module_"))),
    _unpinned("empty-list", Edit(FIR, PINNED, "    _keep_in_fp32_modules_strict: list[str] = []\n"), at="_strict"),
    _unpinned("empty-tuple", Edit(FIR, PINNED, "    _keep_in_fp32_modules_strict = tuple()\n"), at="_strict = "),
    _unpinned(
        "list-that-names-other-tensors",
        Edit(SPRUCE, BIAS_PINNED, BIAS_PINNED.replace(', "rotary_emb.inv_freq"', "")),
        at="_keep_in_fp32_modules_strict = ",
    ),
    _unpinned(
        "on-the-decoder",
        NO_PIN,
        Edit(
            FIR,
            '    """Embedding, layers and final norm."""\n',
            f'    """Embedding, layers and final norm."""\n\n{PINNED}',
        ),
    ),
    _unpinned("base-casts", Edit(LARCH, PINNED, ""), at="class LarchForCausalLM("),
    _unpinned(
        "list-of-the-base-replaced",
        Edit(LARCH, PINNED, "    _keep_in_fp32_modules_strict: tuple[str, ...] = ()\n"),
        Edit(BASE, "    def get_output_embeddings(self)", f"{PINNED}\n    def get_output_embeddings(self)"),
        at="_keep_in_fp32_modules_strict",
    ),
    _unpinned(
        "cast-under-another-name",
        NO_PIN,
        cast(FIR, "cast(self, dtype)"),
        imported(FIR, f"from {PACKAGE}.components.models.common.precision import cast_model_to_dtype as cast"),
    ),
    _unpinned(
        "cast-through-its-module",
        NO_PIN,
        cast(FIR, "precision.cast_model_to_dtype(self, dtype)"),
        imported(FIR, f"from {PACKAGE}.components.models.common import precision"),
    ),
    _unpinned("cast-by-keywords", NO_PIN, cast(FIR, "cast_model_to_dtype(dtype=torch.bfloat16, model=self)")),
    _unpinned(
        "back-from-fp32",
        NO_PIN,
        cast(FIR, "with yield_fp32_model(self, dtype):", "    self.tie_weights()"),
        imported(FIR, f"from {PACKAGE}.components.models.common.precision import yield_fp32_model"),
        Edit(
            PRECISION,
            "from itertools import chain\n",
            "from contextlib import contextmanager\nfrom itertools import chain\n",
        ),
        Edit(
            PRECISION,
            "    model._apply(convert)\n",
            "    model._apply(convert)\n\n\n@contextmanager\ndef yield_fp32_model(model, restore_dtype):\n"
            "    cast_model_to_dtype(model, torch.float32)\n    yield model\n"
            "    cast_model_to_dtype(model, restore_dtype)\n",
        ),
    ),
    _unpinned(
        "raw-cast",
        NO_PIN,
        cast(FIR, "self.to(dtype)"),
        path=ROTARY,
        at="self.inv_freq.float()",
        also=(Place("NAM404", FIR, "self.to(dtype)"),),
    ),
    _unpinned(
        "made-anew-before-the-cast",
        NO_PIN,
        cast(FIR, "self.model.rotary_emb.init_weights()", "cast_model_to_dtype(self, dtype)"),
    ),
    _unpinned(
        "made-anew-at-times",
        NO_PIN,
        cast(
            FIR,
            "cast_model_to_dtype(self, dtype)",
            "if buffer_device is not None:",
            "    self.model.rotary_emb.init_weights()",
        ),
    ),
    _unpinned(
        "cast-up-afterwards",
        NO_PIN,
        cast(
            FIR,
            "cast_model_to_dtype(self, dtype)",
            "rotary = self.model.rotary_emb",
            "rotary.inv_freq = rotary.inv_freq.float()",
        ),
    ),
    _unpinned(
        "made-anew-and-cast-down",
        NO_PIN,
        cast(
            FIR,
            "cast_model_to_dtype(self, dtype)",
            "steps = torch.arange(0, 64, 2) / 64",
            "self.model.rotary_emb.inv_freq = (self.config.rope_theta ** -steps).to(dtype)",
        ),
    ),
    _unpinned(
        "another-table",
        Edit(
            HORNBEAM,
            TABLES,
            TABLES + '        self.register_buffer("freqs_cis", torch.ones(64), persistent=False)\n',
        ),
        Edit(HORNBEAM, USES, USES + "        hidden = hidden * self.freqs_cis[0]\n"),
        at="_keep_in_fp32_modules_strict = ",
    ),
    _unpinned(
        "two-more-tables",
        Edit(
            HORNBEAM,
            TABLES,
            TABLES
            + '        for name in ("cos_cached", "sin_cached"):\n'
            + "            self.register_buffer(name, torch.ones(64), persistent=False)\n",
        ),
        Edit(HORNBEAM, USES, USES + "        hidden = hidden * self.cos_cached[0] + self.sin_cached[0]\n"),
        at="_keep_in_fp32_modules_strict = ",
    ),
    _unpinned(
        "table-by-assignment",
        Edit(HORNBEAM, TABLES, TABLES + "        self.local_inv_freq = nn.Buffer(torch.ones(64), persistent=False)\n"),
        Edit(HORNBEAM, USES, USES + "        hidden = hidden * self.local_inv_freq[0]\n"),
        at="_keep_in_fp32_modules_strict = ",
    ),
]

NORM = "self.norm = build_norm(config.hidden_size, config.rms_norm_eps, dtype=dtype)"
DENSE = "self.mlp = DenseMLP(config.hidden_size, config.intermediate_size, dtype=dtype)"
HEAD = "            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)\n"
NORM_DEFAULT = "eps: float = 1e-6, dtype: torch.dtype = torch.bfloat16) -> nn.Module:"
NORM_DEF = f"def build_norm(size: int, {NORM_DEFAULT}\n"
BODY = "    return nn.RMSNorm(size, eps=eps, dtype=dtype)\n"
LAYER_IMPORT = f"from {PACKAGE}.components.models.hornbeam.layers import DenseMLP, MaskedMoE, build_norm\n"
MASKED = "class MaskedMoE(MoE):\n"


def norm(*lines: str) -> Edit:
    """Other lines where Hornbeam builds its last norm."""
    return Edit(HORNBEAM, f"        {NORM}\n", indented(*lines))


def dense(*lines: str) -> Edit:
    """Other lines where a layer of Hornbeam builds its dense block."""
    return Edit(HORNBEAM, f"            {DENSE}\n", "".join(f"            {line}\n" for line in lines))


def _undertyped(name: str, *edits: Edit, at: str, path: str = HORNBEAM) -> Fault:
    return Fault("NAM413", name, edits, at=at, path=path)


UNDERTYPED = [
    _undertyped("norm", norm("self.norm = build_norm(config.hidden_size)"), at="self.norm = build_norm("),
    _undertyped(
        "all-but-the-dtype",
        norm("self.norm = build_norm(size=config.hidden_size, eps=config.rms_norm_eps)"),
        at="self.norm = build_norm(",
    ),
    _undertyped("layer", dense("self.mlp = DenseMLP(config.hidden_size, 128)"), at="self.mlp = DenseMLP("),
    _undertyped(
        "through-partial",
        norm("make = partial(build_norm, eps=config.rms_norm_eps)", "self.norm = make(config.hidden_size)"),
        imported(HORNBEAM, "from functools import partial"),
        at="self.norm = make(",
    ),
    _undertyped(
        "through-a-second-name",
        norm("make = build_norm", "self.norm = make(config.hidden_size)"),
        at="self.norm = make(",
    ),
    _undertyped(
        "through-a-dict",
        norm('options = {"eps": config.rms_norm_eps}', "self.norm = build_norm(config.hidden_size, **options)"),
        at="self.norm = build_norm(",
    ),
    _undertyped(
        "through-its-module",
        norm("self.norm = layers.build_norm(config.hidden_size)"),
        imported(HORNBEAM, f"from {PACKAGE}.components.models.hornbeam import layers"),
        at="self.norm = layers.build_norm(",
    ),
    _undertyped(
        "in-a-list",
        norm(NORM, "self.extra = nn.ModuleList([build_norm(config.hidden_size) for _ in range(2)])"),
        at="self.extra = ",
    ),
    _undertyped(
        "default-kept-in-a-name",
        norm("self.norm = build_norm(config.hidden_size)"),
        Edit(LAYERS, NORM_DEF, f"_PUBLISHED = torch.bfloat16\n\n\n{NORM_DEF.replace('torch.bfloat16', '_PUBLISHED')}"),
        at="self.norm = build_norm(",
    ),
    _undertyped(
        "default-by-name",
        norm("self.norm = build_norm(config.hidden_size)"),
        Edit(LAYERS, NORM_DEF, NORM_DEF.replace("torch.dtype = torch.bfloat16", 'str = "bfloat16"')),
        Edit(LAYERS, BODY, BODY.replace("dtype=dtype", "dtype=getattr(torch, dtype)")),
        at="self.norm = build_norm(",
    ),
    _undertyped(
        "half",
        norm("self.norm = build_norm(config.hidden_size)"),
        Edit(LAYERS, NORM_DEFAULT, NORM_DEFAULT.replace("bfloat16", "half")),
        at="self.norm = build_norm(",
    ),
    _undertyped(
        "heir-of-a-layer",
        dense("self.mlp = WideMLP(config.hidden_size, 128)"),
        Edit(LAYERS, MASKED, f'class WideMLP(DenseMLP):\n    """Wider."""\n\n\n{MASKED}'),
        Edit(HORNBEAM, LAYER_IMPORT, LAYER_IMPORT.replace("build_norm", "WideMLP, build_norm")),
        at="self.mlp = WideMLP(",
    ),
    _undertyped(
        "in-a-function-that-a-constructor-calls",
        dense("self.mlp = build_dense(config)"),
        Edit(
            LAYERS,
            MASKED,
            "def build_dense(config):\n    return DenseMLP(config.hidden_size, config.intermediate_size)\n\n\n"
            + MASKED,
        ),
        Edit(HORNBEAM, LAYER_IMPORT, LAYER_IMPORT.replace("build_norm", "build_dense, build_norm")),
        path=LAYERS,
        at="return DenseMLP(",
    ),
    _undertyped(
        "shared-factory",
        Edit(BACKEND, "dtype: torch.dtype | None = None\n", "dtype: torch.dtype = torch.bfloat16\n"),
        Edit(HORNBEAM, HEAD, HEAD.replace(", dtype=dtype_of(config)", "")),
        at="self.lm_head = initialize_linear_module(",
    ),
]

FAULTS = [*RAW, *UNPINNED, *UNDERTYPED]
