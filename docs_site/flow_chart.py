"""A small flow chart in Mermaid's words, which GitHub draws in the browser, drawn at build time without a library.

What is understood is what our pages need: ``flowchart LR``, ``a --> b``, ``a -.-> b``, chains, ``a["text"]``.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from drawing import LINE, box, figure_of, text, width

_STEP = re.compile(r"\s*(?P<name>\w+)(?:\[\"(?P<label>[^\"]*)\"\])?\s*(?P<arrow>-->|-\.->)?")
_GAP_X, _GAP_Y = 34, 20
_log = logging.getLogger("mkdocs.flow_chart")  # what MkDocs hears of: a warning fails a strict build


@dataclass
class _Node:
    """A box, or a point of a long arrow on its way through a column (no lines)."""

    lines: list[str] = field(default_factory=list)
    column: int = 0
    x: float = 0
    y: float = 0

    @property
    def wide(self) -> float:
        return max(map(width, self.lines)) + 16 if self.lines else 0

    @property
    def high(self) -> float:
        return LINE * len(self.lines) + 10 if self.lines else 0


_Arrow = tuple[str, str, bool]  # from, to, dashed


def fence(source: str, language: str, css_class: str, options: object, md: object, **_: object) -> str:
    """Return the chart of a fenced block as HTML; the signature is that of the extension ``superfences``."""
    try:
        return render(source)
    except ValueError as error:
        _log.warning("flow chart: %s", error)
        return f"<pre>{escape(source)}</pre>"


def render(source: str) -> str:
    """Return a chart as HTML.

    Raises:
        ValueError: if the text has something that is not understood, or arrows in a circle.
    """
    nodes, arrows = _parsed(source)
    _arrange_in_columns(nodes, arrows)
    paths = _with_points(nodes, arrows)
    wide, high = _placed(nodes, [(a, b) for path, _ in paths for a, b in pairwise(path)])
    parts = [_HEAD]
    parts += [_curve([nodes[name] for name in path], dashed) for path, dashed in paths]
    for node in nodes.values():
        if node.lines:
            parts.append(box(node.x, node.y - node.high / 2, node.wide, node.high, "chip"))
            top = node.y - node.high / 2 + 1
            parts += [
                text(node.x + node.wide / 2, top + LINE * (number + 1) - 1, ("name", line), anchor="middle")
                for number, line in enumerate(node.lines)
            ]
    name = "; ".join(f"{' '.join(nodes[a].lines)} to {' '.join(nodes[b].lines)}" for a, b, _ in arrows)
    return figure_of(parts, wide, high, f"Flow chart: {name}")


_HEAD = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="tip" d="M0 0 8 4 0 8Z"/></marker></defs>'
)


def _parsed(source: str) -> tuple[dict[str, _Node], list[_Arrow]]:
    first, *lines = [line.strip() for line in source.strip().splitlines()]
    if first != "flowchart LR":
        raise ValueError(f"{first!r} is not understood, only flowchart LR")
    nodes: dict[str, _Node] = {}
    arrows: list[_Arrow] = []
    for line in filter(None, lines):
        before, position = None, 0
        while position < len(line):
            step = _STEP.match(line, position)
            if step is None or (before and not before["arrow"]):
                raise ValueError(f"{line!r} is not understood from {line[position:]!r} on")
            node = nodes.setdefault(step["name"], _Node([step["name"]]))
            if step["label"]:
                node.lines = re.split(r"(?<=[,:])\s+", step["label"])
            if before:
                arrows.append((before["name"], step["name"], before["arrow"] == "-.->"))
            before, position = step, step.end()
        if before and before["arrow"]:
            raise ValueError(f"{line!r} ends with an arrow")
    return nodes, arrows


def _arrange_in_columns(nodes: dict[str, _Node], arrows: list[_Arrow]) -> None:
    """Every node stands right of all that lead to it."""
    for _ in nodes:
        moved = [(a, b) for a, b, _ in arrows if nodes[b].column <= nodes[a].column]
        for a, b in moved:
            nodes[b].column = nodes[a].column + 1
        if not moved:
            break
    else:
        raise ValueError("arrows lead in a circle")
    for name in [name for name in nodes if all(b != name for _, b, _ in arrows)]:  # what starts a chain stands near it
        nodes[name].column = min((nodes[b].column for a, b, _ in arrows if a == name), default=1) - 1


def _with_points(nodes: dict[str, _Node], arrows: list[_Arrow]) -> list[tuple[list[str], bool]]:
    """The arrows as paths that have a point in every column they cross, so that no box stands in their way."""
    paths = []
    for a, b, dashed in arrows:
        path = [a]
        for column in range(nodes[a].column + 1, nodes[b].column):
            path.append(f"{a} {b} {column}")
            nodes[path[-1]] = _Node(column=column)
        paths.append(([*path, b], dashed))
    return paths


def _placed(nodes: dict[str, _Node], links: list[tuple[str, str]]) -> tuple[float, float]:
    """Give every node its place: columns from left to right, near what it is linked with; return the size."""
    columns = [
        [name for name, node in nodes.items() if node.column == number]
        for number in range(max(node.column for node in nodes.values()) + 1)
    ]
    x = 1.0
    for column in columns:
        widest = max(nodes[name].wide for name in column)
        for name in column:
            nodes[name].x = x + (widest - nodes[name].wide) / 2
        x += widest + _GAP_X
        _stack(nodes, column, {name: 0 for name in column})
    for sweep in range(24):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wished = {}
            for name in column:
                near = [nodes[b if a == name else a].y for a, b in links if name in (a, b)]
                wished[name] = sum(near) / len(near) if near else nodes[name].y
            _stack(nodes, column, wished)
    top = min(node.y - node.high / 2 for node in nodes.values()) - 1
    for node in nodes.values():
        node.y -= top
    return x - _GAP_X + 1, max(node.y + node.high / 2 for node in nodes.values()) + 1


def _stack(nodes: dict[str, _Node], column: list[str], wished: dict[str, float]) -> None:
    """Put a column's nodes below each other, in the order of their wishes and as near to them as there is room."""
    column.sort(key=wished.__getitem__)
    bottom, shift = float("-inf"), 0.0
    for name in column:
        node = nodes[name]
        node.y = max(wished[name], bottom + node.high / 2)
        bottom = node.y + node.high / 2 + _GAP_Y
        shift += wished[name] - node.y
    for name in column:
        nodes[name].y += shift / len(column)


def _curve(path: list[_Node], dashed: bool) -> str:
    start, *rest = path
    x, y = start.x + start.wide, start.y
    words = f"M{x:.0f} {y:.0f}"
    for node in rest:
        bend = (node.x - x) / 2
        words += f"C{x + bend:.0f} {y:.0f} {node.x - bend:.0f} {node.y:.0f} {node.x:.0f} {node.y:.0f}"
        x, y = node.x + node.wide, node.y
    return f'<path class="arrow{" dashed" if dashed else ""}" marker-end="url(#arrow)" d="{words}"/>'
