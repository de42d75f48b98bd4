"""NAM306-NAM308, NAM801-NAM803, NAM805, NAM806, NAM816: faults in tests, pages and recipes, and what only looks so."""

from __future__ import annotations

from . import Edit, Fault, Harmless, Place, delete, model, write

PAGE = "docs/model-coverage/index.md"
ROW = "| Fir | `FirForCausalLM` | [fir_tiny.yaml](../../examples/lm_train/fir/fir_tiny.yaml) |\n"
FIR, SPRUCE, HORNBEAM = model("fir"), model("spruce"), model("hornbeam")
RECIPE = "examples/lm_train/fir/fir_tiny.yaml"
SPRUCE_RECIPE = "examples/lm_train/spruce/spruce_tiny.yaml"
NEW = "examples/lm_train/more/new.yaml"
ADAPTER = "acme_automodel/components/models/spruce/state_dict_adapter.py"
SIZES = "  dp_size: 1\n  tp_size: 1\n"


def _test(name: str, what: str = "model") -> str:
    return f"tests/unit_tests/models/{name}/test_{name}_{what}.py"


def _flag(axis: str, value: bool = False) -> str:
    return f"        supports_{axis}: bool = {value}\n"


CLASS = "class FirForCausalLM("
ABOUT_FIR = "from acme_automodel.components.models.fir.model import FirForCausalLM\n\n\n"
TRIES_BOTH = f"{ABOUT_FIR}def test_both(config):\n    for config.tie_word_embeddings in (True, False):\n        pass\n"
UNTRIED = (Place("NAM805", FIR, CLASS),)
TESTS = [
    Fault("NAM801", "folder-gone", (delete(_test("fir")),), CLASS, FIR, UNTRIED),
    Fault(
        "NAM801",
        "fixtures-only",
        (delete(_test("fir")), write("tests/unit_tests/models/fir/conftest.py", TRIES_BOTH)),
        CLASS,
        FIR,
    ),
    Fault(
        "NAM801",
        "only-another-model-s-test-imports-it",
        (delete(_test("fir")), write("tests/unit_tests/models/larch/test_needles.py", TRIES_BOTH)),
        CLASS,
        FIR,
    ),
    Fault(
        "NAM801",
        "only-a-longer-name",
        (
            delete(_test("fir")),
            write("acme_automodel/components/models/fir_large/__init__.py", ""),
            write("tests/unit_tests/test_fir_large.py", TRIES_BOTH),
        ),
        CLASS,
        FIR,
    ),
    Fault(
        "NAM801",
        "headless",
        (delete(_test("willow")),),
        "class WillowBidirectionalModel(",
        model("willow"),
    ),
]
HEAD = "class SpruceForCausalLM("
REFUSED = "        SpruceForCausalLM(tiny_config(tie_word_embeddings=True))\n"
TIES = [
    Fault("NAM805", "allowed-only", (Edit(_test("spruce"), "embeddings=True", "embeddings=False"),), HEAD, SPRUCE),
    Fault(
        "NAM805",
        "only-said-in-a-comment",
        (Edit(_test("spruce"), REFUSED, f"    {REFUSED.strip().replace('tiny', '0)  # tiny')}\n"),),
        HEAD,
        SPRUCE,
    ),
    Fault(
        "NAM805",
        "refusal-of-untied",
        (Edit(_test("cedar"), "tie_word_embeddings=False", "tie_word_embeddings=True"),),
        "class CedarForConditionalGeneration(",
        model("cedar"),
    ),
    Fault(
        "NAM805",
        "neither-of-both",
        (
            Edit(_test("larch"), "tie_word_embeddings=tied", ""),
            Edit(_test("larch"), '@pytest.mark.parametrize("tied", [True, False])\n', ""),
        ),
        "class LarchForCausalLM(",
        model("larch"),
    ),
]
BACK = "    assert adapter.from_hf(adapter.to_hf(native)).keys() == native.keys()\n"
ROUND = _test("spruce", "state_dict_adapter")
CONVERTS = "class SpruceStateDictAdapter"
ADAPTERS = [
    Fault("NAM806", "gone", (delete(ROUND),), CONVERTS, ADAPTER),
    Fault("NAM806", "one-way", (Edit(ROUND, BACK, "    assert adapter.to_hf(native)\n"),), CONVERTS, ADAPTER),
    Fault(
        "NAM806",
        "in-a-docstring",
        (Edit(ROUND, BACK, '    """`adapter.from_hf(adapter.to_hf(native))` is native."""\n'),),
        CONVERTS,
        ADAPTER,
    ),
    Fault(
        "NAM806",
        "put-in-its-place",
        (Edit(ROUND, BACK, "    adapter.from_hf = adapter.to_hf = dict\n    adapter.from_hf.cache_clear()\n"),),
        CONVERTS,
        ADAPTER,
    ),
    Fault(
        "NAM806",
        "another-adapter",
        (write(ROUND, f"from x import OtherStateDictAdapter\n\n\ndef test_it(adapter, native):\n{BACK}"),),
        CONVERTS,
        ADAPTER,
    ),
]
PAGES = [
    Fault("NAM802", "no-row", (Edit(PAGE, ROW, ""),), CLASS, FIR),
    Fault("NAM802", "generated", (Edit(PAGE, ROW, ""), Edit(PAGE, "| this week |", f"{ROW}| this week |")), CLASS, FIR),
    Fault("NAM802", "in-a-comment", (Edit(PAGE, ROW, f"<!-- {ROW.strip()} -->\n"),), CLASS, FIR),
    Fault("NAM802", "longer-name", (Edit(PAGE, ROW, "| BigFirForCausalLM |\n| Firs |\n"),), CLASS, FIR),
    Fault("NAM802", "family-in-running-text", (Edit(PAGE, ROW, "\nBuilt upon Fir.\n"),), CLASS, FIR),
]

RUNS = "  _target_: acme_automodel.components.models.{0}.model.{1}ForCausalLM\n  config:\n    _target_: acme_automodel.components.models.{0}.config.tiny_config\n"


def _recipe(name: str, sizes: str) -> str:
    return f"model:\n{RUNS.format(name, name.title())}{sizes}"


def _understated(name: str, axis: str, line: str, *edits: Edit) -> list[Fault]:
    """One and the same fault from both sides."""
    at_flag, at_size = _flag(axis).strip(), line
    recipe = next(e.path for e in edits if e.path.endswith(".yaml"))
    return [
        Fault("NAM306", name, edits, at_flag, FIR, (Place("NAM816", recipe, at_size),)),
        Fault("NAM816", name, (*edits, write("NOTES.md", "")), at_size, recipe, (Place("NAM306", FIR, at_flag),)),
    ]


RECIPES = [
    *_understated("size", "tp", "tp_size: 4", Edit(RECIPE, SIZES, "  tp_size: 4\n")),
    *_understated("flow", "pp", "pp_size: 2", write(NEW, _recipe("fir", "distributed: {tp_size: 1, pp_size: 2}\n"))),
    *_understated(
        "older-section", "cp", "cp_size", write(NEW, _recipe("fir", 'distributed_config:\n  cp_size: "2"\n'))
    ),
    *_understated(
        "merged",
        "ep",
        "ep_size: 8",
        write(NEW, "_: &wide\n  ep_size: 8\n" + _recipe("fir", "distributed:\n  <<: *wide\n")),
    ),
    *_understated(
        "checkpoint-of-a-row",
        "tp",
        "tp_size: 2",
        write(NEW, "model:\n  pretrained_model_name_or_path: trees/A-1b\ndistributed:\n  tp_size: 2\n  _target_: x\n"),
        Edit(PAGE, ROW, f"{ROW}| Fir 1B | `FirForCausalLM` | [`Trees/a-1B`](https://huggingface.co/Trees/a-1B) |\n"),
    ),
    *_understated(
        "config-class",
        "tp",
        "tp_size: 2",
        write(
            NEW,
            "model:\n  config:\n    _target_: acme_automodel.components.models.fir.config.FirConfig\n"
            "distributed:\n  tp_size: 2\n",
        ),
    ),
    Fault("NAM307", "tp", (Edit(FIR, _flag("tp"), _flag("tp", True)),), "supports_tp", FIR),
    Fault("NAM307", "ep", (Edit(SPRUCE, _flag("ep"), _flag("ep", True)),), "supports_ep", SPRUCE),
    Fault(
        "NAM307",
        "set-to-one",
        (Edit(FIR, _flag("pp"), _flag("pp", True)), Edit(RECIPE, SIZES, "  pp_size: 1\n")),
        "supports_pp",
        FIR,
    ),
    Fault("NAM803", "gone", (delete(RECIPE),), CLASS, FIR),
    Fault(
        "NAM803",
        "of-another-model",
        (delete(RECIPE), write(NEW, _recipe("spruce", "a: 1\n"))),
        CLASS,
        FIR,
    ),
    Fault(
        "NAM803",
        "no-recipe-at-all",
        (delete(SPRUCE_RECIPE), write("examples/lm_train/spruce.yaml", "slurm:\n  nodes: 4\n")),
        HEAD,
        SPRUCE,
    ),
]
BUILT = "        self.mlp = MoE(moe_config, backend)\n"
CLAIMS = Edit(SPRUCE, _flag("ep"), _flag("ep", True))
SPREAD = Edit(SPRUCE_RECIPE, "dataset: &rows\n", "distributed:\n  ep_size: 2\n\ndataset: &rows\n")


def _variant(name: str, built: str) -> Fault:
    return Fault("NAM308", name, (Edit(SPRUCE, BUILT, built), CLAIMS, SPREAD), "supports_ep", SPRUCE)


IDENTITY = "        else:\n            self.mlp = nn.Identity()\n"
VARIANTS = [
    _variant("if", f"        if config.n_routed_experts > 0:\n    {BUILT}{IDENTITY}"),
    _variant(
        "otherwise",
        f"        if not config.n_routed_experts:\n            self.mlp = nn.Identity()\n        else:\n    {BUILT}",
    ),
    _variant("conditional", f"{BUILT.rstrip()} if config.n_routed_experts else nn.Identity()\n"),
    _variant(
        "bound-before",
        f"        sparse = config.n_routed_experts > 1\n        if sparse:\n    {BUILT}{IDENTITY}",
    ),
]
CAPABLE = (
    Edit(HORNBEAM, _flag("ep"), _flag("ep", True)),
    write("examples/lm_train/hornbeam.yaml", "recipe: TrainLanguageModelRecipe\ndistributed:\n  ep_size: 2\n"),
)

FAULTS = [*TESTS, *TIES, *ADAPTERS, *PAGES, *RECIPES, *VARIANTS]
HARMLESS = [
    Harmless(
        "NAM801",
        "named-after-the-package-elsewhere",
        (delete(_test("fir")), write("tests/unit_tests/checks/test_fir.py", TRIES_BOTH)),
        "a module that imports from the package and is called after it is about it",
    ),
    Harmless(
        "NAM801",
        "folder-of-another-name",
        (delete(_test("fir")), write("tests/unit_tests/models/needles/test_heads.py", TRIES_BOTH)),
        "the folder belongs to no other package",
    ),
    Harmless(
        "NAM801",
        "test-at-the-end",
        (
            delete(_test("fir")),
            write("tests/unit_tests/models/fir/shapes_test.py", TRIES_BOTH),
        ),
        "pytest collects both forms",
    ),
    Harmless(
        "NAM805",
        "through-a-key",
        (Edit(_test("spruce"), "(tie_word_embeddings=True)", '(**{"tie_word_embeddings": True})'),),
        "a key of a dict that is handed on",
    ),
    Harmless(
        "NAM805",
        "set-later",
        (Edit(_test("spruce"), REFUSED, '        setattr(config, "tie_word_embeddings", True)\n'),),
        "the attribute is set",
    ),
    Harmless(
        "NAM806",
        "through-getattr",
        (
            Edit(
                ROUND, BACK, '    for name in ("to_hf", "from_hf"):\n        native = getattr(adapter, name)(native)\n'
            ),
        ),
        "the name is looked up",
    ),
    Harmless(
        "NAM806",
        "handed-on",
        (Edit(ROUND, BACK, "    there, back = adapter.to_hf, adapter.from_hf\n    assert back(there(native))\n"),),
        "the methods are taken and called",
    ),
    Harmless(
        "NAM806",
        "saved-and-loaded",
        (
            Edit(
                ROUND,
                BACK,
                "    model.save_pretrained(tmp)\n    assert SpruceForCausalLM.from_pretrained(tmp)\n    del adapter, native\n",
            ),
        ),
        "saving and loading run the adapter",
    ),
    Harmless(
        "NAM806",
        "a-helper-beside",
        (
            Edit(ROUND, BACK, "    assert_round_trip(adapter, native)\n"),
            Edit(
                ROUND,
                "from acme_automodel.components.models.spruce.config",
                "from .trips import assert_round_trip\nfrom acme_automodel.components.models.spruce.config",
            ),
            write("tests/unit_tests/models/spruce/trips.py", f"def assert_round_trip(adapter, native):\n{BACK}"),
        ),
        "the helper calls both",
    ),
    Harmless("NAM802", "family", (Edit(PAGE, ROW, "| Fir 1B | dense |\n"),), "a row names the family"),
    Harmless("NAM802", "other-case", (Edit(PAGE, ROW, "| FIRForCausalLM |\n"),), "the Hub spells it so"),
    Harmless("NAM802", "heading", (Edit(PAGE, ROW, "\n### Fir and its kind\n"),), "a heading names the family"),
    Harmless(
        "NAM802",
        "page-of-its-own",
        (Edit(PAGE, ROW, ""), write("docs/model-coverage/conifers/fir.mdx", "A dense decoder.\n")),
        "the page is called after the family",
    ),
    Harmless(
        "NAM802", "in-running-text", (Edit(PAGE, ROW, "\nSee FirForCausalLM.\n"),), "the architecture itself is named"
    ),
    Harmless(
        "NAM306",
        "teacher",
        (write(NEW, "teacher_" + _recipe("fir", "distributed:\n  tp_size: 2\n")),),
        "what is trained is another model",
    ),
    Harmless(
        "NAM306",
        "of-two-models",
        (
            write(NEW, "model:\n  pretrained_model_name_or_path: a/b-1b\ndistributed:\n  tp_size: 2\n  _target_: x\n"),
            Edit(PAGE, ROW, f"{ROW}| Both | `FirForCausalLM`, `LarchForCausalLM` | `a/b-1b` |\n"),
        ),
        "the row states two",
    ),
    Harmless(
        "NAM306",
        "loaded-by-either",
        (
            write(
                NEW,
                "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
                "  pretrained_model_name_or_path: a/b-1b\ndistributed:\n  tp_size: 2\n",
            ),
            Edit(
                PAGE,
                ROW,
                f"{ROW}| One | `FirForCausalLM` | `a/b-1b` |\n| Two | `CedarForConditionalGeneration` | `a/b-1b` |\n",
            ),
        ),
        "the loader does not choose the class, the checkpoint does",
    ),
    Harmless(
        "NAM306",
        "from-the-environment",
        (Edit(RECIPE, SIZES, "  tp_size: ${oc.env:TP}\n"),),
        "the run decides",
    ),
    Harmless(
        "NAM307",
        "a-recipe-shows-it",
        (Edit(FIR, _flag("tp"), _flag("tp", True)), Edit(RECIPE, SIZES, "  tp_size: 2\n")),
        "that is the evidence",
    ),
    Harmless(
        "NAM803",
        "by-its-file-name",
        (delete(RECIPE), write("examples/other/fir-1b_lora.yml", "recipe: TrainLanguageModelRecipe\n")),
        "the name says the family",
    ),
    Harmless("NAM308", "by-layer", CAPABLE, "the first layers are dense, which is no variant"),
]
