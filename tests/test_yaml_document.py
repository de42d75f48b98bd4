"""YAML with places: what ``safe_load`` reads, what it refuses, and texts that are made to hang whoever reads them."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_lint.inference.yaml_document import Node, comments, read
from automodel_lint.source import split_lines


def _plain(node: Node) -> Any:
    """The document as plain data, as our own reading has it."""
    if node.is_mapping:
        return {entry.key: _plain(entry.node) for entry in node.entries.values()}
    return [_plain(item) for item in node.items] if node.is_sequence else node.value


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12),
)
_KEYS = st.one_of(st.text("abcé_-. ", min_size=1, max_size=6), st.integers(0, 9))
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=20,
)


@given(_DATA, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_reads_what_safe_load_reads(data: Any, flow: bool, newline: str, mark: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    document = read((b"\xef\xbb\xbf" if mark else b"") + text.replace("\n", newline).encode())
    assert not document.problems
    assert document.root is not None
    assert _plain(document.root) == yaml.safe_load(text)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 9), min_size=1, max_size=4), st.data())
@settings(max_examples=100, deadline=None)
def test_keys_stand_where_their_place_says(data: dict[str, int], more: st.DataObject) -> None:
    """A key is found where it stands, and exactly those that stand there twice are named."""
    rows = list(data.items()) + more.draw(st.lists(st.sampled_from(list(data.items())), max_size=3))
    text = "top:\n" + "".join(f"  {key}: {value}\n" for key, value in rows)
    document = read(text.encode())
    lines = split_lines(text)
    assert document.root is not None
    for entry in document.root.get("top").entries.values():  # type: ignore[union-attr]
        span = entry.span
        assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == entry.key
    twice = [number for number, (key, _) in enumerate(rows, 2) if key in [k for k, _ in rows[: number - 2]]]
    assert [problem.span.line for problem in document.problems] == twice
    assert _plain(document.root) == yaml.safe_load(text)


@given(st.text(st.characters(codec="utf-8"), max_size=60) | st.text("a:-[]{}&*!#|>'\"\n\t %@<", max_size=40))
@settings(max_examples=400, deadline=None)
def test_takes_what_safe_load_takes(text: str) -> None:
    """Whatever a text is: ours has a problem only if ``safe_load`` raises, and then it has one, if libyaml has.

    That takes a few texts that the parser in Python refuses, such as ``|#``. Keys that stand twice play no part.
    """
    document = read(text.encode())
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        assert document.problems or _libyaml_takes(text)
        return
    assert not [problem for problem in document.problems if problem.key is None]
    if document.root is not None and not document.problems and "!" not in text:  # tags make sets, pairs and more
        assert _plain(document.root) == loaded or ".nan" in text.lower()


def _libyaml_takes(text: str) -> bool:
    try:
        return yaml.compose(text, Loader=yaml.CSafeLoader) is not None
    except yaml.YAMLError:
        return False


MERGES = [
    "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n",
    "a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc: {<<: [*a, *b], w: 4}\n",
    "a: &a {x: 1}\nb: &b\n  <<: *a\n  y: 2\nc:\n  <<: *b\n  x: 5\n",
    "a: &a {x: 1}\nb: {x: 5, <<: *a}\n",
    'a: {"<<": 1}\n',
    "on: yes\noff: no\n",
    "size: 0x10\nother: 010\ntime: 1:30\nfloat: 1e-5\nreal: 1.0e-5\nnothing: ~\nday: 2024-02-29\n",
    "text: |\n  a: b\n  # c\nfolded: >-\n  a\n  b\n",
    "multi: this is\n  one text # and a comment\n",
    "'quoted key': \"a\\tb\"\n",
]


@pytest.mark.parametrize("text", MERGES)
def test_merges_and_old_spellings(text: str) -> None:
    document = read(text.encode())
    assert document.root is not None and not document.problems
    assert _plain(document.root) == yaml.safe_load(text)


REFUSED = {
    "a:\t1": (1, 3),
    "a:\n\tb: 1": (2, 1),
    "a: b: c": (1, 5),
    "a: [1, 2": (1, 9),
    "a: 'x\nb: 1\n": (2, 4),
    "a: {{ b }}": (1, 5),
    "a: *b": (1, 4),
    "a: !x 1": (1, 4),
    "a: 1\n---\nb: 1": (2, 1),
    "a: \x07": (1, 4),
    "a: 2024-02-30": (1, 4),
    "<<: 1": (1, 1),
    "a: <<": (1, 4),
    "- <<": (1, 3),
    "é: *b": (1, 4),
    "[a]: 1": (1, 1),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_has_its_place(text: str) -> None:
    with pytest.raises((yaml.YAMLError, ValueError)):
        yaml.safe_load(text)
    problems = read(text.encode()).problems
    assert [(p.span.line, p.span.column) for p in problems] == [REFUSED[text]], problems
    assert all(problem.reason and "\n" not in problem.reason for problem in problems)


@pytest.mark.parametrize(
    "data, place", [(b"a: 1\nb: \xff", (2, 4)), (b"\xef\xbb\xbf\xe9", (1, 1)), ("a: b".encode("utf-16"), (1, 1))]
)
def test_other_encodings_are_no_utf_8(data: bytes, place: tuple[int, int]) -> None:
    (problem,) = read(data).problems
    assert (problem.span.line, problem.span.column) == place


def test_lines_are_those_of_everybody_else() -> None:
    """YAML also ends lines at characters that no editor does."""
    document = read("a: 'x\u2028y'\nb:\n  c: 1\n  c: 2\n".encode())
    assert [(p.span.line, p.span.column) for p in document.problems] == [(4, 3)]


def _laughs(kind: str) -> str:
    if kind == "lists":
        return "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 200))
    if kind == "merges":
        return "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 200))
    if kind == "deep merges":
        return "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}}}\n" for n in range(1, 3000))
    if kind == "circle":
        return "a: &a\n  b: *a\n  <<: *a\nc: &c [*c, *c]\n"
    return {"deep": "[" * 20000, "keys": "? " * 5000 + "x", "long": "a: " + "x" * 1_000_000}[kind]


@pytest.mark.parametrize("kind", ["lists", "merges", "deep merges", "circle", "deep", "keys", "long"])
def test_nothing_hangs(kind: str) -> None:
    started = time.process_time()
    document = read(_laughs(kind).encode())
    if document.root is not None:
        for raw in document.everything():
            assert document.node(raw).entries is not None
    assert time.process_time() - started < 5


def test_comments_are_told_from_text() -> None:
    text = "a: 1  # one\nb: '# no'\nc: |\n  # no\n  x # no\nd: x#no\n# two\ne: [1, # three\n 2]\n"
    assert [comment for comment, _ in comments(text)] == ["# one", "# two", "# three"]
    for comment, span in comments(text):
        assert text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1] == comment
