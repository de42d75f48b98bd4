"""A module tree for a terminal: guides, names, types, conditions, and where each module was written.

Where the width is known no line is longer: a place keeps only as many folders as tell its file from the others (the
first line has them all), and what still does not fit goes on below, inside the guides.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

import click

from automodel_lint.domain.tree_outline import MODULE, Item, Outline

_PINS = {"strict": "◆", "plain": "◇"}
_TIED, _SHARED, _OPAQUE = "⇄", "≡", "?"
_STYLES = {
    "type": {"fg": "cyan"},
    "shape": {},
    "note": {"fg": "cyan"},
    "condition": {"fg": "yellow"},
    "opaque": {"fg": "red"},
    "pin": {"fg": "magenta"},
    "tied": {"fg": "green"},
    "dim": {"dim": True},
    "module": {"bold": True},
    "tensor": {},
}
_ASCII = str.maketrans({"├": "|", "└": "`", "│": "|", "─": "-", "◆": "*", "◇": "+", "⇄": "=", "≡": "^", "…": "~"})
Piece = tuple[str, str]
Places = Sequence[tuple[str, int]]


def render(outline: Outline, params: bool = False, depth: int | None = None, width: int | None = None) -> str:
    """Return the tree with colours; whoever writes it to something other than a terminal strips them.

    ``params`` shows parameters and buffers too, ``depth`` folds what lies deeper, ``width`` is that of the terminal
    (``None``: as wide as it gets).
    """
    lines = _Lines(outline, params, depth, width)
    lines.item(outline.root)
    text = "".join(f"{line}\n" for line in lines.found)
    return text + "\n" + "".join(_legend(outline, lines.used, width)) + _summary(outline, width)


def plain(text: str) -> str:
    """Return a rendered tree for an output that cannot show its signs."""
    return text.translate(_ASCII)


class _Lines:
    def __init__(self, outline: Outline, params: bool, depth: int | None, width: int | None):
        self.params, self.depth, self.width = params, depth, width
        self.tails = {} if width is None else outline.tails
        self.registered = outline.registered
        self.found: list[str] = []
        self.used: set[str] = set()

    def item(self, item: Item, first: str = "", below: str = "", level: int = 0, above: Places = ()) -> None:
        """Write an item and what lies below it; ``first`` and ``below`` are the guides of its own and later lines.

        ``above`` is where the module that holds it was written: a weight of ``nn.Linear(…)`` says nothing new.
        """
        children = item.children if self.params else item.modules
        folded = self.depth is not None and level >= self.depth
        pieces = [*self._pieces(item)]
        if folded and children:
            count = sum(child.kind == MODULE for child in item.walk()) - 1
            pieces.append((f"… {_plural(count, 'module')} below" if count else "…", "dim"))
            children = []
        if not set(item.places) <= set(above):
            pieces.append((item.where(self.tails if level else None), "dim"))
        self._flow(pieces, first, below + ("│   " if children else "    "))
        for child in children:
            last = child is children[-1]
            guides = below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")
            self.item(child, *guides, level + 1, item.places)

    def _pieces(self, item: Item) -> Iterator[Piece]:
        """Yield the parts of an item but its place, in the order they are written."""
        is_module = item.kind == MODULE
        yield item.name, "module" if is_module else "tensor"
        if not item.fqn and self.registered:
            yield self.registered, "note"
        if item.type:
            yield item.type, "type"
        if item.shape:
            yield item.shape, "shape"
        yield from ((note, "note") for note in item.notes)
        if item.kind == "buffer":
            yield "buffer", "note"
        if item.pin:
            yield self._mark(_PINS[item.pin]), "pin"
        if item.tied_to:
            yield self._mark(_TIED) + ("" if is_module else f" {item.tied_to}"), "tied"
        if item.shared:
            yield self._mark(_SHARED), "note"
        if item.opaque is not None:
            yield f"{self._mark(_OPAQUE)} {item.opaque}", "opaque"
        if item.condition:
            yield item.condition, "condition"

    def _mark(self, sign: str) -> str:
        self.used.add(sign)
        return sign

    def _flow(self, pieces: list[Piece], first: str, below: str) -> None:
        """Fill lines with the pieces, two spaces between them; ``first`` and ``below`` are the guides."""
        line = _Line(first)
        for text, style in pieces:
            room = None if self.width is None else self.width - line.used
            if room is None or line.gap + len(text) <= room:
                line.add(text, style)
                continue
            if len(text) <= self.width - len(below) and not line.is_fresh:
                self.found.append(line.text)
                line = _Line(below)
                line.add(text, style)
                continue
            for number, word in enumerate(_words(text, self.width - len(below))):  # longer than any line
                gap = line.gap if number == 0 else int(word.startswith(" "))
                word = word.lstrip()
                if not line.is_fresh and gap + len(word) > self.width - line.used:
                    self.found.append(line.text)
                    line, gap = _Line(below), 0
                line.add(word, style, gap)
        self.found.append(line.text)


class _Line:
    """A line that is being filled."""

    def __init__(self, guides: str):
        self.text, self.used = click.style(guides, dim=True), len(guides)
        self.is_fresh = True

    @property
    def gap(self) -> int:
        """The distance to what stands there."""
        return 0 if self.is_fresh else 2

    def add(self, text: str, style: str, gap: int | None = None) -> None:
        """Put ``text`` at the end."""
        gap = self.gap if gap is None or self.is_fresh else gap
        self.text += " " * gap + click.style(text, **_STYLES[style])
        self.used += gap + len(text)
        self.is_fresh = False


def _words(text: str, most: int) -> Iterator[str]:
    """Yield the words of a text, all but the first with a space before, in pieces where one fills more than a line."""
    for word in re.findall(r"^\S+|\s\S+", text):
        while len(word) > most:
            cut = max((m.end() for m in re.finditer(r"\W", word[:most])), default=0) or most
            yield word[:cut]
            word = word[cut:]
        yield word


def _legend(outline: Outline, used: set[str], width: int | None) -> Iterator[str]:
    words = {
        _PINS["strict"]: "kept in fp32 (strict)",
        _PINS["plain"]: "kept in fp32 (not in sharding)",
        _TIED: "tied" + (" if the config says so" if outline.ties == "config" else ""),
        _SHARED: "also under another name",
        _OPAQUE: "not followed",
    }
    texts = [f"{sign} {text}" for sign, text in words.items() if sign in used]
    if texts:
        whole = "   ".join(text.replace(" ", "\xa0") for text in texts)  # no entry is broken
        yield click.style(_filled(whole, width).replace("\xa0", " "), dim=True) + "\n"


def _summary(outline: Outline, width: int | None) -> str:
    counts = ", ".join(_plural(number, kind) for kind, number in outline.counts.items())
    if not outline.opaque:
        return click.style(_filled(f"{counts}; complete", width), bold=True) + "\n"
    most = 5
    more = f" and {len(outline.opaque) - most} more" if len(outline.opaque) > most else ""
    text = f"{counts}; incomplete at {', '.join(outline.opaque[:most])}{more}"
    return click.style(_filled(text, width), bold=True) + "\n"


def _filled(text: str, width: int | None) -> str:
    return (
        text if width is None else textwrap.fill(text, max(width, 20), break_long_words=False, break_on_hyphens=False)
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
