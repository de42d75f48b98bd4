"""Repairs of the tie guard: what makes one unsafe, and where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.findings import Finding
from automodel_lint.fixes.shapes import safety
from automodel_lint.pages import pages

from . import page_checkout as checkout

CONFIG = "nemo_automodel/components/models/acme/config.py"
GUARD = "reject_unsupported_tie_word_embeddings(type(self), config.text_config)"
UNTIED = "tie_word_embeddings=False"


def _model(code: str = "NAM206") -> str:
    """The first Bad example of a page: a multimodal class, never tied, whose guard asks the text config."""
    return checkout.examples(pages()[code], "Bad")[0].files[checkout.MODEL]


def _finding(folder: Path, model: str, config: str | None = None, code: str = "NAM206") -> Finding:
    files = {checkout.MODEL: model} if config is None else {checkout.MODEL: model, CONFIG: config}
    root = checkout.lay(folder, files)
    (finding,) = [f for f in checkout.lint(root).findings if f.code == code]
    return finding


def _config(old: str, new: str) -> str:
    text = checkout.CHECKOUT[CONFIG]
    assert text.count(old) == 1, old
    return text.replace(old, new)


def test_a_config_that_is_untied_by_default_lets_the_guard_ask_it(tmp_path: Path):
    assert safety(_finding(tmp_path, _model())) == "safe"


def test_a_config_that_takes_over_what_its_part_says(tmp_path: Path):
    signature = "def __init__(self, text_config=None, vision_config=None, tie_word_embeddings=False, **kwargs):"
    config = _config(signature, signature.replace(f" {UNTIED},", ""))
    config = config.replace(
        "self.vision_config = vision_config\n        super().__init__(tie_word_embeddings=tie_word_embeddings",
        "self.vision_config = vision_config\n"
        "        super().__init__(tie_word_embeddings=self.text_config.tie_word_embeddings",
    )
    assert "self.text_config.tie_word_embeddings" in config
    assert safety(_finding(tmp_path, _model(), config)) == "safe"


@pytest.mark.parametrize("default", ["tie_word_embeddings=True", "tie_word_embeddings"])
def test_a_config_that_ties_by_default_makes_it_unsafe(default: str, tmp_path: Path):
    """Checkpoints without the flag at the top load today; the guard would refuse them."""
    old = f"text_config=None, vision_config=None, {UNTIED}"
    new = f"text_config=None, vision_config=None, {default}" if "=" in default else f"{default}, text_config=None"
    config = _config(old, new)
    assert safety(_finding(tmp_path, _model(), config)) == "unsafe"


def test_a_config_class_of_the_library_makes_it_unsafe(tmp_path: Path):
    model = _model().replace(
        "nemo_automodel.components.models.acme.config import AcmeVLConfig", "transformers import X"
    )
    assert safety(_finding(tmp_path, model.replace("config: AcmeVLConfig", "config: X"))) == "unsafe"


@pytest.mark.parametrize("policy", ["BOTH", "TIED_ONLY"])
def test_a_class_that_may_be_tied_refuses_nothing_by_default(policy: str, tmp_path: Path):
    model = _model().replace("TieSupport.UNTIED_ONLY", f"TieSupport.{policy}").replace("config: AcmeVLConfig", "config")
    assert safety(_finding(tmp_path, model)) == "safe"


def test_a_late_guard_that_asks_the_same_flag_is_safe_whatever_the_config(tmp_path: Path):
    model = _model().replace(
        f"        {GUARD}\n        super().__init__()\n",
        f"        super().__init__()\n        {GUARD.replace('.text_config', '')}\n",
    )
    config = _config(f"None, {UNTIED}", "None, tie_word_embeddings=True")
    assert safety(_finding(tmp_path, model, config, "NAM205")) == "safe"


def test_a_late_guard_that_would_ask_another_flag_is_unsafe(tmp_path: Path):
    model = _model("NAM204")
    config = _config(f"None, {UNTIED}", "None, tie_word_embeddings=True")
    assert safety(_finding(tmp_path, model, config, "NAM204")) == "unsafe"
    assert safety(_finding(tmp_path / "untied", model, None, "NAM204")) == "safe"


def test_a_config_that_may_be_left_out_has_no_repair(tmp_path: Path):
    model = _model().replace("config: AcmeVLConfig", "config: AcmeVLConfig = None")
    assert _finding(tmp_path, model).repair is None
