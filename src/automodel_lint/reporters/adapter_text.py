"""What an adapter makes of each name, for a terminal: native and checkpoint names side by side, gaps marked.

Where the width is known no line is longer: names that do not fit beside each other stand below each other, and one
that is longer than a line is broken at its dots.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from automodel_lint.domain.adapter_rows import AdapterRows, Row

_SAME, _BOTH, _ONE_WAY, _OPEN, _DROPPED, _UNKNOWN, _MADE, _UNREAD = "=", "⇄", "→", "⇢", "✗", "?", "+", "!"
_LEGEND = {
    _SAME: "the same name",
    _BOTH: "and back",
    _ONE_WAY: "does not come back",
    _OPEN: "the way back is not decided",
    _DROPPED: "not in the checkpoint",
    _UNKNOWN: "not decided",
    _MADE: "made of no tensor of the model",
    _UNREAD: "transformers knows no such name",
}
_STYLES = {_ONE_WAY: {"fg": "red"}, _DROPPED: {"fg": "yellow"}, _UNKNOWN: {"fg": "red"}, _MADE: {"fg": "yellow"},
           _BOTH: {"fg": "green"}, _SAME: {"dim": True}, _UNREAD: {"fg": "red"}, _OPEN: {"fg": "cyan"}}  # fmt: skip
Side = tuple[str, tuple[str, ...], str]  # a sign, names, a condition
_WIDEST = 60  # columns for native names


def render(shown: AdapterRows, width: int | None = None) -> str:
    """Return the key map with colours; whoever writes it to something other than a terminal strips them."""
    lines = [*_head(shown, width)]
    if shown.why is not None:
        return "\n".join([*lines, shown.why]) + "\n"
    column = _column(shown.rows, width)
    used: dict[str, None] = {}
    for row in shown.rows:
        lines += _row(row, column, width, used)
    for name in shown.invented:
        used[_MADE] = None
        lines += _beside("", [(_MADE, (name,), "")], column, width)
    lines += ["", *_legend(used, width), *_summary(shown, width)]
    return "".join(f"{line}\n" for line in lines)


def _head(shown: AdapterRows, width: int | None) -> Iterator[str]:
    def where(place) -> str:  # type: ignore[no-untyped-def]
        return f"{shown.relative(place.path)}:{place.line}"

    yield from _joined([(shown.model, {"bold": True}), (where(shown.defined), {"dim": True})], width)
    if shown.place is not None:
        pieces = [(shown.name, {"bold": True}), (where(shown.place), {"dim": True})]
        if shown.condition:
            pieces.insert(1, (shown.condition, {"fg": "yellow"}))
        yield from _joined(pieces, width)
    if shown.others:
        yield f"otherwise: {', '.join(shown.others)}"
    yield ""


def _joined(pieces: list[tuple[str, dict]], width: int | None) -> Iterator[str]:
    """Pieces in one line, or below each other where they do not fit."""
    if width is None or sum(len(text) + 2 for text, _ in pieces) - 2 <= width:
        yield "  ".join(click.style(text, **style) for text, style in pieces)
        return
    for number, (text, style) in enumerate(pieces):
        indent = "  " if number else ""
        for part in _broken(text, width - len(indent)):
            yield indent + click.style(part, **style)


def _column(rows: list[Row], width: int | None) -> int:
    longest = max((len(row.native) for row in rows), default=0)
    return longest if width is None else min(longest, _WIDEST, max(width // 2, 20))


def _row(row: Row, column: int, width: int | None, used: dict[str, None]) -> Iterator[str]:
    sides = [(_sign(row, names), names, condition) for condition, names in row.sides]
    if row.reason is not None:
        sides = [(_UNKNOWN, (row.reason,), "")]
    used.update((sign, None) for sign, _, _ in sides)
    if row.unread:
        used[_UNREAD] = None
    shown = [
        (sign, () if sign in (_SAME, _DROPPED) else tuple(_told(name, row) for name in names), condition)
        for sign, names, condition in sides
    ]
    yield from _beside(row.native, shown, column, width)


def _told(name: str, row: Row) -> str:
    return f"{name} {_UNREAD}" if name in row.unread else name


def _sign(row: Row, names: tuple[str, ...]) -> str:
    if not names:
        return _DROPPED
    if names == (row.native,) and row.back is not False:
        return _SAME
    return {True: _BOTH, False: _ONE_WAY, None: _OPEN}[row.back]


def _beside(native: str, sides: list[Side], column: int, width: int | None) -> Iterator[str]:
    """A native name with its signs and what they lead to; on lines of their own where they do not fit beside it."""
    longest = max((len(name) for _, names, _ in sides for name in names), default=0)
    room = column if longest or width is None else width - 4  # a sign alone needs no column
    beside = width is None or (len(native) <= room and column + 4 + longest <= width)
    first, indent = (f"{native:{column}}  ", " " * (column + 2)) if beside else ("    ", "    ")
    if not beside:
        yield from _broken(native, width)
    room = None if width is None else width - len(indent) - 2
    for sign, names, condition in sides:
        mark = click.style(sign, **_STYLES.get(sign, {}))
        lines = [part for name in names for part in _broken(name, room)] or [""]
        for number, line in enumerate(lines):
            text = f"{first}{mark if number == 0 else ' '} {line}"
            first = indent
            if condition and number == len(lines) - 1 and (room is None or len(line) + 2 + len(condition) <= room):
                text = f"{text}{'  ' if line else ''}{click.style(condition, fg='yellow')}"
                condition = ""
            yield text.rstrip()
        for part in _broken(condition, room) if condition else ():
            yield f"{indent}  {click.style(part, fg='yellow')}"


def _broken(text: str, most: int | None) -> list[str]:
    """A text in pieces that fit: between words, else behind a dot."""
    parts: list[str] = []
    while most is not None and len(text) > max(most, 8):
        piece = text[: max(most, 8)]
        cut = piece.rfind(" ") + 1 or piece.rfind(".") + 1 or len(piece)
        parts.append(text[:cut].rstrip(" "))
        text = text[cut:]
    return [*parts, text] if text or not parts else parts


def _legend(used: dict[str, None], width: int | None) -> Iterator[str]:
    texts = [f"{sign} {text}" for sign, text in _LEGEND.items() if sign in used]
    line = ""
    for text in texts:
        if line and width is not None and len(line) + 3 + len(text) > width:
            yield click.style(line, dim=True)
            line = ""
        line += ("   " if line else "") + text
    if line:
        yield click.style(line, dim=True)


def _summary(shown: AdapterRows, width: int | None) -> Iterator[str]:
    rows = shown.rows
    counts = {
        "renamed": sum(r.decided and not r.unchanged and bool(r.hf) for r in rows),
        "dropped": sum(r.dropped for r in rows),
        "depending on the config": sum(r.reason is None and not r.decided for r in rows),
        "not decided": sum(r.reason is not None for r in rows),
        "unknown to transformers": sum(bool(r.unread) for r in rows),
        "one way only": sum(r.back is False for r in rows),
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    text = f"{len(rows)} names" + (f": {told}" if told else ", none of them changed")
    if not shown.complete:
        text += "; the module tree is incomplete, there may be more"
    for part in _broken(text, width):
        yield click.style(part, bold=True)
