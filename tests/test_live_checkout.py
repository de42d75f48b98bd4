"""A checkout linted again and again in one process says what a fresh run says, after whatever was edited before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from automodel_lint.findings import Finding
from automodel_lint.integrations.language_server.files import Superseded
from automodel_lint.integrations.language_server.live import Live, Outcome
from automodel_lint.integrations.language_server.moves import Move
from automodel_lint.request import Request
from automodel_lint.session import Session

PACKAGE = "acme_automodel"
MODELS = f"{PACKAGE}/components/models"
REGISTRY, FIR, HOLLY = f"{PACKAGE}/_transformers/registry.py", f"{MODELS}/fir/model.py", f"{MODELS}/holly/model.py"
Texts = dict[str, str]

# What somebody does: a file, what is typed over, and with what.
EDITS = [
    (FIR, "    tie_word_embeddings_support: TieSupport = TieSupport.BOTH\n", ""),
    (FIR, "import torch\n", "import torch\n\n\n\n# lines move\n"),
    (HOLLY, "import torch\n", "import torch\n\nMORE = 1\n"),
    (f"{MODELS}/fir/__init__.py", "FirForCausalLM", "FirModel"),
    (f"{MODELS}/fir/config.py", "from typing", "# nothing\nfrom typing"),
    (REGISTRY, '("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),', ""),
    (REGISTRY, "MODEL_ARCH_MAPPING = ", "\n\nMODEL_ARCH_MAPPING = "),
    (f"{MODELS}/common/tie_word_embeddings.py", "BOTH", "EITHER"),
    (f"{MODELS}/common/hf_checkpointing_mixin.py", "class HFCheckpointingMixin", "class Renamed"),
    (f"{MODELS}/common/rotary.py", "inv_freq", "inverse"),
    (f"{MODELS}/poplar/__init__.py", "__all__ = [", "__all__ = ['PoplarForConditionalGeneration', "),
    (f"{MODELS}/birch/model.py", "config.text_config", "config"),
    (f"{PACKAGE}/components/moe/layers.py", "class MoE(", "class OtherMoE("),
]


def _request(root: Path, overlay: Mapping[str, str]) -> Request:
    files = frozenset(str(path) for path in (root / PACKAGE).rglob("*.py")) | {str(root / p) for p in overlay}
    buffers = {str(root / path): text.encode() for path, text in overlay.items()}
    return Request(paths=[str(root)], overlay=buffers, only=files, force_exclude=True, cache=False)


def _lint(live: Live, root: Path, overlay: Texts, edited: str, countdown: int | None = None) -> list[Finding]:
    left = [countdown]

    def superseded() -> bool:
        if left[0] is not None:
            left[0] -= 1
        return left[0] == 0

    def early(outcome: Outcome) -> None:
        assert not outcome.exact  # no repair is offered for what may be old

    outcome = live.lint(_request(root, overlay), str(root / edited), early, superseded)
    return sorted((f for found in outcome.findings.values() for f in found), key=lambda f: f.sort_key)


def _fresh(root: Path, overlay: Texts) -> list[Finding]:
    return Session(_request(root, overlay)).run().findings


def _edited(root: Path, overlay: Texts, edit: tuple[str, str, str]) -> Texts:
    path, old, new = edit
    text = overlay.get(path) or (root / path).read_text()
    assert old in text, (path, old)
    return {**overlay, path: text.replace(old, new)}


def test_every_edit_gives_what_a_fresh_run_gives(example: Path):
    live, overlay = Live(), {}
    assert _lint(live, example, overlay, FIR) == _fresh(example, overlay)
    seen = []
    for edit in EDITS:
        overlay = _edited(example, overlay, edit)
        found = _lint(live, example, overlay, edit[0])
        assert found == _fresh(example, overlay), edit
        seen.append(found)
    assert sum(a != b for a, b in pairwise(seen)) >= 8  # most edits do change something
    for path in list(overlay)[::-1]:  # … and back
        del overlay[path]
        assert _lint(live, example, overlay, path) == _fresh(example, overlay), path


def test_the_same_when_runs_are_cut_off_at_any_point(example: Path):
    live, overlay = Live(), {}
    _lint(live, example, overlay, FIR)
    cut = 0
    for number, edit in enumerate(EDITS):
        overlay = _edited(example, overlay, edit)
        try:
            _lint(live, example, overlay, edit[0], countdown=5 + 37 * number)
        except Superseded:
            cut += 1
        if number % 2:
            assert _lint(live, example, overlay, edit[0]) == _fresh(example, overlay), edit
    assert cut > 5


def test_the_same_for_files_that_change_on_disk(example: Path):
    live = Live()
    _lint(live, example, {}, FIR)
    for edit in EDITS:
        (example / edit[0]).write_text(_edited(example, {}, edit)[edit[0]])
        assert _lint(live, example, {}, edit[0]) == _fresh(example, {}), edit
    (example / FIR).unlink()
    assert _lint(live, example, {}, FIR) == _fresh(example, {})
    os.rename(example / MODELS / "elm", example / MODELS / "oak")
    assert _lint(live, example, {}, FIR) == _fresh(example, {})


def test_the_same_from_a_cache_on_disk_and_for_the_command_line_afterwards(example: Path, cli):
    def computed() -> int:
        live, request = Live(), _request(example, {})
        request.cache = True
        live.lint(request, str(example / FIR), lambda outcome: None, lambda: False)
        return live.memory.computed

    assert "fir/model.py" not in cli("check", "--output-format", "concise", cwd=example).stdout
    assert computed() == 0
    (example / FIR).write_text((example / FIR).read_text().replace("(type(self), config)", "(FirForCausalLM, config)"))
    assert computed() > 0
    assert computed() == 0  # it was written
    kept = cli("check", "--output-format", "concise", cwd=example).stdout
    assert kept == cli("check", "--output-format", "concise", "--no-cache", cwd=example).stdout
    assert "fir/model.py" in kept


@pytest.mark.parametrize(
    "old, new, moved",
    [
        ("a\nb\nc", "a\nb\nc", [1, 2, 3]),
        ("a\nb\nc", "a\nx\nb\nc", [1, 3, 4]),
        ("a\nb\nc", "a\nc", [1, None, 2]),
        ("a\nb\nc", "a\nB\nc", [1, None, 3]),
        ("a\na\na", "a\na", [1, 2, None]),
        ("", "a\nb", [None]),
        ("a\nb", "", [None, None]),
    ],
)
def test_lines_move_along(old: str, new: str, moved: list[int | None]):
    move = Move(old, new)
    assert [move.line(number) for number in range(1, len(moved) + 1)] == moved
