"""A module tree as one page that needs nothing else: folding, search, light and dark, print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from automodel_lint import __version__
from automodel_lint.domain.tree_outline import MODULE, Item, Outline

_OPEN = 3  # levels that are unfolded at first, where nobody says how many
_PINS = {
    "strict": ("fp32", "kept in fp32 by _keep_in_fp32_modules_strict"),
    "plain": ("fp32, not in sharding", "kept in fp32 by _keep_in_fp32_modules, which sharding does not read"),
}


def render(outline: Outline, params: bool = False, depth: int | None = None) -> str:
    """Return the page. It always holds everything: ``params`` and ``depth`` say what is unfolded at first."""
    counts = [f"{number} {kind}{'' if number == 1 else 's'}" for kind, number in outline.counts.items()]
    registered = f" &middot; {escape(outline.registered)}" if outline.registered else ""
    incomplete = ""
    if outline.opaque:
        names = ", ".join(outline.opaque)
        incomplete = f'<p class="incomplete">Incomplete: could not follow {escape(names)}</p>'
    parts = {
        "version": __version__,
        "name": escape(outline.name),
        "registered": registered,
        "place": escape(outline.root.where()),
        "counts": ", ".join(counts) + (" (names with * count once)" if outline.tree.tensors else ""),
        "incomplete": incomplete or "<p>Complete: no name is missing.</p>",
        "body": "" if params else ' class="modules-only"',
        "checked": " checked" if params else "",
        "tree": "".join(_Page(outline.tails).item(outline.root, _OPEN if depth is None else depth)),
        "legend": escape(_legend(outline)),
    }
    template = Path(__file__).with_name("tree.html").read_text(encoding="utf-8")
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
    return page.encode("ascii", "xmlcharrefreplace").decode()  # whatever the output can encode


class _Page:
    """Writes the items of a page; ``tails`` are the paths as they are shown, the whole one comes under the pointer."""

    def __init__(self, tails: dict[str, str]):
        self.tails = tails

    def item(self, item: Item, open_levels: int, above: Sequence[tuple[str, int]] = ()) -> Iterator[str]:
        """Yield an item and what lies below it; ``above`` is where the module that holds it was written."""
        kind = "module" if item.kind == MODULE else "tensor"
        kind += " bare" if item.children and not item.modules else ""
        text = escape(f"{item.name} {item.type}".strip())
        yield f'<li class="{kind}" data-text="{text}" data-fqn="{escape(item.fqn or item.name)}">'
        row = _row(item) + (
            "" if set(item.places) <= set(above) else _span("place", item.where(self.tails), item.where())
        )
        if item.children:
            yield f"<details{' open' if open_levels > 0 else ''}><summary>{row}</summary><ul>\n"
            for child in item.children:
                yield from self.item(child, open_levels - 1, item.places)
            yield "</ul></details>"
        else:
            yield f'<div class="row">{row}</div>'
        yield "</li>\n"


def _row(item: Item) -> str:
    spans = [_span("name", item.name, item.fqn)]
    spans += [_span("type", item.type)] if item.type else []
    spans += [_span("shape", item.shape)] if item.shape else []
    spans += [_span("note", note) for note in item.notes]
    spans += [_span("note", "buffer")] if item.kind == "buffer" else []
    if item.pin:
        text, title = _PINS[item.pin]
        spans.append(_span("pin", text, title if item.kind != MODULE else f"holds a tensor that is {title}"))
    if item.tied_to:
        spans.append(_span("tied", f"tied to {item.tied_to}" if item.kind != MODULE else "tied"))
    spans += [_span("note", "shared", "the same module as another")] if item.shared else []
    spans += [_span("opaque", f"not followed: {item.opaque}")] if item.opaque is not None else []
    spans += [_span("condition", item.condition)] if item.condition else []
    return "".join(spans)


def _span(kind: str, text: str, title: str = "") -> str:
    about = f' title="{escape(title)}"' if title else ""
    return f'<span class="{kind}"{about}>{escape(text)}</span>'


def _legend(outline: Outline) -> str:
    ties = "shares its weight" + (" if the config says so" if outline.ties == "config" else "")
    return f"* stands for a layer, expert or key. fp32: kept in single precision by a keep list. tied: {ties}."
