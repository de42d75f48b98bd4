"""Recipes of our own that name the published package: what it really has, takes and reads, and slips in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.engine import Engine
from automodel_lint.session import Request, Session

from . import real_package
from .page_checkout import write

FINE = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction

step_scheduler:
  global_batch_size: 64
  local_batch_size: 8

rng:
  _target_: nemo_automodel.components.training.rng.StatefulRNG
  seed: 1
  ranked: true

model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: acme/acme-1b
  dtype: float32
  backend:
    _target_: nemo_automodel.components.models.common.BackendConfig
    attn: sdpa

distributed:  # read key by key: the manager takes none of these
  _target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager
  dp_size: 4
  tp_size: 2
  cp_size: 1
  sequence_parallel: false

loss_fn:
  _target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy

dataset:
  _target_: nemo_automodel.components.datasets.llm.hellaswag.HellaSwag
  path_or_dataset: acme/lines
  split: train

validation_dataset:
  _target_: nemo_automodel.components.datasets.llm.make_squad_dataset
  dataset_name: acme/questions
  seq_length: 128

dataloader:
  _target_: torchdata.stateful_dataloader.StatefulDataLoader
  collate_fn: nemo_automodel.components.datasets.utils.default_collater
  shuffle: true

peft:
  _target_: nemo_automodel.components._peft.lora.PeftConfig
  dim: 8

optimizer:
  _target_: torch.optim.AdamW
  lr: 1.0e-5
"""
# What is typed over, with what, and what must then be said of the line.
SLIPS = {
    "class": (
        "rng.StatefulRNG",
        "rng.StatefulRng",
        "NAM811",
        "did you mean `nemo_automodel.components.training.rng.St",
    ),
    "lazy": (
        "NeMoAutoModelForCausalLM",
        "NeMoAutoModelForCausal",
        "NAM811",
        "`nemo_automodel.NeMoAutoModelForCausalLM",
    ),
    "method": ("lora.PeftConfig", "lora.PeftConfig.from_dicts", "NAM811", "`nemo_automodel.components._peft.lora."),
    "moved": ("llm.hellaswag.HellaSwag", "llm.swag.HellaSwag", "NAM811", "datasets.llm.hellaswag.HellaSwag`?"),
    "re-export": ("common.BackendConfig", "common.BackedConfig", "NAM811", "common.BackendConfig`?"),
    "function": ("utils.default_collater", "utils.default_collator", "NAM811", "default_collater`?"),
    "own": ("  ranked: true", "  deterministic: true", "NAM812", "it takes `seed`, `ranked`"),
    "dataclass": ("    attn: sdpa", "    attention: sdpa", "NAM812", "`BackendConfig` takes no `attention`"),
    "factory": ("  seq_length: 128", "  sequence_length: 128", "NAM812", "did you mean `seq_length`?"),
    "peft": ("  dim: 8", "  dims: 8", "NAM812", "did you mean `dim`?"),
    "batch": ("batch_size: 64", "batch_size: 40", "NAM813", "`local_batch_size` 8 × data-parallel size 4"),
    "twice": ("  seed: 1", "  seed: 1\n  ranked: false", "NAM814", "the key `ranked`"),
    "recipe": (
        "TrainFinetuneRecipeForN",
        "TrainFineTuneRecipeForN",
        "NAM815",
        "TrainFinetuneRecipeForNextTokenPrediction`?",
    ),
    "base": ("TrainFinetuneRecipeForNextTokenPrediction", "BaseRecipe", "NAM815", "is no recipe class"),
}


def _path(name: str) -> str:
    return f"examples/{name}.yaml"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str, str]]]:
    """The findings by recipe, of all slips side by side; the models are not asked."""
    package = real_package.unpacked("0.7.0") / "nemo_automodel"
    root: Path = tmp_path_factory.mktemp("real")
    (root / "nemo_automodel").symlink_to(package)
    texts = {name: FINE.replace(old, new, 1) for name, (old, new, *_) in SLIPS.items()}
    write(root, {_path(name): text for name, text in {**texts, "fine": FINE}.items()})
    session = Session(Request(paths=[str(root)], cache=False))
    engine = Engine(session.checkout, session._tree(), [])
    units = {key: compute for key, compute in engine.units() if key.startswith("recipe:")}
    findings = [f for key, compute in units.items() for f in engine.findings(key, compute) if f.code != "NAM804"]
    places = {name: [f for f in findings if f.path == _path(name)] for name in ("fine", *SLIPS)}
    return {name: [(f.span.line, f.code, f.message) for f in here] for name, here in places.items()}


def test_nothing_is_said_of_what_is_so(found) -> None:
    assert found["fine"] == []


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_found(name: str, found) -> None:
    old, new, code, words = SLIPS[name]
    text = FINE.replace(old, new, 1)
    ((line, said, message),) = found[name]
    assert (line, said) == (text[: text.index(new)].count("\n") + 1 + new.count("\n") * 2, code), message
    assert words in message or words.strip("`") in message, message
