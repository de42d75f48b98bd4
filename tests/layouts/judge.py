"""What must be true of a file that has been repaired, whatever the steps."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from typing import Any

from automodel_lint.repairs import Step

from .sites import Made, Site
from .trees import Places, assert_same, has_docstring, normal, untouched

_ENDS = re.compile(r"\r\n|\r|\n")


DEEPER = {"first_statement", "move_first", "put_under", "add_member"}  # may give a body lines of its own


def decoded(data: bytes) -> tuple[str, bytes, str]:
    """The text of a file, its byte order mark, its encoding."""
    mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0].removesuffix("-sig")
    return data[len(mark) :].decode(encoding), mark, encoding


def comments(text: str) -> list[tuple[str, bool]]:
    """The comments of a text, each with whether it stands alone in its line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = (t for t in tokens if t.type == tokenize.COMMENT)
    return [(t.string.rstrip(), not t.line[: t.start[1]].strip() if t.start[0] else True) for t in found]


def assert_repaired(site: Site, old: bytes, new: bytes, made: list[Made]) -> None:
    """Fail unless the new bytes are the old ones with the steps made, and nothing else."""
    before, mark, encoding = decoded(old)
    text, new_mark, new_encoding = decoded(new)
    assert (new_mark, new_encoding) == (mark, encoding)
    _assert_looks(before, text)
    _assert_comments(before, text, made)
    found = ast.parse(new)
    for one in made:
        if one.step.kind == "import_name":
            _assert_imported(site.tree, found, one.step)
        one.expect()
    expected, found = normal(site.tree), normal(found)
    assert_same(expected, found)
    places = Places(text)
    lost = {comment for one in made for comment in one.loses}
    deeper = any(one.step.kind in DEEPER for one in made)
    for was, now in untouched(expected, found):
        if any(comment in site.text_of(was) for comment in lost):
            continue
        texts = site.text_of(was), places.segment(now)
        if deeper:  # what is in brackets goes along
            texts = tuple("".join(text.split()) for text in texts)
        assert texts[0] == texts[1]


def _assert_looks(before: str, text: str) -> None:
    """Line ends and indentation are the file's own."""
    ends = set(_ENDS.findall(before))
    assert set(_ENDS.findall(text)) <= (ends or {"\n"}), "line ends"
    units, kinds = _indentation(before)
    new_units, new_kinds = _indentation(text)
    if kinds:
        assert new_kinds <= kinds, "tabs or blanks"
        assert len(units) != 1 or new_units == units, (units, new_units)
    if before.endswith(("\n", "\r")):
        assert text.endswith(("\n", "\r"))


def _indentation(text: str) -> tuple[set[str], set[str]]:
    """The steps by which a text is indented, and the characters that it has for them."""
    levels, units = [""], set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            level = token.string.rpartition("\f")[2]
            units.add(level[len(levels[-1]) :])
            levels.append(level)
        elif token.type == tokenize.DEDENT:
            levels.pop()
    return units, set("".join(units))


def _assert_comments(before: str, text: str, made: list[Made]) -> None:
    """Every comment is there, in order, and still trails what it trailed."""
    was, now = comments(before), comments(text)
    lost = {comment for one in made for comment in one.loses}
    was = [entry for entry in was if entry[0] not in lost]
    if any(one.moves for one in made):
        assert Counter(c for c, _ in was) == Counter(c for c, _ in now)
    else:
        assert was == now


def _assert_imported(expected: ast.Module, found: ast.Module, step: Step) -> None:
    """The name is imported once, in front of what the module does; then take it out of the tree again."""
    module, name, package = step.arguments
    was, now = _imports(expected, module, name, package), _imports(found, module, name, package)
    if was:
        assert len(now) == len(was)
        return
    assert len(now) == 1, "imported once"
    ((statement, alias),) = now
    index = found.body.index(statement)
    ahead = found.body[int(has_docstring(found)) : index]
    assert all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in ahead if hasattr(s, "body")), (
        "before what is defined"
    )
    for entry in expected.body:
        if isinstance(entry, ast.ImportFrom) and _module(entry, package) == module:
            entry.changed = True  # type: ignore[attr-defined]
    names = [a.name for a in statement.names if a is not alias]
    if names == sorted(names) and all(n[0].islower() for n in names) and name[:1].islower():
        assert [a.name for a in statement.names] == sorted([*names, name])
    statement.names.remove(alias)
    if not statement.names:
        has_future = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in found.body[index + 1 :])
        assert not has_future
        assert has_docstring(found) == has_docstring(expected)
        del found.body[index]


def _imports(tree: ast.Module, module: str, name: str, package: str) -> list[tuple[Any, ast.alias]]:
    """The statements at the top that bind a name of a module as it is called there, with the alias."""
    found = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and name and _module(statement, package) == module:
            found += [(statement, a) for a in statement.names if (a.name, a.asname or a.name) == (name, name)]
        elif isinstance(statement, ast.Import) and not name:
            found += [(statement, a) for a in statement.names if a.name == module and a.asname is None]
    return found


def _module(statement: ast.ImportFrom, package: str) -> str:
    parts = package.split(".")
    base = parts[: len(parts) - statement.level + 1] if statement.level else []
    return ".".join(p for p in (*base, statement.module) if p)
