"""Settings, suppression, exemption, baseline."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.config import ConfigError
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.session import Request, Session
from automodel_lint.suppressions import read

MODELS = "acme_automodel/components/models"
ELM = f"{MODELS}/elm/model.py"


def _lint(root: Path, **request) -> list[Finding]:
    return Session(Request(paths=[str(root)], cache=False, **request)).run().findings


def _settings(root: Path, text: str) -> None:
    (root / "pyproject.toml").write_text(f'[tool.automodel-lint]\npackage = "acme_automodel"\n{text}')


def _codes(findings: list[Finding], path: str) -> list[str]:
    return sorted(f.code for f in findings if f.path == path)


def test_select_ignore_and_extend(example: Path):
    _settings(example, 'select = ["NAM2"]\nignore = ["NAM20"]\nextend-select = ["NAM204"]\n')
    codes = {f.code for f in _lint(example)}
    assert codes == {"NAM204", "NAM211", "NAM212", "NAM213", "NAM216"}
    assert {f.code for f in _lint(example, select=["NAM103"])} == {"NAM103", "NAM204"}, "the command line wins"


def test_severity_overrides_decide_what_is_shown(example: Path):
    _settings(example, '[tool.automodel-lint.severity]\nNAM207 = "info"\nNAM106 = "error"\n')
    findings = _lint(example)
    assert not [f for f in findings if f.code == "NAM207"], "info is off unless selected"
    assert {f.severity for f in findings if f.code == "NAM106"} == {Severity.ERROR}
    selected = [f for f in _lint(example, extend_select=["NAM207"]) if f.code == "NAM207"]
    assert [f.severity for f in selected] == [Severity.INFO]


def test_per_path_ignores(example: Path):
    _settings(example, f'[tool.automodel-lint.per-path-ignores]\n"{MODELS}/elm/**" = ["NAM2"]\n')
    findings = _lint(example)
    assert _codes(findings, ELM) == ["NAM105", "NAM113", "NAM306"]
    assert [f for f in findings if f.code == "NAM206"], "others keep theirs"


def test_exclude_and_force_exclude(example: Path):
    _settings(example, f'exclude = ["{MODELS}/elm"]\n')
    assert not _codes(_lint(example), ELM)
    named = str(example / ELM)
    session = Session(Request(paths=[named], cache=False))
    assert "NAM207" in _codes(session.run().findings, ELM), "a file that is asked for by name is linted"
    forced = Session(Request(paths=[named], cache=False, force_exclude=True))
    assert forced.run().findings == []


def test_exemption_with_reason_and_a_stale_one(example: Path):
    _settings(
        example,
        "[tool.automodel-lint.exempt]\n"
        'NAM207 = { ElmForCausalLM = "subclasses are final" }\n'
        'NAM201 = { GoneForCausalLM = "was removed" }\n',
    )
    findings = _lint(example)
    assert "NAM207" not in {f.code for f in findings}
    (stale,) = [f for f in findings if f.code == "NAM003"]
    assert (stale.path, stale.span.line) == ("pyproject.toml", 5)
    assert "GoneForCausalLM" in stale.message


ROUTED = """
import torch
import torch.nn as nn


class Router(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config.hidden_size, config.hidden_size))
        self.dt_bias = nn.Parameter(torch.zeros(config.hidden_size))
        self.beta = nn.Parameter(torch.zeros(config.hidden_size))
"""


def test_names_of_fp32_tensors_change_the_verdict_kept_or_not(example: Path):
    model = "self.model = ElmModel(config)"
    _edit(example, ELM, model, f"{model}\n        self.router = Router(config)")
    (example / ELM).write_text((example / ELM).read_text() + ROUTED)

    def unpinned() -> str:
        request = Request(paths=[str(example)], select=["NAM401"], cache=True)
        return " ".join(f.message for f in Session(request).run().findings if f.path == ELM)

    assert "`router.dt_bias`" in unpinned() and "beta" not in unpinned()
    _settings(example, 'fp32-tensors = ["router.beta"]\n')
    assert "`router.beta`" in unpinned() and "dt_bias" not in unpinned(), "the list replaces the default one"
    _settings(example, "fp32-tensors = []\n")
    assert unpinned() == ""


def test_names_of_fp32_tensors_must_be_names(example: Path):
    _settings(example, 'fp32-tensors = ["layers.*.A_log"]\n')
    with pytest.raises(ConfigError, match=r"pyproject.toml:3: fp32-tensors: 'layers\.\*\.A_log' is not the name"):
        _lint(example)


def test_own_settings_file_wins_over_a_pyproject_above(example: Path):
    (example / "automodel-lint.toml").write_text('package = "acme_automodel"\nselect = ["NAM103"]\n')
    assert {f.code for f in _lint(example)} == {"NAM103"}


# -- comments ---------------------------------------------------------------------------------------------------------


def _edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert text.count(old) == 1, (old, text.count(old))
    (root / path).write_text(text.replace(old, new))


GUARD = "reject_unsupported_tie_word_embeddings(ElmForCausalLM, config)"


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("  # noqa: NAM207", ["NAM205"]),
        ("  # noqa: NAM205, NAM207", []),
        ("  # noqa: NAM2", []),
        ("  # noqa:NAM207", ["NAM205"]),
        ("  # NOQA: nam207", ["NAM205"]),
        ("  # noqa", []),
        ("  # noqa: E501", ["NAM205", "NAM207"]),
        ("  # automodel-lint: ignore[NAM207] the class is final", ["NAM205"]),
        ("  # automodel-lint: ignore[NAM205, NAM207] both are meant", []),
        ("  #noqa: NAM207", ["NAM205", "NAM207"]),
    ],
)
def test_comments_on_the_line(example: Path, comment: str, left: list[str]):
    _edit(example, ELM, GUARD, GUARD + comment)
    assert [c for c in _codes(_lint(example), ELM) if c in ("NAM001", "NAM205", "NAM207")] == left


def test_own_comment_alone_above(example: Path):
    _edit(
        example, ELM, f"        {GUARD}", f"        # automodel-lint: ignore[NAM205,NAM207] on purpose\n        {GUARD}"
    )
    assert not {"NAM205", "NAM207", "NAM001"} & set(_codes(_lint(example), ELM))


def test_own_comment_above_decorators_and_entries(example: Path):
    maple = f"{MODELS}/maple/model.py"
    _edit(
        example,
        maple,
        "    @dataclass\n    class ModelCapabilities:",
        "    # automodel-lint: ignore[NAM303] mutable on purpose\n    @dataclass\n    class ModelCapabilities:",
    )
    registry = "acme_automodel/_transformers/registry.py"
    _edit(
        example,
        registry,
        '        ("HazelForCausalLM"',
        '        # automodel-lint: ignore[NAM101] arrives with the next release\n        ("HazelForCausalLM"',
    )
    findings = _lint(example)
    assert "NAM303" not in _codes(findings, maple)
    assert "NAM101" not in _codes(findings, registry)
    assert "NAM103" in _codes(findings, registry), "the comment reaches one entry only"
    assert "NAM001" not in {f.code for f in findings}


def test_whole_file(example: Path):
    text = (example / ELM).read_text()
    (example / ELM).write_text("# flake8: noqa\n" + text)
    assert _codes(_lint(example), ELM) == []
    (example / ELM).write_text("# flake8: noqa: NAM207\n" + text)
    assert "NAM207" not in _codes(_lint(example), ELM)
    assert "NAM205" in _codes(_lint(example), ELM)


def test_unused_suppressions(example: Path):
    fir = f"{MODELS}/fir/config.py"
    _edit(example, fir, '    model_type = "fir"', '    model_type = "fir"  # noqa: NAM206, E501')
    (finding,) = [f for f in _lint(example) if f.code == "NAM001"]
    assert finding.path == fir
    assert "NAM206" in finding.message
    assert "E501" not in finding.message
    assert not [f for f in _lint(example, select=["NAM001", "NAM3"]) if f.code == "NAM001"], "NAM206 was not judged"


def test_suppressions_survive_broken_text():
    found = read(b"x = 1  # noqa: NAM101\ny = (\n")
    assert [(c.first, c.codes) for c in found.comments] == [(1, ("NAM101",))]


def test_a_comment_at_the_end_of_a_continued_line_covers_all_of_it():
    found = read(b"x = 1 + \\\n    2  # noqa: NAM101\n")
    at = lambda line: Finding("m.py", Span(line, 1, line, 1), code="NAM101")  # noqa: E731
    assert found.covers(at(1))
    assert found.covers(at(2))
    assert not found.covers(at(3))


# -- baseline ---------------------------------------------------------------------------------------------------------


def test_baseline_keeps_todays_findings_and_only_shrinks(example: Path, cli):
    before = len(_lint(example))
    done = cli("baseline", ".", cwd=example)
    assert done.returncode == 0
    assert f"{before} findings kept" in done.stdout
    _settings(example, 'baseline = "automodel-lint-baseline.json"\n')
    assert _lint(example) == []

    text = (example / ELM).read_text()
    (example / ELM).write_text("# a comment that moves every line\n\n" + text)
    assert _lint(example) == [], "fingerprints hold no line numbers"

    fir = f"{MODELS}/fir/model.py"
    _edit(example, fir, "(type(self), config)", "(FirForCausalLM, config)")
    assert [f.code for f in _lint(example)] == ["NAM207"]
    cli("baseline", ".", cwd=example)
    assert [f.code for f in _lint(example)] == ["NAM207"], "a new finding does not get in"

    _edit(example, fir, "(FirForCausalLM, config)", "(type(self), config)")
    _edit(example, ELM, GUARD, GUARD.replace("ElmForCausalLM", "type(self)"))
    (stale,) = _lint(example)
    assert stale.code == "NAM003"
    assert "NAM207" in stale.message
    assert stale.path == "automodel-lint-baseline.json"
    assert f"{before - 1} findings kept" in cli("baseline", ".", cwd=example).stdout
    assert _lint(example) == []


def test_baseline_of_a_part_keeps_the_rest(example: Path, cli):
    cli("baseline", ".", cwd=example)
    _settings(example, 'baseline = "automodel-lint-baseline.json"\n')
    cli("baseline", f"{MODELS}/elm", cwd=example)
    assert _lint(example) == []


def test_what_was_not_asked_about_is_not_stale(example: Path, cli):
    cli("baseline", ".", cwd=example)
    _settings(
        example, 'baseline = "automodel-lint-baseline.json"\n[tool.automodel-lint.exempt]\nNAM203 = { X = "y" }\n'
    )
    assert [f.code for f in _lint(example)] == ["NAM003"]
    assert _lint(example, ignore=["NAM106", "NAM203"]) == []


def test_every_finding_has_a_fingerprint_of_its_own(example: Path, cli):
    cli("baseline", ".", cwd=example)
    _settings(example, 'baseline = "automodel-lint-baseline.json"\n')
    (example / ELM).write_text(
        (example / ELM).read_text().replace(GUARD, GUARD.replace("ElmForCausalLM", "type(self)"))
    )
    _edit(example, f"{MODELS}/fir/model.py", "(type(self), config)", "(FirForCausalLM, config)")
    prints = [f.fingerprint for f in _lint(example)]
    assert len(prints) == 2
    assert len(set(prints)) == 2
    assert all(len(p) == 16 for p in prints)


def test_an_unread_file_never_looks_clean(example: Path):
    (example / ELM).write_text("x = (\n")
    assert "NAM002" in _codes(_lint(example, select=["NAM3"]), ELM)
    assert "NAM002" not in _codes(_lint(example, select=["NAM3"], ignore=["NAM002"]), ELM)


def test_excluded_files_stay_excluded_in_editors_too(example: Path):
    _settings(example, f'exclude = ["{MODELS}/elm"]\n')
    path = str(example / ELM)
    buffer = {path: ((example / ELM).read_text() + "\n").encode()}
    request = Request(paths=[str(example)], only=frozenset((path,)), overlay=buffer, force_exclude=True, cache=False)
    assert Session(request).run().findings == []


@pytest.mark.parametrize("comment", ["# automodel-lint: ignore[] why", "# automodel-lint: ignore why"])
def test_a_suppression_must_name_codes(example: Path, comment: str):
    _edit(example, ELM, GUARD, f"{GUARD}  {comment}")
    codes = _codes(_lint(example), ELM)
    assert {"NAM001", "NAM205", "NAM207"} <= set(codes)
