"""A module tree as Graphviz text: ``automodel-lint tree LlamaForCausalLM --format dot | dot -Tsvg``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from automodel_lint.domain.tree_outline import MODULE, Item, Outline

_HEAD = """\
digraph {name} {{
  rankdir=LR
  node [shape=box, style=rounded, fontname="Helvetica,sans-serif", fontsize=11]
  edge [fontname="Helvetica,sans-serif", fontsize=9, arrowsize=0.6]
"""


def render(outline: Outline, params: bool = False, depth: int | None = None) -> str:
    """Return the graph: a box a module, dashed where it could not be followed; a dashed arrow has a condition.

    With ``params`` a box lists the parameters and buffers of its module; ``depth`` leaves out what lies deeper.
    """
    lines = _module(outline.root, "n0", count(1), params, depth)
    return _HEAD.format(name=_quoted(outline.name)) + "".join(f"  {line}\n" for line in lines) + "}\n"


def _module(item: Item, node: str, numbers: count[int], params: bool, depth: int | None) -> Iterator[str]:
    lines = [item.name, item.type, f"not followed: {item.opaque}" if item.opaque is not None else ""]
    label = "".join(f"{_escaped(line)}\\n" for line in lines if line)
    if params:
        tensors = [child for child in item.children if child.kind != MODULE]
        label += "".join(f"{_escaped(_tensor(tensor))}\\l" for tensor in tensors)
    style = ', style="rounded,dashed"' if item.opaque is not None else ""
    yield f'{node} [label="{label}", tooltip={_quoted(item.where())}{style}]'
    if depth is not None and depth <= 0:
        return
    for child in item.modules:
        below = f"n{next(numbers)}"
        yield from _module(child, below, numbers, params, None if depth is None else depth - 1)
        condition = f" [style=dashed, label={_quoted(child.condition)}]" if child.condition else ""
        yield f"{node} -> {below}{condition}"


def _tensor(item: Item) -> str:
    parts = [item.name, item.shape or "", *item.notes, "buffer" if item.kind == "buffer" else ""]
    parts += ["fp32 pin" if item.pin else "", f"tied to {item.tied_to}" if item.tied_to else "", item.condition]
    return "  ".join(part for part in parts if part)


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """A backslash means something in a label (``\\N`` is the node's name), a line end would stay in it."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
