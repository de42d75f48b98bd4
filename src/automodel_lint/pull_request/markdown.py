"""Text made safe for Markdown as GitHub reads it."""

from __future__ import annotations

import re
from urllib.parse import quote

_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.M | re.S)
_HIDDEN = "&#8203;"  # a space without width: a reference to an issue or a person becomes plain text


def code_span(text: str) -> str:
    """Return one line of any text as code; ``|`` is safe outside of tables only."""
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(text: str, language: str = "") -> str:
    """Return any lines as a fenced block."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def link_to(path: str) -> str:
    """Return a path as part of a URL."""
    return quote(path, safe="/")


def quiet(text: str) -> str:
    """Return prose of ours with references disarmed: ``#12`` would link to, and tell, another repository's issue."""
    parts = _CODE.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"#(?=\d)|@(?=\w)|\bGH-(?=\d)", rf"\g<0>{_HIDDEN}", parts[index])
    return "".join(parts)


def folded(summary: str, text: str) -> str:
    """Return text that shows when its summary is clicked; a summary is HTML."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
