"""Text made safe for Markdown as GitHub reads it."""

from __future__ import annotations

import re
from urllib.parse import quote

_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.M | re.S)
_BEGINS = re.compile(r"\s*(?:[-*+] |\d+[.)] |\||>|#+ )")
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


def prose(text: str) -> str:
    """Return prose of ours as it has to be written in a comment.

    Every paragraph stands in one line, since GitHub keeps line ends; and references are disarmed, since ``#12`` would
    link to, and tell, an issue of whatever repository it is written in.
    """
    return _disarmed(unwrapped(text))


def unwrapped(text: str) -> str:
    """Return Markdown with each paragraph and each item of a list in one line; fenced blocks stay as they are."""
    lines: list[str] = []
    fenced = False
    for line in text.strip().split("\n"):
        fence = line.lstrip().startswith("```")
        goes_on = lines and lines[-1].strip() and line.strip() and not fence and not _BEGINS.match(line)
        if goes_on and not fenced and not lines[-1].lstrip().startswith(("```", "|")):
            lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"
        else:
            lines.append(line)
        fenced ^= fence
    return "\n".join(lines)


def _disarmed(text: str) -> str:
    parts = _CODE.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"#(?=\d)|@(?=\w)|\bGH-(?=\d)", rf"\g<0>{_HIDDEN}", parts[index])
    return "".join(parts)


def folded(summary: str, text: str) -> str:
    """Return text that shows when its summary is clicked; a summary is HTML."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
