"""NAM804, NAM811-NAM815: recipes that say what the code cannot do, and such that only look so."""

from __future__ import annotations

from . import PACKAGE, Edit, Fault, Harmless, write

FIR = "examples/lm_train/fir/fir_tiny.yaml"
SPRUCE = "examples/lm_train/spruce/spruce_tiny.yaml"
NEW = "examples/lm_train/fir/fir_new.yml"
DATA = f"{PACKAGE}/components/data/counting.py"
RECIPE = f"{PACKAGE}/recipes/lm/train.py"
RUN = "  _target_: acme_automodel.components.training.schedule.SeededRun\n  seed: 7\n"
DATASET = "  _target_: acme_automodel.components.data.make_counting_dataset\n"
COLLATE = "acme_automodel.components.data.counting.as_batch"
STEPS = "  global_batch_size: 8\n  local_batch_size: 4\n"
ENTRY = "recipe: TrainLanguageModelRecipe\n"


def _fir(old: str, new: str) -> Edit:
    return Edit(FIR, old, new)


def _new(text: str) -> Edit:
    return write(NEW, text)


def _fault(code: str, name: str, at: str, *edits: Edit) -> Fault:
    return Fault(code, name, edits, at)


MISSING = [
    _fault("NAM811", "class", "SeedRun", _fir("SeededRun\n", "SeedRun\n")),
    _fault("NAM811", "module", "training.schedules", _fir("training.schedule.", "training.schedules.")),
    _fault("NAM811", "re-export", "data.make_counting", _fir("data.make_counting_dataset", "data.make_counting_data")),
    _fault("NAM811", "method", "from_pretraind", _fir("FirForCausalLM\n", "FirForCausalLM.from_pretraind\n")),
    _fault("NAM811", "function-key", "as_batches", _fir(f"{COLLATE}\n", f"{COLLATE}es\n")),
    _fault(
        "NAM811", "quoted", "SeedRun", _fir(f"{RUN}", RUN.replace("acme_auto", '"acme_auto').replace("edRun", 'Run"'))
    ),
    _fault("NAM811", "flow", "make_rows", _fir(DATASET, f"  seed: {{_target_: {COLLATE[:-8]}make_rows}}\n{DATASET}")),
    _fault(
        "NAM811",
        "in-a-list",
        "make_rows",
        _fir(DATASET, f"{DATASET}  seed:\n    - - _target_: {COLLATE[:-8]}make_rows\n"),
    ),
    _fault(
        "NAM811",
        "anchored",
        "SeedRun",
        _fir(f"rng:\n{RUN}", f"one: &one\n{RUN.replace('SeededRun', 'SeedRun')}\nrng:\n  <<: *one\ntwo: *one\n"),
    ),
    _fault("NAM811", "folded", "_target_: >-", _new("x:\n  _target_: >-\n    acme_automodel.rng.SeededRun\n")),
    Fault(
        "NAM811",
        "renamed-in-code",
        (Edit(DATA, "def as_batch(", "def to_batch("), write(SPRUCE, f"{ENTRY}seed: 1\n")),
        COLLATE,
        FIR,
    ),
    _fault("NAM811", "file", "verses.py:make", _new("x:\n  _target_: examples/lm_train/fir/verses.py:make\n")),
]
ARGUMENTS = [
    _fault("NAM812", "unknown", "ranks", _fir(RUN, f"{RUN}  ranks: true\n")),
    _fault("NAM812", "quoted", '"ranks"', _fir(RUN, f'{RUN}  "ranks": true\n')),
    _fault(
        "NAM812",
        "flow",
        "ranks",
        _fir(f"rng:\n{RUN}", f"rng: {{{RUN.strip().replace(chr(10) + '  ', ', ')}, ranks: 1}}\n"),
    ),
    _fault("NAM812", "function", "lenght", _fir("  length: 12\n", "  lenght: 12\n")),
    _fault("NAM812", "merged", "seeds", Edit(SPRUCE, "  rows: 4\n  seed: 1\n", "  rows: 4\n  seeds: 1\n")),
    _fault("NAM812", "missing", "_target_", _fir("  seed: 7\n", "")),
    Fault("NAM812", "parameter-gone", (Edit(DATA, "length: int = 16, ", ""),), "length: 12", FIR),
    Fault(
        "NAM812",
        "inherited",
        (
            write(
                f"{PACKAGE}/components/training/more.py",
                "from acme_automodel.components.training import schedule as s\n\n\n"
                "class OtherRun(s.SeededRun):\n    pass\n",
            ),
            _fir(RUN, RUN.replace("schedule.SeededRun", "more.OtherRun") + "  ranks: 1\n"),
        ),
        "ranks",
        FIR,
    ),
    Fault(
        "NAM812",
        "partial",
        (
            write(
                f"{PACKAGE}/components/training/more.py",
                "import functools as f\n\nfrom .schedule import SeededRun\n\nseeded = f.partial(SeededRun, seed=1)\n",
            ),
            _fir(RUN, RUN.replace("schedule.SeededRun", "more.seeded") + "  ranks: 1\n"),
        ),
        "ranks",
        FIR,
    ),
]
BATCHES = [
    _fault("NAM813", "not-divisible", "global_batch_size: 6", _fir(STEPS, STEPS.replace("8", "6"))),
    _fault("NAM813", "ranks", "global_batch_size: 8", _fir("  dp_size: 1\n", "  dp_size: 4\n")),
    _fault(
        "NAM813",
        "replicas",
        "global_batch_size: 8",
        _fir("  dp_size: 1\n", "  dp_size: none\n  dp_replicate_size: 4\n"),
    ),
    _fault(
        "NAM813", "octal", "global_batch_size: 010", _fir(STEPS, "  global_batch_size: 010\n  local_batch_size: 3\n")
    ),
    _fault(
        "NAM813", "text", 'global_batch_size: "10"', _fir(STEPS, '  global_batch_size: "10"\n  local_batch_size: 4\n')
    ),
]
DAMAGE = [
    _fault("NAM814", "twice", "rows: 64", _fir("  rows: 32\n", "  rows: 32\n  rows: 64\n")),
    _fault("NAM814", "twice-quoted", '"rows"', _fir("  rows: 32\n", '  rows: 32\n  "rows": 64\n')),
    _fault("NAM814", "twice-flow", "seed: 1, seed", _new("x: {_target_: torch.nn.Linear, seed: 1, seed: 2}\n")),
    _fault("NAM814", "twice-top", "model: 2", _new(f"rng:\n{RUN}model: 1\nmodel: 2\n")),
    _fault("NAM814", "tab", "\trows", _fir("  rows: 32\n", "\trows: 32\n")),
    _fault("NAM814", "indent", "   rows", _fir("  rows: 32\n", "   rows: 32\n")),
    _fault("NAM814", "open", "a: [1", _new("recipe: TrainLanguageModelRecipe\na: [1\n")),
    _fault("NAM814", "template", "{{ LR }}", _fir("  lr: 1.0e-3\n", "  lr: {{ LR }}\n")),
    _fault("NAM814", "documents", "---", _new(f"{ENTRY}---\nseed: 1\n")),
    _fault("NAM814", "tag", "!env", _fir("  lr: 1.0e-3\n", "  lr: !env LR\n")),
    _fault("NAM814", "no-utf-8", "", _new(f"{ENTRY}# caf\udce9\n")),
]
CLASSES = [
    _fault("NAM815", "slip", "TrainLangageModelRecipe", _fir(ENTRY, ENTRY.replace("Language", "Langage"))),
    _fault("NAM815", "quoted", "'TrainRecipe'", _fir(ENTRY, "recipe: 'TrainRecipe'\n")),
    _fault("NAM815", "dotted", "lm.training.", Edit(SPRUCE, "recipes.lm.train.", "recipes.lm.training.")),
    _fault("NAM815", "target", "lm.load", _fir(ENTRY, f"recipe:\n  _target_: {PACKAGE}.recipes.lm.load\n")),
    Fault(
        "NAM815",
        "private",
        (_new("recipe: HelperRecipe\n"), write(f"{PACKAGE}/recipes/lm/_helper.py", "class HelperRecipe:\n    pass\n")),
        "HelperRecipe",
    ),
]
DTYPES = [
    _fault("NAM804", "unsaid", "FirForCausalLM", _fir("    dtype: float32\n", "")),
    _fault("NAM804", "bfloat16", "dtype: bfloat16", _fir("dtype: float32", "dtype: bfloat16")),
    _fault("NAM804", "torch-dtype", "torch_dtype", _fir("dtype: float32", "torch_dtype: torch.bfloat16")),
    _fault("NAM804", "other-optimizer", "_target_", Edit(SPRUCE, "torch.optim.SGD", "torch.optim.Adam")),
]
FAULTS = [*MISSING, *ARGUMENTS, *BATCHES, *DAMAGE, *CLASSES, *DTYPES]


def _fine(code: str, name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless(code, name, edits, why)


HARMLESS = [
    _fine("NAM811", "elsewhere", "the package is not at hand", _fir(DATASET, "  _target_: our_data.make\n")),
    _fine("NAM811", "environment", "the run decides", _fir("fir.model.FirForCausalLM", "fir.model.${MODEL}")),
    _fine("NAM811", "comment", "a comment names nothing", _fir(ENTRY, f"{ENTRY}# _target_: {PACKAGE}.gone.Thing\n")),
    _fine(
        "NAM811", "text", "a block of text names nothing", _fir(ENTRY, f"{ENTRY}note: |\n  _target_: {PACKAGE}.gone\n")
    ),
    _fine(
        "NAM811",
        "lazy",
        "the module serves the name on demand",
        write(
            f"{PACKAGE}/components/training/__init__.py",
            "from importlib import import_module\n\n_WHERE = {'SeededRun': '.schedule'}\n\n\ndef __getattr__(name):\n"
            "    if name not in _WHERE:\n        raise AttributeError(name)\n"
            "    return getattr(import_module(_WHERE[name], __name__), name)\n",
        ),
        _fir("training.schedule.SeededRun", "training.SeededRun"),
    ),
    _fine(
        "NAM812",
        "with-kwargs",
        "anything goes",
        _fir("    dtype: float32\n", "    dtype: float32\n    hidden_sizes: 8\n"),
    ),
    _fine(
        "NAM812",
        "read-by-name",
        "the recipe class takes it away",
        Edit(
            RECIPE,
            "        self.run = self.cfg.rng",
            '        self.ranks = self.cfg.get("rng.ranks", 1)\n        self.run = self.cfg.rng',
        ),
        _fir(RUN, f"{RUN}  ranks: 2\n"),
    ),
    _fine("NAM812", "supplied", "the recipe class gives `vocab_size`", _fir("  length: 12\n", "")),
    _fine(
        "NAM812",
        "not-called",
        "a function is handed on, not called",
        _fir(f"{COLLATE}\n", f"{COLLATE}\n  batched: 1\n"),
    ),
    _fine("NAM813", "unknown", "the run decides", _fir(STEPS, STEPS.replace("8", "${BATCH}"))),
    _fine("NAM813", "ranks-unsaid", "the run decides", _fir("  dp_size: 1\n", "  dp_size: none\n")),
    _fine("NAM813", "none", "no local batch", _fir("  local_batch_size: 4\n", "")),
    _fine("NAM814", "overridden", "a merge may be overridden", Edit(SPRUCE, "  rows: 4\n", "  rows: 4\n  length: 3\n")),
    _fine("NAM814", "tab-in-comment", "YAML allows it there", _fir(ENTRY, f"{ENTRY}#\tnote\n")),
    _fine("NAM814", "windows", "lines may end so", _new(f"\ufeff{ENTRY}rng:\n{RUN}".replace("\n", "\r\n"))),
    _fine("NAM814", "no-recipe", "a workflow is none of ours", write("examples/compose.yaml", "a: 1\na: 2\n")),
    _fine("NAM814", "elsewhere", "nobody asked", write("configs/x.yaml", f"{ENTRY}{ENTRY}")),
    _fine("NAM815", "none", "started by a script", _fir(ENTRY, "")),
    _fine("NAM815", "mapping", "a section of that name may be anything", _fir(ENTRY, "recipe: {name: soup}\n")),
    _fine(
        "NAM804",
        "adapters",
        "not all parameters",
        _fir("    dtype: float32\n", ""),
        Edit(FIR, ENTRY, f"{ENTRY}peft: {{dim: 8}}\n"),
    ),
    _fine(
        "NAM804",
        "quantised",
        "not all parameters",
        _fir("dtype: float32", "dtype: bfloat16"),
        Edit(FIR, ENTRY, f"{ENTRY}quantization: {{bits: 4}}\n"),
    ),
    _fine("NAM804", "fp32", "another spelling", _fir("dtype: float32", "torch_dtype: torch.float32")),
]
