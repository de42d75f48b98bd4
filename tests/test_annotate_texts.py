"""The texts that ``annotate`` writes and the diffs that it reads, piece by piece."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_lint.findings import Edit, Span
from automodel_lint.pages import pages
from automodel_lint.pull_request.diff import Diff, Hunk, hunks_of
from automodel_lint.pull_request.markdown import code_block, code_span, prose
from automodel_lint.pull_request.markers import CommentMark, SummaryMark
from automodel_lint.pull_request.shapes import bad_path
from automodel_lint.pull_request.suggestions import Suggestion, suggested
from automodel_lint.pull_request.wording import essence, explained, how_to, right

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "-x", "+x", "\\ x", " y", "\f"]), max_size=30)


# -- diffs ----------------------------------------------------------------------------------------------------------


@settings(deadline=None)  # a busy machine is no failure
@given(TEXTS, TEXTS, st.integers(0, 4))
def test_hunks_hold_the_new_lines_and_know_which_are_changed(old: list[str], new: list[str], context: int):
    patch = "\n".join(list(difflib.unified_diff(old, new, n=context, lineterm=""))[2:])
    changed = set()
    for hunk in hunks_of(patch):
        assert list(hunk.lines) == new[hunk.start - 1 : hunk.start - 1 + len(hunk.lines)]
        changed |= hunk.changed
    expected = set()
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        expected |= set(range(start + 1, end + 1)) if tag in ("insert", "replace") else set()
    assert changed == expected


def test_a_hunk_as_github_writes_it():
    patch = "@@ -1,3 +1,4 @@ class A:\n a\n-b\n+B\n+C\n c\n\\ No newline at end of file\n@@ -10 +11 @@\n-x\n+y"
    assert hunks_of(patch) == [Hunk(1, ("a", "B", "C", "c"), frozenset({2, 3})), Hunk(11, ("y",), frozenset({11}))]


@pytest.mark.parametrize("patch", ["", "Binary files differ", "@@ -1,3 +1,9 @@\n a", "@@ -1,2 +1,2 @@\n?\n b", "@@"])
def test_a_damaged_patch_has_no_lines(patch: str):
    assert hunks_of(patch) == []


def test_a_deleted_file_and_one_without_a_patch_have_no_lines():
    patch = "@@ -1 +1 @@\n-a\n+b"
    files = [
        {"filename": "gone.py", "status": "removed", "patch": patch},
        {"filename": "huge.py", "status": "modified"},
        {"filename": "new.py", "previous_filename": "old.py", "status": "renamed", "patch": patch},
    ]
    diff = Diff.of(files)
    assert diff.changes("new.py", 1, 1)
    assert not any(diff.changes(name, 1, 1) for name in ("gone.py", "huge.py", "old.py"))


# -- Markdown -------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1))
def test_a_code_span_ends_where_its_text_ends(text: str):
    span = code_span(text)
    fence = re.match("`+", span)[0]
    inside = span[len(fence) : -len(fence)]
    assert span == f"{fence}{inside}{fence}" and inside.strip(" ") == text.strip(" ")
    assert fence not in re.findall("`+", inside)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["`", "```", "````python", "a", "~~~"]), max_size=6).map("\n".join))
def test_a_block_of_code_ends_where_its_text_ends(text: str):
    first, *inside, last = code_block(text, "suggestion").split("\n")
    assert first == f"{last}suggestion" and set(last) == {"`"} and "\n".join(inside) == text
    assert not any(line.startswith(last) for line in inside)


def test_prose_is_unwrapped_and_its_references_are_disarmed():
    text = "One\ntwo `#1`\nGH-3 #4:\n\n- a\n  b #5\n- @c\n\n```python\nx  # 6\n# @d\n```\n"
    hidden = "&#8203;"
    assert prose(text) == (
        f"One two `#1` GH-{hidden}3 #{hidden}4:\n\n- a b #{hidden}5\n- @{hidden}c\n\n```python\nx  # 6\n# @d\n```"
    )


@pytest.mark.parametrize("code", pages())
def test_of_every_page_a_comment_can_be_made(code: str):
    page = pages()[code]
    for text in (explained(page), prose(page.summary), how_to(page) or ""):
        outside = re.sub(r"^(`{3,}).*?^\1$|`[^`\n]*`", "", text, flags=re.M | re.S).replace("&#8203;", "\u200b")
        assert not re.search(r"#\d|(?<!\w)@\w", outside), "refers to an issue or a person of the repository"
        assert text.count("```") % 2 == 0
    advice = how_to(page)
    if advice:
        assert "{" not in re.sub(r"`[^`]*`", "", advice) and not advice.endswith("."), advice
    if page.sections["Good"].count("```python") and code not in ("NAM000", "NAM920"):
        assert right(page)


def test_advice_is_the_end_of_the_message_if_no_finding_is_needed_to_read_it():
    told = {code: how_to(pages()[code]) for code in ("NAM206", "NAM105", "NAM401", "NAM002", "NAM208", "NAM204")}
    assert told == {
        "NAM206": "pass that config as it came",
        "NAM105": "write `ModelClass = …` at its end",
        "NAM401": None,
        "NAM002": None,
        "NAM208": 'write `_tied_weights_keys = {"lm_head.weight": "<FQN of the input embedding\'s weight>"}`',
        "NAM204": "make the guard the first statement",
    }


def test_the_imports_of_an_example_are_left_out_unless_they_are_the_example():
    assert essence("import a\nfrom b import c\n\n\n@d\nclass E:\n    pass\n") == "@d\nclass E:\n    pass"
    assert essence("from b import c\n\n__all__ = ['c']\n") == "from b import c\n\n__all__ = ['c']"


# -- marks ----------------------------------------------------------------------------------------------------------


def test_marks_are_read_as_they_were_written():
    mark = CommentMark("NAM206", "0123456789abcdef", gone=True)
    assert CommentMark.of(f"{mark}\n\ntext") == mark
    summary = SummaryMark.made("f" * 16, {"inline": ["0" * 16], "rest": ["1" * 16, "2" * 16]})
    assert SummaryMark.of(f"{summary}\n\ntext") == summary


@pytest.mark.parametrize("before", [" ", "> ", "text\n", "<p>"])
def test_a_mark_counts_at_the_very_beginning_only(before: str):
    assert CommentMark.of(f"{before}{CommentMark('NAM206', '0' * 16)}") is None
    assert SummaryMark.of(f"{before}{SummaryMark.made('0' * 16, {})}") is None


# -- suggestions ----------------------------------------------------------------------------------------------------

TEXT = "one\ntwo\nthree\nfour\nfive\n"
WHOLE = Hunk(1, tuple(TEXT.splitlines()), frozenset({1}))


def _edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Span(line, column, end_line, end_column), text)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([_edit(2, 1, 2, 4, "2")], Suggestion(2, 2, "2")),
        ([_edit(2, 1, 2, 1, "new\n")], Suggestion(2, 2, "new\ntwo")),
        ([_edit(2, 1, 3, 1, "")], Suggestion(2, 3, "three")),
        ([_edit(2, 4, 2, 4, "!"), _edit(4, 1, 4, 1, "?")], Suggestion(2, 4, "two!\nthree\n?four")),
        ([_edit(6, 1, 6, 1, "six\n")], Suggestion(5, 5, "five\nsix")),
        ([_edit(5, 5, 6, 1, "!\n")], Suggestion(5, 5, "five!")),
        ([_edit(1, 1, 1, 4, "```")], Suggestion(1, 1, "```")),
        ([_edit(2, 1, 2, 4, "two")], None),
    ],
    ids=["a line", "above", "a line less", "two near each other", "at the end", "to the end", "backquotes", "nothing"],
)
def test_edits_become_whole_lines(edits: list[Edit], expected: Suggestion | None):
    assert suggested(3, edits, TEXT, WHOLE) == expected


def test_edits_that_lie_apart_or_outside_become_none():
    long = "".join(f"{n}\n" for n in range(1, 41))
    hunk = Hunk(1, tuple(long.splitlines()), frozenset({1}))
    assert suggested(3, [_edit(1, 1, 1, 2, "x"), _edit(9, 1, 9, 2, "x")], long, hunk) is None
    assert suggested(1, [_edit(30, 1, 30, 2, "x")], long, hunk) is None, "too far from the finding"
    assert suggested(3, [_edit(3, 1, 3, 2, "x")], long, Hunk(4, ("4",), frozenset())) is None
    turned = Hunk(4, ("a", "2", "c"), frozenset())
    assert suggested(2, [_edit(2, 1, 2, 2, "x")], long, turned) is None, "in front of the hunk, whatever that holds"
    assert suggested(3, [_edit(3, 1, 3, 2, "x")], long.replace("\n", "\r\n"), hunk) is None, "line ends would change"
    assert suggested(3, [_edit(3, 1, 3, 2, "x")], "another\n" * 9, hunk) is None


@pytest.mark.parametrize("path", ["a.py", "a b/ü`#1`.py", ".github/x.py", "a/..b/c", "日本/モデル.py"])
def test_paths_of_any_letters_are_paths(path: str):
    assert bad_path(path) is None
