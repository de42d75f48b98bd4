"""Breaks lines that names have made too long, as ruff and black do."""

from __future__ import annotations

import io
import tokenize

from automodel_lint.fixes.brackets import WIDEST

_OPEN, _CLOSE = "([{", ")]}"


def fitted(text: str) -> str:
    """Return a text in which logical lines that are too wide are broken at brackets, where they stand on one line."""
    return "\n".join(part for line in text.split("\n") for part in _fitted(line))


def _fitted(line: str) -> list[str]:
    if len(line) <= WIDEST:
        return [line]
    pair = _pair(line)
    if pair is None:
        return [line]
    start, end = pair
    indent = line[: len(line) - len(line.lstrip())] + "    "
    inside = line[start + 1 : end]
    head, tail = line[: start + 1], line[: len(indent) - 4] + line[end:]
    parts = _parts(inside)
    called = line[start] == "(" and (line[start - 1].isalnum() or line[start - 1] in "_)]")
    if len(indent) + len(inside) <= WIDEST and (called or len(parts) == 1):
        return [head, indent + inside, tail]
    if len(parts) == 1:
        return [head, *_fitted(indent + inside), tail]
    return [head, *(f"{indent}{part}," for part in parts), tail]


def _pair(line: str) -> tuple[int, int] | None:
    """The bracket to break at: that of a signature, else the last one that is in no other and has something in it."""
    found, depth, start = [], 0, 0
    for token in _tokens(line):
        if token.string in _OPEN and token.type == tokenize.OP:
            start = token.start[1] if depth == 0 else start
            depth += 1
        elif token.string in _CLOSE and token.type == tokenize.OP:
            depth -= 1
            if depth == 0 and token.start[1] > start + 1:
                found.append((start, token.start[1]))
    is_def = line.lstrip().startswith(("def ", "class "))
    return None if not found else found[0] if is_def else found[-1]


def _parts(inside: str) -> list[str]:
    """What stands between the commas."""
    cuts, depth = [0], 0
    for token in _tokens(inside):
        if token.type == tokenize.OP:
            depth += (token.string in _OPEN) - (token.string in _CLOSE)
            if token.string == "," and depth == 0:
                cuts.append(token.end[1])
    bounds = zip(cuts, [*cuts[1:], len(inside) + 1], strict=True)
    return [inside[a : b - 1].strip() for a, b in bounds if inside[a : b - 1].strip()]


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    """The tokens of one line; none where it is a piece of something longer, such as a docstring."""
    stripped = line.lstrip()
    blank = len(line) - len(stripped)
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(stripped).readline):
            if token.type == tokenize.ERRORTOKEN:
                return []
            row = token.start[0] - 1
            if row == 0:
                tokens.append(token._replace(start=(1, token.start[1] + blank), end=(1, token.end[1] + blank)))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return []
    return tokens
