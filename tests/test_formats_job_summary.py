"""The job summary: Markdown in which everything is said, and what was linted is only ever text."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from automodel_lint.findings import Severity
from automodel_lint.pages import pages
from automodel_lint.reporters import job_summary

from .reports import finding, report

ROOT = Path("/nowhere/checkout")
PIECES = """| \\| ` `` ``` ** _ __ ~~ ~ < > & &lt; &#124; <b> </details> <!-- --> <img src=x> <script> [a](http://x)
![a](b) ]( [ ] [^1] @someone @org/team #12 GH-3 a/b#4 https://x.example www.x.example http://a :smile: $a$ $$ \\ # -
+ 1. > --- === %""".split()
SPACES = [" ", "\n", "\r", "\t", "\u2028", "\0", "é"]
hostile = st.lists(st.one_of(st.sampled_from(PIECES + SPACES), st.text(max_size=3))).map("".join)
HTML = {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>", "<br>"}


def parsed(text: str) -> list[Token]:
    """Return the Markdown as a reader of GitHub's flavour has it, block by block and in each what is in the line."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def cells(text: str) -> list[list[str]]:
    """Return the rows of every table, as a reader sees their cells."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level > 3:
            rows[-1].append(_seen(token))
    return rows


def _seen(token: Token) -> str:
    parts = [child.content for child in token.children or () if child.type in ("text", "text_special", "code_inline")]
    return "".join(parts).replace("\u200b", "")


@given(hostile, hostile, hostile)
@settings(max_examples=200, deadline=None)
def test_what_was_linted_is_text_whatever_it_is(path: str, message: str, code: str):
    path = path.replace("\0", "") or "x"
    made = report(ROOT, finding(path, f"{message} `{code}`"), finding("second/b.py"))
    text, left_out = job_summary.markdown(made)
    assert left_out == 0
    tokens = parsed(text)
    kinds = {token.type for token in tokens}
    assert kinds <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "text_special"),
        *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close"),
        *("th_open", "th_close", "td_open", "td_close", "html_block", "html_inline", "link_open", "link_close"),
        "softbreak",
    }
    links = {token.attrs["href"] for token in tokens if token.type == "link_open"}
    assert links == {pages()["NAM206"].url}
    tags = re.findall("<[^>]*>", "".join(token.content for token in tokens if token.type.startswith("html")))
    assert set(tags) <= HTML
    assert text.count("<details>") == text.count("</details>") == 2
    rows = cells(text)
    assert [len(row) for row in rows] == [4, 4, 3, 3, 3, 3]
    shown = rows[3][2]
    assert _letters(shown) == _letters(f"{message} {code}")


def _letters(text: str) -> list[str]:
    """The letters and marks of a text that can be seen; blanks and backquotes are laid out."""
    return [c for c in text if c.isprintable() and c not in " `\ufffd"]


@pytest.mark.parametrize(
    "text", ["@someone", "see #12", "https://x.example", "www.x.example", "a/b#4", ":smile:", "ask @org/team: now"]
)
def test_github_finds_nothing_to_link_in_it(text: str):
    shown = html.unescape(job_summary.plain(text))
    assert not re.search(r"@\w|#\d|://|www\.|:\w+:", shown)
    assert shown.replace("\u200b", "") == text


def test_code_stays_code_and_lines_of_a_message_become_one():
    assert job_summary.plain("write `a_b = 1`\nnow") == "write <code>a&#95;b = 1</code> now"


def test_it_counts_by_rule_and_lists_by_file(tmp_path: Path):
    found = [
        finding("b.py", "one", code="NAM205", severity=Severity.WARNING),
        finding("b.py", "two"),
        finding("c.py", "three"),
    ]
    rows = cells(job_summary.markdown(report(tmp_path, *found))[0])
    assert [row[:3] for row in rows] == [
        ["Rule", "Severity", "Findings"],
        ["NAM206 tie-guard-config", "error", "2"],
        ["NAM205 tie-guard-not-first", "warning", "1"],
        ["Line", "Rule", "Finding"],
        ["2", "warning NAM205", "one"],
        ["2", "error NAM206", "two"],
        ["Line", "Rule", "Finding"],
        ["2", "error NAM206", "three"],
    ]
    text = job_summary.markdown(report(tmp_path, *found))[0]
    assert "<summary><code>b.py</code>: 1 error, 1 warning</summary>" in text


def test_lines_lead_to_github_where_the_report_is_on_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in (("SERVER_URL", "https://g.example"), ("REPOSITORY", "me/it"), ("SHA", "c0ffee")):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    made = report(tmp_path, finding("a (b)/ü.py"))
    assert "g.example" not in job_summary.markdown(made)[0]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    tokens = parsed(job_summary.markdown(made)[0])
    links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert "https://g.example/me/it/blob/c0ffee/a%20%28b%29/%C3%BC.py#L2" in links


def test_what_was_not_probed_is_not_passed(tmp_path: Path):
    checks = {"NAM901": {"status": "passed"}, "NAM902": {"status": "not-probed"}, "NAM903": {"status": "finding"}}
    made = report(tmp_path, probe=[{"class": "a:B", "checks": checks}])
    text, _ = job_summary.markdown(made)
    assert "Classes probed: 1. Checks passed: 1, found something: 1, not probed: 1." in text


@pytest.mark.parametrize("files", [1, 3000])
@pytest.mark.parametrize("taken", [0, 1_000_000])
def test_a_long_summary_is_cut_between_lines_and_says_so(tmp_path: Path, files: int, taken: int):
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * taken)
    made = report(tmp_path, *(finding(f"{n % files:04}.py", f"number {n} é") for n in range(12_000)))
    made.findings.sort(key=lambda f: f.path)
    left_out = job_summary.publish(made, str(path))
    data = path.read_bytes()
    assert 1024 * 1024 - 2048 < len(data) <= 1024 * 1024
    text = data[taken:].decode()
    assert text.endswith(f"\n{left_out} findings left out: a job summary holds 1 MiB at most.\n\n")
    assert text.count("<details>") == text.count("</details>")
    assert len(re.findall(r"^\| 2 \|", text, flags=re.M)) == 12_000 - left_out > 0
    assert all(len(row) in (3, 4) for row in cells(text))


def test_a_full_summary_is_left_as_it_is_and_the_step_says_so(example: Path, cli, tmp_path: Path):
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (1024 * 1024 - 100))
    done = cli("check", example, "--select", "NAM206", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(path))
    assert path.stat().st_size == 1024 * 1024 - 100
    assert done.stderr == f"automodel-lint: {path}: the job summary has no room for 3 of 3 findings\n"
    assert done.returncode == 1
