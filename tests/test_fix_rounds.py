"""What repairing does with repairs that are no good: each is left out and named, and everything else is repaired."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.fixes.repairing import Outcome, repaired
from automodel_lint.remedies import tie_guard
from automodel_lint.repairs import Repair, Step, append_line, replace_text
from automodel_lint.repairs import repair as made
from automodel_lint.request import Request

from .clean_example import clean, edited, lay
from .mutations import Edit, model

FIR, SPRUCE = model("fir"), model("spruce")
GUARD = "reject_unsupported_tie_word_embeddings(type(self), config)"
WRONG = GUARD.replace("type(self)", "object")
# A fault (NAM105) that has no repair of its own.
NO_EXPORT = "ModelClass = FirModel if torch.cuda.is_available() else FirDecoderLayer"
EDITS = tuple(Edit(path, GUARD, WRONG) for path in (FIR, SPRUCE))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Fir and Spruce with a guard of the wrong class each."""
    return lay(tmp_path / "checkout", edited(clean(), EDITS))


def _mended_by(monkeypatch: pytest.MonkeyPatch, step: Callable[[ModelClass, Repair], list[Step]]) -> None:
    """Let the repair of Fir's guard consist of other steps; Spruce keeps its own."""
    real = tie_guard.with_own_class

    def other(model: ModelClass, *arguments: object) -> Repair | None:
        proper = real(model, *arguments)
        assert proper is not None
        return proper if model.name != "FirForCausalLM" else made("Mend it", *step(model, proper))

    monkeypatch.setattr(tie_guard, "with_own_class", other)


def _run(root: Path) -> Outcome:
    return repaired(Request(paths=[str(root)], select=["NAM"], ignore=["NAM803"], cache=False))


def _only_spruce(root: Path, outcome: Outcome, reason: str) -> None:
    """Spruce is repaired, Fir as it was, and the reason given once."""
    assert [(f.code, f.symbol) for f in outcome.fixed] == [("NAM207", "SpruceForCausalLM.__init__")]
    assert {Path(path): new for path, (_, new) in outcome.files.items()} == {root / SPRUCE: clean()[SPRUCE].encode()}
    assert [(f.code, f.path) for f in outcome.report.findings] == [("NAM207", FIR)]
    ((finding, why),) = outcome.dropped
    assert finding.path == FIR and reason in why, why


def test_all_is_repaired_where_all_is_well(root: Path):
    outcome = _run(root)
    assert {new for _, new in outcome.files.values()} == {clean()[path].encode() for path in (FIR, SPRUCE)}
    assert not outcome.report.findings and not outcome.dropped
    assert (root / FIR).read_text() == edited(clean(), EDITS)[FIR], "nothing is written"


def test_a_repair_whose_result_is_no_python(root: Path, monkeypatch: pytest.MonkeyPatch):
    _mended_by(monkeypatch, lambda _, proper: [*proper.steps, append_line("class :")])
    _only_spruce(root, _run(root), "not valid Python")


def test_a_repair_that_does_not_mend(root: Path, monkeypatch: pytest.MonkeyPatch):
    """It would otherwise be made again in every round."""
    _mended_by(monkeypatch, lambda *_: [append_line("mended = True")])
    _only_spruce(root, _run(root), "would not be gone")


def test_a_repair_that_comes_back_in_other_words_in_every_round(root: Path, monkeypatch: pytest.MonkeyPatch):
    """Each round mends what the finding said, and gives it something else to say: the bound is ten."""
    made_so_far: list[str] = []

    def steps(_: ModelClass, proper: Repair) -> list[Step]:
        (step,) = proper.steps
        made_so_far.append(f"Other{len(made_so_far)}")
        return [Step(step.kind, (*step.arguments[:-1], made_so_far[-1]))]

    _mended_by(monkeypatch, steps)
    _only_spruce(root, _run(root), "come back after 10 rounds")
    assert len(made_so_far) <= 2 * (10 + 1) + 1


def test_a_repair_that_brings_another_finding(root: Path, monkeypatch: pytest.MonkeyPatch):
    _mended_by(monkeypatch, lambda _, proper: [*proper.steps, append_line(NO_EXPORT)])
    _only_spruce(root, _run(root), "would bring NAM105")


def test_a_repair_that_brings_a_finding_which_is_not_selected(root: Path, monkeypatch: pytest.MonkeyPatch):
    _mended_by(monkeypatch, lambda _, proper: [*proper.steps, append_line(NO_EXPORT)])
    _only_spruce(root, repaired(Request(paths=[str(root)], select=["NAM207"], cache=False)), "would bring NAM105")


def test_an_innocent_repair_beside_a_culprit_is_made(root: Path, monkeypatch: pytest.MonkeyPatch):
    """Both concern Fir; only one of them brings something."""
    frozen = "    @dataclass(frozen=True)\n"
    text = (root / FIR).read_text()
    assert frozen in text
    (root / FIR).write_text(text.replace(frozen, "    @dataclass\n"))
    _mended_by(monkeypatch, lambda _, proper: [*proper.steps, append_line(NO_EXPORT)])
    outcome = _run(root)
    assert {(f.code, f.path) for f in outcome.fixed} == {("NAM207", SPRUCE), ("NAM303", FIR)}
    assert [(f.code, why) for f, why in outcome.dropped] == [("NAM207", f"it would bring NAM105 in {FIR}")]


def test_a_repair_that_would_lose_a_comment(root: Path, monkeypatch: pytest.MonkeyPatch):
    text = (root / FIR).read_text().replace(f"{WRONG}\n", f"{WRONG}  # asked first\n")
    (root / FIR).write_text(text)
    number = next(n for n, line in enumerate(text.splitlines(), 1) if WRONG in line)

    def steps(model: ModelClass, proper: Repair) -> list[Step]:
        (step,) = proper.steps
        line, *_ = step.arguments
        assert line == number
        return [Step("replace_text", (line, 1, line + 1, 1, f"        {GUARD}\n"))]

    _mended_by(monkeypatch, steps)
    outcome = _run(root)
    assert [(f.path, why) for f, why in outcome.dropped] == [(FIR, "it would lose a comment")]
    assert set(map(Path, outcome.files)) == {root / SPRUCE}


def test_a_step_that_nobody_knows(root: Path, monkeypatch: pytest.MonkeyPatch):
    _mended_by(monkeypatch, lambda *_: [Step("transmute", ())])
    _only_spruce(root, _run(root), "transmute")


def test_a_repair_with_two_steps_for_one_place(root: Path, monkeypatch: pytest.MonkeyPatch):
    _mended_by(monkeypatch, lambda _, proper: [*proper.steps, _shifted(proper.steps[0])])
    _only_spruce(root, _run(root), "same place")


def _shifted(step: Step) -> Step:
    *place, text = step.arguments
    return Step(step.kind, (*place, f"{text} "))


def test_a_file_that_is_not_what_its_encoding_says(root: Path):
    """It can be linted, but not written back as it was."""
    text = (root / FIR).read_text()
    (root / FIR).write_bytes(b"# -*- coding: utf-7 -*-\n" + text.encode())
    outcome = _run(root)
    assert str(root / FIR) not in outcome.files


def test_every_step_has_a_maker():
    """The constructors of steps and the functions that make them have the same names."""
    from automodel_lint import repairs
    from automodel_lint.fixes.edits import ROOMS

    made = {n: v for n, v in vars(repairs).items() if getattr(v, "__annotations__", {}).get("return") == "Step"}
    steps = {name for name, value in made.items() if "Step" in value.__code__.co_names}  # others put it to another use
    assert len(steps) >= 15
    assert not [name for name in steps if not any(hasattr(room, name) for room in ROOMS)]
    assert replace_text.__name__ in steps
