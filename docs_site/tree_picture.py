"""The module tree of an architecture of the example as a picture: a box a module, inside the box of its parent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from drawing import LINE, box, figure_of, text, width

from automodel_lint.commands.tree import find
from automodel_lint.domain.tree_marks import marked
from automodel_lint.domain.tree_outline import Item, Outline, outlined
from automodel_lint.reporters import tree_html
from automodel_lint.request import Request
from automodel_lint.session import Session

_WIDE = 680  # of the whole picture
_PAD, _GAP, _STACK = 10, 7, 4
_CHIP = 24  # how high a module without modules is; one with modules is higher


@dataclass
class _Block:
    """Something to place: its size, and what draws it at a place."""

    wide: float
    high: float
    draw: Callable[[float, float], list[str]]


def outline(checkout: Path, architecture: str) -> Outline:
    """Return the tree of an architecture of a checkout, read anew."""
    project = Session(Request(paths=[str(checkout)], cache=False)).project()
    return outlined(marked(*find(project, architecture)))


def page_name(architecture: str) -> str:
    """Return where the tree lies that can be folded and searched, seen from the root of the site."""
    return f"tree-of-{architecture}.html"


def page(checkout: Path, architecture: str) -> str:
    """Return the tree as ``--format html`` has it."""
    return tree_html.render(outline(checkout, architecture))


def figure(checkout: Path, architecture: str) -> str:
    """Return the picture as HTML."""
    tree = outline(checkout, architecture)
    block = _module(tree.root, _WIDE)
    seen = [item for item in tree.root.walk() if item.kind == "module"]
    signs = {
        "a stack is one for each layer or expert": any("*" in item.name for item in seen),
        "dashed: only under the condition": any(item.condition for item in seen),
        "◆ holds a tensor that is kept in fp32": any(item.pin for item in seen),
        "⇄ shares the weight that it names": any(item.tied_to for item in seen),
    }
    legend = "; ".join(["a box is a module", *(sign for sign, is_there in signs.items() if is_there)])
    link = f'<a href="../{page_name(architecture)}">with parameters, to fold and search</a>'
    caption = f"<code>automodel-lint tree {architecture}</code> on the example checkout: {legend} ({link})."
    name = f"Module tree of {architecture}: {tree.counts['module']} modules"
    return figure_of(block.draw(1, 1), block.wide + 2, block.high + 2, name, caption)


def _module(item: Item, wide: float, depth: int = 0) -> _Block:
    return _nest(item, wide, depth) if item.modules else _chip(item)


def _words(item: Item) -> list[tuple[str, str]]:
    """The first line of a module: name, class, marks."""
    return [
        ("name", item.name),
        ("type", item.type),
        ("pin", "◆" if item.pin else ""),
        ("tie", f"⇄ {item.tied_to.removesuffix('.weight')}" if item.tied_to else ""),
        ("opaque", f"? {item.opaque}" if item.opaque is not None else ""),
    ]


def _style(item: Item) -> str:
    return ("repeated " if "*" in item.name else "") + ("conditional" if item.condition else "")


def _chip(item: Item) -> _Block:
    words = [*_words(item), ("condition", item.condition)]

    def draw(x: float, y: float) -> list[str]:
        return [box(x, y, wide, _CHIP, f"chip {_style(item)}"), text(x + 8, y + LINE, *words)]

    wide = width(" ".join(part for _, part in words if part)) + 16
    return _Block(wide, _CHIP, draw)


def _nest(item: Item, wide: float, depth: int) -> _Block:
    """A module with modules in it, in the order of the source: one below the other, those without modules in lines."""
    stacked = _STACK if "*" in item.name else 0
    own, style = wide - stacked, f"{_style(item)} {'odd' if depth % 2 else 'even'}"
    head = [_words(item), [("condition", item.condition)]] if item.condition else [_words(item)]
    top = _PAD + LINE * len(head)
    rows: list[list[_Block]] = []
    for child in item.modules:
        block = _module(child, own - 2 * _PAD, depth + 1)
        if rows and rows[-1][-1].high == block.high == _CHIP and _taken(rows[-1]) + block.wide <= own - 2 * _PAD:
            rows[-1].append(block)
        else:
            rows.append([block])
    high = top + sum(row[0].high + _GAP for row in rows) - _GAP + _PAD

    def draw(x: float, y: float) -> list[str]:
        parts = [box(x + stacked, y + stacked, own, high, style)] if stacked else []
        parts.append(box(x, y, own, high, style))
        parts += [text(x + _PAD, y + LINE * (number + 1), *line) for number, line in enumerate(head)]
        y += top
        for row in rows:
            for number, block in enumerate(row):
                parts += block.draw(x + _PAD + _taken(row[:number]), y)
            y += row[0].high + _GAP
        return parts

    return _Block(wide, high + stacked, draw)


def _taken(row: list[_Block]) -> float:
    return sum(block.wide + _GAP for block in row)
