"""One source file as a place to edit: its text, tokens and trees, and how places become offsets."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from automodel_lint.findings import Span

_BOM = b"\xef\xbb\xbf"
_FEED = re.compile(r"[ \t\f]*\f")


class NotEditable(Exception):
    """A step cannot be made in this file; the text says why."""


@dataclass(frozen=True, order=True)
class Change:
    """Put ``text`` in place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Token:
    """A token with its offsets."""

    type: int
    string: str
    start: int
    end: int


@dataclass(frozen=True)
class Part:
    """One statement of a module, taken apart: where it starts, its text, and its trees.

    Not all of the libcst ``module``'s code need be the text: it knows no form feeds and loses a blank here and there.
    """

    start: int
    text: str
    syntax: ast.Module
    module: Any


class Draft:
    """A file's text, taken apart as far as somebody asks.

    Raises:
        NotEditable: if the bytes cannot be decoded and encoded again as they were.
    """

    def __init__(self, data: bytes):
        self.data = data
        self._parts: dict[ast.stmt, Part] = {}
        self._mark = _BOM if data.startswith(_BOM) else b""
        try:
            self.encoding = "utf-8" if self._mark else tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            self.text = data[len(self._mark) :].decode(self.encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise NotEditable(f"it cannot be decoded: {error}") from error
        if self.encoded(self.text) != data:
            raise NotEditable("its encoding does not give the same bytes back")

    def encoded(self, text: str) -> bytes:
        """Return what to write for a text: in the file's encoding, with its byte order mark.

        Raises:
            NotEditable: if the encoding has no such characters.
        """
        try:
            return self._mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise NotEditable(f"its encoding {self.encoding} has no {error.object[error.start]!r}") from error

    # -- places ---------------------------------------------------------------------------------------------------

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line; lines end as Python's tokenizer has it (a form feed ends none)."""
        return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column (from 1)."""
        if not 1 <= line <= len(self.starts):
            raise NotEditable(f"it has no line {line}")
        return min(self.starts[line - 1] + column - 1, len(self.text))

    def line_of(self, offset: int) -> int:
        """Return the number of the line that holds an offset."""
        return bisect_right(self.starts, offset)

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset begins."""
        return self.starts[self.line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return where the text of the line of an offset ends: before its line end."""
        match = re.compile(r"\r|\n|\Z").search(self.text, offset)
        assert match is not None
        return match.start()

    def logical_end(self, offset: int) -> int:
        """Return where the text of the last line of the statements that share the line of an offset ends."""
        found = (t.start for t in self.tokens if t.type == tokenize.NEWLINE and t.start >= offset)
        return next(found, len(self.text))

    def next_line(self, offset: int) -> int:
        """Return where the line below that of an offset begins (the end of the text, if there is none)."""
        line = self.line_of(offset)
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def indent_at(self, offset: int) -> str:
        """Return the blanks that the line of an offset begins with, behind a form feed if there is one."""
        match = re.compile(r"[ \t\f]*").match(self.text, self.line_start(offset))
        assert match is not None
        return match[0].rpartition("\f")[2]

    def begins_line(self, offset: int) -> bool:
        """Tell whether only blanks stand before an offset in its line."""
        return not self.text[self.line_start(offset) : offset].strip(" \t\f")

    def span(self, change: Change) -> Span:
        """Return the stretch that a change replaces, as a finding counts."""
        first, last = self.line_of(change.start), self.line_of(change.end)
        return Span(first, change.start - self.starts[first - 1] + 1, last, change.end - self.starts[last - 1] + 1)

    # -- layout ---------------------------------------------------------------------------------------------------

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses (the first one, if it mixes them)."""
        match = re.search(r"\r\n|\r|\n", self.text)
        return match[0] if match else "\n"

    @cached_property
    def indent(self) -> str:
        """What one level is indented by: the first indentation of the file."""
        compound = next((s for s in self.syntax.body if hasattr(s, "body") or hasattr(s, "cases")), None)
        first = getattr(compound, "body", None)
        if first and self.begins_line(self.node_offset(first[0])):  # the usual case, which needs no tokens
            return self.indent_at(self.node_offset(first[0]))
        found = (t.string.rpartition("\f")[2] for t in self.tokens if t.type == tokenize.INDENT)
        return next(found, "    ")

    def laid_out(self, text: str, indent: str = "") -> str:
        """Return a text of ``\\n`` and four spaces in the file's own line ends and indentation, below ``indent``."""
        lines = []
        for line in text.split("\n"):
            bare = line.lstrip(" ")
            lines.append(indent + self.indent * ((len(line) - len(bare)) // 4) + bare if bare else "")
        return self.newline.join(lines)

    # -- trees ----------------------------------------------------------------------------------------------------

    @cached_property
    def syntax(self) -> ast.Module:
        """The syntax tree; raises :class:`NotEditable` if there is none."""
        try:
            return ast.parse(self.data)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NotEditable(f"it is not valid Python: {error}") from error

    def check_like(self, before: Draft) -> None:
        """See that the text can be read as that of ``before`` can: as Python, as TOML, or as YAML, whatever that is.

        Raises:
            NotEditable: if it cannot.
        """
        try:
            assert before.syntax is not None
        except NotEditable:
            reads = _is_toml if _is_toml(before.text) else _is_yaml
            if not reads(self.text):
                raise NotEditable("it is neither Python nor what it was before") from None
            return
        assert self.syntax is not None

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins: line and column from 1, in characters."""
        return self._in_characters(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _in_characters(self, line: int, column: int) -> tuple[int, int]:
        text = self.text[self.starts[line - 1] : self.line_end(self.starts[line - 1])]
        return line, 1 + (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore")))

    def node_offset(self, node: ast.AST) -> int:
        """Return the offset at which a node begins."""
        return self.offset(*self.place(node))

    def node_end(self, node: ast.AST) -> int:
        """Return the offset behind a node."""
        return self.offset(*self._in_characters(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def statement(self, line: int, column: int, kinds: Any = ast.stmt) -> Any:
        """Return the statement that begins at a place.

        Raises:
            NotEditable: if none of these kinds does.
        """
        for node in ast.walk(self.syntax):
            if isinstance(node, kinds) and node.lineno == line and self.place(node) == (line, column):
                return node
        raise NotEditable(f"no statement begins at {line}:{column}")

    def part(self, node: ast.AST) -> Part:
        """Return the statement of the module that holds a node (or is it), with its lossless tree.

        Raises:
            NotEditable: where there is none.
        """
        line = node.lineno  # type: ignore[attr-defined]
        top = next(s for s in self.syntax.body if line <= (s.end_lineno or s.lineno))
        if top not in self._parts:  # by far less to parse than the whole file
            self._parts[top] = self._taken_apart(top)
        return self._parts[top]

    def _taken_apart(self, top: ast.stmt) -> Part:
        import libcst

        first = min(n.lineno for n in (top, *getattr(top, "decorator_list", ())))
        start, end = self.starts[first - 1], self.next_line(self.node_end(top))
        text = self.text[start:end]
        config = libcst.PartialParserConfig(default_indent=self.indent, default_newline=self.newline)
        try:
            module = libcst.parse_module(self._without_feeds(start, end), config)
        except (libcst.ParserSyntaxError, RecursionError, ValueError) as error:
            raise NotEditable("libcst cannot parse it") from error
        if "".join(module.code.split()) != "".join(text.split()):
            raise NotEditable("libcst would not give it back as it is")
        # What libcst finds no example of in the statement is as in the file.
        if not text.endswith(("\n", "\r")):
            module = module.with_changes(default_newline=self.newline)
        inner = (n for n in ast.walk(top) if isinstance(n, ast.stmt) and n is not top)
        if not any(self.begins_line(self.node_offset(n)) for n in inner):
            module = module.with_changes(default_indent=self.indent)
        return Part(start, text, ast.Module([top], []), module)

    def _without_feeds(self, start: int, end: int) -> str:
        """A stretch of lines without the form feeds that lines begin with, and what they make void."""
        text = self.text[start:end]
        if "\f" not in text:
            return text
        inside: set[int] = set()
        for token in self.code_tokens:
            inside.update(range(self.line_of(token.start), self.line_of(token.end)))
        bounds = [s for s in self.starts if start <= s < end]
        lines = [self.text[a:b] for a, b in pairwise([*bounds, end])]
        first = self.line_of(start) - 1
        bare = (line if number in inside else _FEED.sub("", line) for number, line in enumerate(lines, first))
        return "".join(bare)

    # -- tokens ---------------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens with text, in order; raises :class:`NotEditable` if the text cannot be tokenized."""
        found = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text, newline="").readline):
                if token.type not in (tokenize.DEDENT, tokenize.ENDMARKER) and token.start[0] <= len(self.starts):
                    start, end = self.offset(token.start[0], token.start[1] + 1), self._end(token)
                    found.append(Token(token.type, token.string, start, end))
        except (tokenize.TokenError, SyntaxError) as error:
            raise NotEditable(f"it cannot be tokenized: {error}") from error
        return found

    def _end(self, token: tokenize.TokenInfo) -> int:
        line, column = token.end
        return self.offset(line, column + 1) if line <= len(self.starts) else len(self.text)

    @cached_property
    def code_tokens(self) -> list[Token]:
        """The tokens that are code: neither comments nor line ends nor indentation."""
        blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT)
        return [token for token in self.tokens if token.type not in blank]

    def comments(self) -> list[str]:
        """Return the texts of all comments, in order."""
        return [token.string for token in self.tokens if token.type == tokenize.COMMENT]


def _is_toml(text: str) -> bool:
    from automodel_lint import toml

    try:
        toml.loads(text)
    except toml.TOMLDecodeError:
        return False
    return True


def _is_yaml(text: str) -> bool:
    import yaml

    try:
        yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return False
    return True
