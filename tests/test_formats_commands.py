"""In a step of a GitHub workflow, nothing that was linted can start or end a workflow command."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example as tried
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_lint.commands.output import FORMATS, say, show, write
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.pages import pages
from automodel_lint.reporters import github
from automodel_lint.reporters.workflow import harmless

from .actions_runner import Command, commands
from .reports import finding, report

ROOT = Path("/nowhere/checkout")
OPTIONS = {"output_file": None, "statistics": False, "verbose": True, "quiet": False}
PIECES = """:: : ## # [ ##[ ] %0A %0D %25 %3A % , ; = error warning set-output stop-commands add-mask endgroup name=x
file=a.py ::error:: ::set-output%20name=x::y ##[error] ##[set-output name=x] ::stop-commands::pause ::pause::""".split()
UNSEEN = [" ", "\t", "\n", "\r", "\r\n", "\0", "\x0c", "\x1b", "\x1b[31m", "\x85", "\xa0", "\xad", "\u034f", "\u200b"]
UNSEEN += ["\u2028", "\u2029", "\u3000", "\ufe0f", "\ufeff", "\u0301", "\udc80", "\U000e0020", "é", "𐐀"]
hostile = st.lists(st.one_of(st.sampled_from(PIECES + UNSEEN), st.text(max_size=3)), max_size=12).map("".join)
# What a file can be called: no part of it may be empty, and git and Python know no file whose name holds a zero.
names = hostile.map(lambda text: text.replace("\0", "").replace("/", "") or "x").filter(lambda t: t not in (".", ".."))


@st.composite
def hostile_findings(draw: st.DrawFn) -> list[Finding]:
    made = []
    for severity in draw(st.lists(st.sampled_from(list(Severity)), max_size=4)):
        first, last = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)).map(sorted))
        made.append(
            finding(
                draw(names),
                draw(hostile),
                severity=severity,
                span=Span(first, draw(st.integers(1, 9)), last, draw(st.integers(9, 12))),
                symbol=draw(hostile),
                architectures=(draw(hostile),),
                code=draw(st.sampled_from(sorted(pages()))),
            )
        )
    return made


def printed(made: Any, output_format: str | None, environment: dict[str, str]) -> str:
    """What a step prints of a report."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, environment), redirect_stdout(out), redirect_stderr(err):
        show(made, {**OPTIONS, "output_format": output_format})
    assert err.getvalue() == ""
    return out.getvalue()


@given(hostile_findings(), hostile, st.sampled_from(["", "1"]))
@settings(max_examples=150, deadline=None)
def test_no_format_prints_a_command_but_our_own(findings: list[Finding], source: str, colour: str):
    files = {f.path: f"{source}\n{source}\n{source}".encode("utf-8", "surrogatepass") for f in findings}
    made = report(ROOT, *findings, files=files)
    step = {"GITHUB_ACTIONS": "true", "FORCE_COLOR": colour, "COLUMNS": "200"}
    for output_format in (None, *FORMATS):
        heard = commands(printed(made, output_format, step))
        assert len(heard) == (len(findings) if output_format in (None, "github") else 0), output_format
        assert {command.name for command in heard} <= {"error", "warning", "notice"}


@given(hostile_findings())
@settings(max_examples=150, deadline=None)
def test_each_command_says_what_was_found_where(findings: list[Finding]):
    made = report(ROOT, *findings)
    heard = commands(github.render(made))
    assert heard == [_expected(f) for f in sorted(findings, key=lambda f: -(f.severity or 0))]


def _expected(found: Finding) -> Command:
    kind = ("notice", "warning", "error")[found.severity or 0]
    place = {
        "file": _shown(found.path).removeprefix("="),
        "line": str(found.span.line),
        "endLine": str(found.span.end_line),
    }
    if found.span.line == found.span.end_line:
        place |= {"col": str(found.span.column), "endColumn": str(found.span.end_column)}
    message = _shown(harmless(found.message))
    message = f" {message}" if message and not message[0].isascii() else message
    return Command(kind, {**place, "title": f"{found.code} {pages()[found.code].name}"}, message)


def _shown(text: str) -> str:
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


@given(hostile)
@tried(" ::error::x")
@tried("\xad::error::x")
@tried("a\r\x1b[31m:\u200b:error::x")
@tried("a ##[error]x")
@tried("###[error]x #\xad#[error]x")
@settings(max_examples=500)
def test_harmless_text_holds_no_command_and_is_changed_no_further(text: str):
    made = harmless(text)
    assert commands(made) == []
    assert made.replace("\\", "") == text.replace("\\", "")
    assert harmless(made) == made


def test_text_without_commands_stays_as_it_is():
    text = "a::b\n  c:: d\n## [x]\n#[y] # #[z]\npath.py:3:4: NAM206 `x` :: y\n"
    assert harmless(text) == text


def test_what_is_printed_beside_a_report_holds_no_command():
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, {"GITHUB_ACTIONS": "true"}), redirect_stdout(out), redirect_stderr(err):
        write("@@ -1 +1 @@\n ::error::a line that a diff does not change\n+::error::x ##[warning]y\n")
        say("bad.toml:\n::error::x ##[error]y")
    assert commands(out.getvalue()) == commands(err.getvalue()) == []
    assert err.getvalue().count("\n") == 1


def test_outside_a_workflow_text_is_printed_as_it_is():
    out = io.StringIO()
    with redirect_stdout(out):
        write("::error::x ##[error]y\n")
    assert out.getvalue() == "::error::x ##[error]y\n"


def test_the_runner_of_these_tests_hears_commands():
    """Else all of the above would hold of anything."""
    assert commands("::error file=a%2Cb,line=3::x%0Ay") == [Command("error", {"file": "a,b", "line": "3"}, "x\ny")]
    assert [c.name for c in commands("x ##[Warning a=b;c=d]e\n\t ::NOTICE::f")] == ["warning", "notice"]
    assert [c.name for c in commands("\xad:\u200b:error::x\n#\xad#[error]y")] == ["error", "error"]
    assert [c.name for c in commands("::stop-commands::t\n::error::x\n::t::\n::error::y")] == [
        "stop-commands",
        "t",
        "error",
    ]
    assert commands("a ::error::x\n:error::y\n::nothing::z\n##[nothing]z") == []


HOSTILE_KEY = "x\\n::error file=a.py::pwned\\n##[set-output name=a]b\\r::stop-commands::c"
HOSTILE_FILE = "a\n::error::pwned ##[error].py"


@pytest.fixture
def hostile_checkout(example: Path) -> Path:
    """The example with an architecture, a file and source lines that are written as commands."""
    registry = example / "acme_automodel" / "_transformers" / "registry.py"
    text = registry.read_text()
    before = '        ("MapleForCausalLM"'
    assert before in text
    entry = f'        ("{HOSTILE_KEY}", ("acme_automodel.components.models.fir.model", "Pwned")),\n'
    registry.write_text(text.replace(before, f"{entry}{before}", 1))
    fir = example / "acme_automodel" / "components" / "models" / "fir"
    model = (fir / "model.py").read_text()
    guarded = "reject_unsupported_tie_word_embeddings(type(self), config)"
    assert guarded in model
    (fir / "model.py").write_text(
        model.replace(guarded, "reject_unsupported_tie_word_embeddings(FirForCausalLM, config)  # ##[error]pwned")
    )
    (fir / HOSTILE_FILE).write_text("def (:\n")
    return example


@pytest.mark.parametrize("arguments", [[], *(["--output-format", f] for f in FORMATS), ["--diff"], ["--show-files"]])
def test_a_checkout_full_of_commands(hostile_checkout: Path, cli, arguments: list[str], tmp_path: Path):
    step = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = cli("check", hostile_checkout, *arguments, cwd=hostile_checkout, **step)
    assert done.returncode == 1 or arguments == ["--show-files"], done.stderr
    heard = commands(done.stdout + done.stderr)
    ours = 20 if arguments in ([], ["--output-format", "github"]) else 0
    assert len(heard) == ours
    assert all(command.name in ("error", "warning") and command.properties["title"] for command in heard)
