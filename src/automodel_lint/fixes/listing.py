"""Steps in lists of names, ``__all__`` above all: a name where the order has it, a package's first export."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from automodel_lint.fixes.brackets import Bracketed, added, behind_bare, display, put_before
from automodel_lint.fixes.draft import Change, Draft
from automodel_lint.fixes.imports import import_text, order_of

_KEYS: tuple[Callable[[str], Any], ...] = (order_of, str, str.casefold)  # what lists of names are sorted by


def add_name(
    draft: Draft, line: int, column: int, end_line: int, end_column: int, name: str, value: str
) -> list[Change]:
    """Put a name into a list, tuple or set of texts, or with a ``value`` into a dict: in order, if that is sorted."""
    start, end = draft.offset(line, column), draft.offset(end_line, end_column)
    brackets = display(draft, start, end)
    if brackets is None:
        return behind_bare(draft, end, _quoted(draft.text[start], name))
    texts = [draft.text[slot.start : slot.end] for slot in brackets.slots]
    quote = texts[-1][:1] if texts else '"'
    text = _quoted(quote, name) + (f": {_quoted(quote, value)}" if value else "")
    index = _place(texts, name)
    if index == len(texts):
        return added(draft, brackets, text)
    return _inserted(draft, brackets, index, text)


def _quoted(quote: str, text: str) -> str:
    quote = quote if quote in ("'", '"') else '"'
    return f"{quote}{text}{quote}"


def _place(texts: list[str], name: str) -> int:
    """Return the number of items that a name comes behind; all of them, where they are in no order."""
    words = [_word(text) for text in texts]
    if None not in words:
        for key in _KEYS:
            keys = [key(str(word)) for word in words]
            if keys == sorted(keys):
                return bisect_left(keys, key(name))
    return len(texts)


def _word(text: str) -> str | None:
    """The text that an item is, or the key of an entry; ``None`` for anything else."""
    try:
        body = ast.parse(f"{{{text}\n}}", mode="eval").body
    except SyntaxError:
        return None
    items = [k for k in body.keys if k] if isinstance(body, ast.Dict) else getattr(body, "elts", [])
    word = items[0].value if len(items) == 1 and isinstance(items[0], ast.Constant) else None
    return word if isinstance(word, str) else None


def _inserted(draft: Draft, brackets: Bracketed, index: int, text: str) -> list[Change]:
    """Put an item in front of another, above the comments that stand over that one."""
    slot = brackets.slots[index]
    above = brackets.slots[index - 1].comma if index else None
    if above is not None and draft.begins_line(slot.start):
        end = draft.line_end(above.end)
        return [Change(end, end, draft.newline + draft.indent_at(slot.start) + text + ",")]
    return put_before(draft, brackets, text, index)


def first_export(draft: Draft, module: str, name: str) -> list[Change]:
    """Write the import of a name and an ``__all__`` into a file without statements, below docstring and comments."""
    text = draft.laid_out(f'{import_text(module, name)}\n\n__all__ = ["{name}"]') + draft.newline
    body = draft.text.rstrip()
    have = draft.text[len(body) :].count(draft.newline)
    gap = draft.newline * (2 - min(have, 2)) if body else ""
    return [Change(len(draft.text), len(draft.text), gap + text)]
