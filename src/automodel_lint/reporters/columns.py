"""Columns in the units that others count in; ours are characters."""

from __future__ import annotations

from automodel_lint.report import Report

UTF_8 = ("utf-8", 1)
UTF_16 = ("utf-16-le", 2)


class Columns:
    """Turns columns of a report's files into columns, from 1, in code units of one encoding."""

    def __init__(self, report: Report, unit: tuple[str, int]):
        self._tree, (self._encoding, self._size) = report.tree, unit

    def of(self, path: str, line: int, column: int) -> int:
        """Return the column of a place in a file of the report."""
        lines = self._tree.lines(self._tree.absolute(path))
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        if before.isascii():
            return column
        return column + len(before.encode(self._encoding, "surrogatepass")) // self._size - len(before)
