"""Places as we count them (from 1, columns in characters) and as the protocol does (from 0, in code units)."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from automodel_lint.findings import Span
from automodel_lint.source import split_lines


class Positions:
    """The places of one text; ``codec`` is pygls's for the encoding that was agreed on with the client."""

    def __init__(self, text: str, codec: Any):
        self.lines, self.codec = split_lines(text), codec

    def position(self, line: int, column: int) -> types.Position:
        """Return a place as the protocol has it; what lies outside the text is drawn into it."""
        if line > len(self.lines):
            return types.Position(len(self.lines) - 1, self.codec.client_num_units(self.lines[-1]))
        text = self.lines[max(line, 1) - 1]
        before = text[: column - 1]
        return types.Position(max(line, 1) - 1, len(before) if text.isascii() else self.codec.client_num_units(before))

    def range(self, span: Span) -> types.Range:
        """Return a stretch as the protocol has it."""
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return a place of the protocol as a line and a column; behind the end of a line is its end."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        text, units = self.lines[position.line], 0
        for column, character in enumerate(text, 1):
            if units >= position.character:
                return position.line + 1, column
            units += self.codec.client_num_units(character)
        return position.line + 1, len(text) + 1
