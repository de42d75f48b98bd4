"""What looks like a fault of NAM404, NAM405 or NAM413 and is none."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Harmless
from .casts import (
    ANGLES,
    CAST,
    EMBEDDINGS,
    FIR,
    HEAD,
    HORNBEAM,
    LARCH,
    LAYER_IMPORT,
    LAYERS,
    MASKED,
    NO_PIN,
    NORM,
    NORM_DEF,
    NORM_DEFAULT,
    PINNED,
    ROTARY,
    TABLE,
    TABLES,
    TIED,
    USES,
    before_fir,
    cast,
    dense,
    imported,
    norm,
)

KEEPING = "cast_model_to_dtype(self, dtype)"


def _kept(name: str, why: str, *lines: str, more: tuple[Edit, ...] = ()) -> Harmless:
    return Harmless("NAM404", name, (cast(FIR, *lines), *more), why)


NOT_RAW = [
    _kept("fp32-by-name", "nothing is rounded", 'self.to(getattr(torch, "float32"))', KEEPING),
    _kept("ruled-out-by-a-literal", "it never runs", KEEPING, "if False:", "    self.to(dtype)"),
    _kept("move-to-a-device", "a move is no cast", "self.to(buffer_device)", KEEPING),
    _kept("move-by-keyword", "a move is no cast", "self.to(device=buffer_device)", KEEPING),
    _kept("move-to-cpu", "a move is no cast", 'self.to("cpu", non_blocking=True)', KEEPING),
    _kept("no-dtype", "a move is no cast", "self.to(device=buffer_device, dtype=None)", KEEPING),
    _kept("emptied", "a move is no cast", "self.to_empty(device=buffer_device)", KEEPING),
    _kept("memory-format", "nothing is cast", "self.to(memory_format=torch.channels_last)", KEEPING),
    _kept("to-fp32", "nothing is rounded", "self.to(torch.float32)", KEEPING),
    _kept("float", "nothing is rounded", "self.float()", KEEPING),
    _kept("only-the-head", "not the whole model", "self.lm_head.to(dtype)", KEEPING),
    _kept(
        "one-part-after-another", "not the whole model", "for child in self.children():", "    child.eval()", KEEPING
    ),
    _kept("a-tensor", "a tensor is no model", "torch.ones(4).to(dtype)", KEEPING),
    _kept(
        "another-model",
        "not the model itself",
        KEEPING,
        "_copy(self.lm_head, dtype)",
        more=(before_fir("def _copy(model, dtype):\n    return model.to(dtype)"),),
    ),
    _kept(
        "a-copy-of-the-weights",
        "tensors are no model",
        KEEPING,
        "weights = {name: tensor.to(dtype) for name, tensor in self.state_dict().items()}",
        "self.load_state_dict(weights)",
    ),
    _kept("sizes-only", "a method of another object", "self.config.to(dtype)", KEEPING),
    Harmless(
        "NAM404",
        "base-whose-method-is-replaced",
        (
            Edit(BASE, CAST, "        self.to(dtype)\n"),
            Edit(
                LARCH,
                EMBEDDINGS,
                "    def initialize_weights(self, buffer_device=None, dtype=torch.bfloat16):\n"
                f"        initialize_module_tree(self, 0.02, buffer_device)\n{CAST}\n{EMBEDDINGS}",
            ),
            imported(LARCH, f"from {PACKAGE}.components.models.common.initialization import initialize_module_tree"),
            imported(BASE, "import math"),
            Edit(LARCH, "import dtype_of\n", "import cast_model_to_dtype, dtype_of\n"),
        ),
        "what is replaced does not run",
    ),
    Harmless(
        "NAM404",
        "in-forward",
        (
            Edit(
                FIR,
                "        return project_to_vocabulary(",
                "        hidden = hidden.to(torch.bfloat16)\n        return project_to_vocabulary(",
            ),
        ),
        "a tensor is no model",
    ),
    Harmless(
        "NAM404",
        "cast-of-a-function-that-nobody-calls",
        (before_fir("def _round(model, dtype):\n    model.to(dtype)"),),
        "the class does not cast",
    ),
]


def _pinned(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM405", name, edits, why)


def _pin(value: str) -> Edit:
    return Edit(FIR, PINNED, f"    _keep_in_fp32_modules_strict = {value}\n")


APPLY = """    def _apply(self, fn, recurse=True):
        kept = self.inv_freq
        super()._apply(fn, recurse)
        self.inv_freq = kept.to(self.inv_freq.device)
        return self

    def init_weights("""
PINS = [
    _pinned("shorter-pattern", "a pattern is a part of the name", _pin('["inv_freq"]')),
    _pinned("its-module", "a pattern is a part of the name", _pin('("rotary_emb",)')),
    _pinned("the-other-list", "either list counts when it is cast", Edit(FIR, PINNED, PINNED.replace("_strict", ""))),
    _pinned(
        "from-a-name", "meaning over spelling", _pin("[*_PINNED]"), before_fir('_PINNED = ("rotary_emb.inv_freq",)')
    ),
    _pinned("sum", "meaning over spelling", _pin('[] + ["inv_freq"]')),
    _pinned(
        "of-a-base-in-another-file",
        "inherited",
        Edit(LARCH, PINNED, ""),
        Edit(BASE, "    def get_output_embeddings(self)", f"{PINNED}\n    def get_output_embeddings(self)"),
    ),
    _pinned(
        "of-a-base-and-more",
        "inherited",
        Edit(LARCH, PINNED, "    _keep_in_fp32_modules_strict = [*CausalLMBase._keep_in_fp32_modules_strict]\n"),
        Edit(BASE, "    def get_output_embeddings(self)", f"{PINNED}\n    def get_output_embeddings(self)"),
    ),
    _pinned(
        "set-in-the-constructor",
        "set in `__init__`",
        NO_PIN,
        Edit(FIR, TIED, f'        self._keep_in_fp32_modules_strict = ["inv_freq"]\n{TIED}'),
    ),
    _pinned("no-cast", "nothing is cast", NO_PIN, cast(FIR, "return")),
    _pinned("cast-to-fp32", "nothing is rounded", NO_PIN, cast(FIR, "cast_model_to_dtype(self, torch.float32)")),
    _pinned(
        "cast-of-the-head",
        "the cast does not reach it",
        NO_PIN,
        cast(FIR, "cast_model_to_dtype(self.lm_head, dtype)"),
    ),
    _pinned(
        "made-anew-afterwards",
        "recomputed after the cast in the same method",
        NO_PIN,
        cast(FIR, KEEPING, "self.model.rotary_emb.init_weights()"),
    ),
    _pinned(
        "made-anew-by-name",
        "recomputed after the cast in the same method",
        NO_PIN,
        cast(FIR, KEEPING, "rotary = self.model.rotary_emb", "rotary.init_weights(0.0, buffer_device)"),
    ),
    _pinned(
        "made-anew-in-a-loop",
        "recomputed after the cast in the same method",
        NO_PIN,
        cast(
            FIR,
            KEEPING,
            "for module in self.modules():",
            "    if isinstance(module, RotaryEmbedding):",
            "        module.init_weights(buffer_device=buffer_device)",
        ),
    ),
    _pinned("put-back-in-apply", "recomputed in `_apply`", NO_PIN, Edit(ROTARY, "    def init_weights(", APPLY)),
    _pinned(
        "computed-at-use",
        "recomputed at use",
        NO_PIN,
        Edit(ROTARY, ANGLES, f"        self.init_weights(buffer_device=position_ids.device)\n{ANGLES}"),
    ),
    _pinned(
        "no-buffer",
        "a plain attribute is not cast",
        Edit(ROTARY, TABLE, TABLE + "        self.cos_cached = torch.empty(head_dim // 2)\n"),
    ),
    _pinned(
        "spare-table",
        "`original_inv_freq` is a spare",
        Edit(
            HORNBEAM,
            TABLES,
            TABLES + '        self.register_buffer("original_inv_freq", torch.ones(64), persistent=False)\n',
        ),
    ),
    _pinned(
        "table-that-nobody-reads",
        "no code reads what is stored",
        Edit(
            HORNBEAM, TABLES, TABLES + '        self.register_buffer("freqs_cis", torch.ones(64), persistent=False)\n'
        ),
    ),
    _pinned(
        "buffer-with-another-name",
        "no rotary table",
        Edit(HORNBEAM, TABLES, TABLES + '        self.register_buffer("frequency_of_words", torch.ones(64))\n'),
        Edit(HORNBEAM, USES, USES + "        hidden = hidden * self.frequency_of_words[0]\n"),
    ),
]


def _typed(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM413", name, edits, why)


TYPED = [
    _typed("by-position", "the dtype is given", norm("self.norm = build_norm(config.hidden_size, 1e-6, dtype)")),
    _typed("layer-by-position", "the dtype is given", dense("self.mlp = DenseMLP(config.hidden_size, 128, dtype)")),
    _typed(
        "dtype-through-a-dict",
        "the dtype is given",
        norm('options = {"eps": 1e-6, "dtype": dtype}', "self.norm = build_norm(config.hidden_size, **options)"),
    ),
    _typed(
        "dtype-through-partial",
        "the dtype is given",
        norm("make = partial(build_norm, dtype=dtype)", "self.norm = make(config.hidden_size)"),
        imported(HORNBEAM, "from functools import partial"),
    ),
    _typed("cast-on-the-spot", "its result is cast", norm("self.norm = build_norm(config.hidden_size).to(dtype)")),
    _typed("cast-by-keyword", "its result is cast", norm("self.norm = build_norm(config.hidden_size).to(dtype=dtype)")),
    _typed(
        "written-down",
        "what is written down is meant",
        norm("self.norm = build_norm(config.hidden_size, dtype=torch.bfloat16)"),
    ),
    _typed(
        "default-of-fp32",
        "no low precision",
        norm("self.norm = build_norm(config.hidden_size)"),
        Edit(LAYERS, NORM_DEFAULT, NORM_DEFAULT.replace("torch.bfloat16", "torch.get_default_dtype()")),
    ),
    _typed(
        "no-default",
        "no fixed dtype",
        norm("self.norm = build_norm(config.hidden_size)"),
        Edit(LAYERS, NORM_DEFAULT, NORM_DEFAULT.replace("torch.dtype = torch.bfloat16", "torch.dtype | None = None")),
    ),
    _typed(
        "shared-factory-without-a-default",
        "no fixed dtype",
        Edit(HORNBEAM, HEAD, HEAD.replace(", dtype=dtype_of(config)", "")),
    ),
    _typed(
        "whole-model-cast-when-it-is-made",
        "the object is cast as a whole",
        norm("self.norm = build_norm(config.hidden_size)", "cast_model_to_dtype(self, dtype)"),
    ),
    _typed(
        "given-by-a-function",
        "the dtype is given",
        dense("self.mlp = build_dense(config, dtype)"),
        Edit(
            LAYERS,
            MASKED,
            "def build_dense(config, dtype):\n"
            f"    return DenseMLP(config.hidden_size, config.intermediate_size, dtype=dtype)\n\n\n{MASKED}",
        ),
        Edit(HORNBEAM, LAYER_IMPORT, LAYER_IMPORT.replace("build_norm", "build_dense, build_norm")),
    ),
    _typed(
        "function-that-nobody-calls",
        "it is not built",
        Edit(LAYERS, MASKED, f"def build_wide(size):\n    return DenseMLP(size, 4 * size)\n\n\n{MASKED}"),
    ),
    _typed(
        "factory-of-no-module",
        "no module is built",
        norm(NORM, "self.scale = scale(config.hidden_size)"),
        Edit(
            LAYERS,
            NORM_DEF,
            f"def scale(size, dtype=torch.bfloat16):\n    return torch.ones(size, dtype=dtype)\n\n\n{NORM_DEF}",
        ),
        Edit(HORNBEAM, LAYER_IMPORT, LAYER_IMPORT.replace("build_norm", "build_norm, scale")),
    ),
]

HARMLESS = [*NOT_RAW, *PINS, *TYPED]
