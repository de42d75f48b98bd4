"""What the pictures of the site share: SVG as text, in the page and coloured by its style sheet (light and dark)."""

from __future__ import annotations

from html import escape

LETTER = 6.65  # the width of a letter of a monospaced font of 11 px
LINE = 16


def width(text: str) -> float:
    """How wide a text is drawn."""
    return len(text) * LETTER


def text(x: float, y: float, *parts: tuple[str, str], anchor: str = "start") -> str:
    """Return a line of text; a part is its style and its words."""
    spans = " ".join(f'<tspan class="{style}">{escape(words)}</tspan>' for style, words in parts if words)
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{spans}</text>'


def box(x: float, y: float, wide: float, high: float, style: str = "") -> str:
    """Return a box with round corners."""
    return f'<rect class="{style}" x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high:.0f}" rx="5"/>'


def figure_of(parts: list[str], wide: float, high: float, name: str, caption: str = "") -> str:
    """Return a picture as HTML in one line, as Markdown wants it; ``name`` is read out, ``caption`` stands below."""
    label = escape(name)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" viewBox="0 0 {wide:.0f} {high:.0f}" '
        f'style="min-width:{wide * 0.85:.0f}px;max-width:{wide:.0f}px">{"".join(parts)}</svg>'
    )
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure class="picture"><div class="scroll" tabindex="0">{svg}</div>{below}</figure>'
