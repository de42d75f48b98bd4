"""Where the comments go that silence one finding: each is read back as one that does."""

from __future__ import annotations

import pytest

from automodel_lint import suppressions
from automodel_lint.findings import Finding, Span
from automodel_lint.fixes.draft import Draft
from automodel_lint.fixes.edits import applied
from automodel_lint.fixes.suppressing import ignoring, with_noqa

CASES = {
    "plain": ("x = 1\ny = 2\n", 2, "x = 1\ny = 2  # noqa: NAM206\n"),
    "last line without an end": ("x = 1", 1, "x = 1  # noqa: NAM206"),
    "a comment there": ("x = 1  # why\n", 1, "x = 1  # why  # noqa: NAM206\n"),
    "codes there": ("x = 1  # noqa: E501\n", 1, "x = 1  # noqa: E501,NAM206\n"),
    "codes and a text there": ("x = 1  # noqa: E501 long\n", 1, "x = 1  # noqa: E501,NAM206 long\n"),
    "behind a backslash": ("x = 1 + \\\n    2\n", 1, "x = 1 + \\\n    2  # noqa: NAM206\n"),
    "inside a text": ('x = """\na\n"""\n', 2, 'x = """\na\n"""  # noqa: NAM206\n'),
    "at the start of a text": ('x = """a\nb"""\n', 1, 'x = """a\nb"""  # noqa: NAM206\n'),
    "inside brackets": ("f(\n    1,\n)\n", 2, "f(\n    1,  # noqa: NAM206\n)\n"),
    "windows": ("x = 1\r\ny = 2\r\n", 1, "x = 1  # noqa: NAM206\r\ny = 2\r\n"),
}


def _finding(line: int) -> Finding:
    return Finding("a.py", Span(line, 1, line, 2), code="NAM206", message="wrong")


@pytest.mark.parametrize("name", CASES)
def test_noqa_stands_where_it_is_read(name: str):
    text, line, wanted = CASES[name]
    draft = Draft(text.encode())
    made = applied(text, [with_noqa(draft, _finding(line))])
    assert made == wanted
    assert suppressions.read(made.encode()).covers(_finding(line))


@pytest.mark.parametrize("name", CASES)
def test_a_comment_with_a_reason_stands_where_it_is_read(name: str):
    text, line, _ = CASES[name]
    draft = Draft(text.encode())
    made = applied(text, ignoring(draft, [_finding(line)], "it is right"))
    moved = line + 1
    assert "# automodel-lint: ignore[NAM206] it is right" in made
    assert made.count("\n") == text.count("\n") + 1
    assert suppressions.read(made.encode()).covers(_finding(moved))
