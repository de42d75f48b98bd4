"""The example checkout with what a repository has beside the code: tests, coverage pages, recipes.

All of it is about three packages: Fir and Spruce have everything, of Cedar there is a test only.
"""

from __future__ import annotations

from . import clean_example
from .mutations import PACKAGE, SETTINGS

_MODELS = "acme_automodel.components.models"

PAGE = "docs/model-coverage/llm/acme.md"
FIR_TESTS, SPRUCE_TESTS, CEDAR_TESTS = (
    f"tests/unit_tests/models/{name}/test_{name}_model.py" for name in ("fir", "spruce", "cedar")
)
FIR_RECIPE, SPRUCE_RECIPE = (f"examples/llm_finetune/{name}/{name}_tiny.yaml" for name in ("fir", "spruce"))

BESIDE = {
    PAGE: """\
# Acme

| Architecture | Models |
|---|---|
| `FirForCausalLM` | Fir |
| `SpruceForCausalLM` | Spruce |
""",
    FIR_TESTS: f"""\
import pytest
from {_MODELS}.fir.config import tiny_config
from {_MODELS}.fir.model import FirDecoderLayer, FirForCausalLM, FirModel


@pytest.mark.parametrize("tied", [True, False])
def test_head(tied):
    model = FirForCausalLM(tiny_config(tie_word_embeddings=tied))
    assert (model.lm_head.weight is model.model.embed_tokens.weight) == tied


def test_layers():
    assert isinstance(FirModel(tiny_config()).layers[0], FirDecoderLayer)
""",
    SPRUCE_TESTS: f"""\
import pytest
from {_MODELS}.spruce.config import tiny_config
from {_MODELS}.spruce.model import SpruceForCausalLM
from {_MODELS}.spruce.state_dict_adapter import SpruceStateDictAdapter


def test_tied_is_refused():
    with pytest.raises(ValueError):
        SpruceForCausalLM(tiny_config(tie_word_embeddings=True))


def test_round_trip():
    model = SpruceForCausalLM(tiny_config())
    adapter = SpruceStateDictAdapter(model.config)
    assert adapter.from_hf(adapter.to_hf(model.state_dict())).keys() == model.state_dict().keys()
""",
    CEDAR_TESTS: f"""\
import pytest
from {_MODELS}.cedar.config import tiny_config
from {_MODELS}.cedar.model import CedarForConditionalGeneration


def test_untied_is_refused():
    with pytest.raises(ValueError):
        CedarForConditionalGeneration(tiny_config(tie_word_embeddings=False))


def test_an_image(ids, image):
    assert CedarForConditionalGeneration(tiny_config())(ids, pixel_values=image).shape[-1] == 97
""",
    FIR_RECIPE: f"""\
model:
  _target_: {_MODELS}.fir.model.FirForCausalLM
  config:
    _target_: {_MODELS}.fir.config.FirConfig
    hidden_size: 48
""",
    SPRUCE_RECIPE: f"""\
model:
  _target_: {_MODELS}.spruce.model.SpruceForCausalLM
  config:
    _target_: {_MODELS}.spruce.config.SpruceConfig
    hidden_size: 48
""",
}


def _code(files: dict[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path == SETTINGS or path.startswith(f"{PACKAGE}/")}


def clean() -> dict[str, str]:
    """Return the texts of the clean models of the example alone, by path."""
    return _code(clean_example.clean())


def complete() -> dict[str, str]:
    """Return the texts of the whole example, faulty models too, and of what is beside it, by path."""
    return {**_code(clean_example.whole()), **BESIDE}
