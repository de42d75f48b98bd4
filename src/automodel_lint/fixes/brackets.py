"""Steps inside brackets: items, arguments, bases, parameters. Commas, comments and line breaks stay as they are."""

from __future__ import annotations

import ast
from bisect import bisect_left
from dataclasses import dataclass

from automodel_lint.fixes.draft import Change, Draft, NotEditable, Token

_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Slot:
    """One item between commas: from its first to behind its last token; ``comma`` is the one behind it, if any."""

    start: int
    end: int
    comma: Token | None


@dataclass(frozen=True)
class Bracketed:
    """A pair of brackets, from the opening one to behind the closing one, and what stands in it."""

    start: int
    end: int
    slots: tuple[Slot, ...]

    @property
    def inside(self) -> int:
        """The offset behind the opening bracket."""
        return self.start + 1


def bracketed(draft: Draft, start: int) -> Bracketed:
    """Read the brackets that open at an offset.

    Raises:
        NotEditable: if none opens there.
    """
    tokens = draft.code_tokens
    index = bisect_left(tokens, start, key=lambda t: t.start)
    if index >= len(tokens) or tokens[index].start != start or tokens[index].string not in _OPEN:
        raise NotEditable("no bracket opens where one was expected")
    depth, slots, first, last = 0, [], None, None
    for token in tokens[index:]:
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth == 0:
            if first is not None and last is not None:
                slots.append(Slot(first.start, last.end, None))
            return Bracketed(start, token.end, tuple(slots))
        if token.start == start:
            continue
        if depth == 1 and token.string == ",":
            if first is None or last is None:
                raise NotEditable("a comma without an item before it")
            slots.append(Slot(first.start, last.end, token))
            first = last = None
        else:
            first, last = first or token, token
    raise NotEditable("a bracket is not closed")


def _header(draft: Draft, line: int, column: int, kinds: type | tuple[type, ...]) -> tuple[int, Bracketed | None]:
    """Return where the name (with type parameters) of a ``class`` or ``def`` ends, and its brackets."""
    node = draft.statement(line, column, kinds)
    tokens = draft.code_tokens
    index = bisect_left(tokens, draft.node_offset(node), key=lambda t: t.start)
    while tokens[index].string not in ("class", "def"):
        index += 1
    index += 2
    end = tokens[index - 1].end
    if tokens[index].string == "[":
        end = bracketed(draft, tokens[index].start).end
        index = bisect_left(tokens, end, key=lambda t: t.start)
    return end, bracketed(draft, tokens[index].start) if tokens[index].string == "(" else None


def _parameters(draft: Draft, line: int, column: int) -> Bracketed:
    _, brackets = _header(draft, line, column, (ast.FunctionDef, ast.AsyncFunctionDef))
    if brackets is None:
        raise NotEditable("a function without brackets")
    return brackets


# -- adding ---------------------------------------------------------------------------------------------------------


def added(draft: Draft, brackets: Bracketed, text: str) -> list[Change]:
    """Put an item at the end: on a line of its own where the last one has one."""
    if not brackets.slots:
        is_tuple = draft.text[brackets.start] == "(" and not text.endswith(",")
        return [Change(brackets.inside, brackets.inside, text + "," * (is_tuple and _is_display(draft, brackets)))]
    last = brackets.slots[-1]
    behind = last.comma.end if last.comma else last.end
    apart = draft.begins_line(last.start) and draft.line_of(brackets.end - 1) > draft.line_of(behind)
    if not apart:
        if last.comma is None:
            return [Change(last.end, last.end, f", {text}")]
        return [Change(behind, behind, f" {text}")]
    below = draft.newline + draft.indent_at(last.start) + text + ("," if last.comma else "")
    end = draft.line_end(behind)
    if last.comma is not None:
        return [Change(end, end, below)]
    if end == last.end:
        return [Change(end, end, "," + below)]
    return [Change(last.end, last.end, ","), Change(end, end, below)]


def _is_display(draft: Draft, brackets: Bracketed) -> bool:
    """Whether ``()`` is an empty tuple rather than a call or a signature without arguments."""
    tokens = draft.code_tokens
    index = bisect_left(tokens, brackets.start, key=lambda t: t.start)
    before = tokens[index - 1].string if index else ""
    return not (before.isidentifier() or before in _CLOSE) or before in ("in", "return", "yield", "and", "or", "else")


def add_item(draft: Draft, line: int, column: int, end_line: int, end_column: int, text: str) -> list[Change]:
    """Put an item at the end of a list, tuple, set or dict."""
    start, end = draft.offset(line, column), draft.offset(end_line, end_column)
    if draft.text[start] in _OPEN:
        brackets = bracketed(draft, start)
        if brackets.end == end:
            return added(draft, brackets, text)
    return [Change(end, end, f", {text}")]  # a tuple without brackets


def add_argument(draft: Draft, line: int, column: int, end_line: int, end_column: int, text: str) -> list[Change]:
    """Put an argument at the end of a call."""
    end = draft.offset(end_line, end_column)
    return added(draft, bracketed(draft, _opening(draft, end)), text)


def _opening(draft: Draft, end: int) -> int:
    """Return where the bracket opens that closes before an offset."""
    tokens = draft.code_tokens
    depth = 0
    for token in reversed(tokens[: bisect_left(tokens, end, key=lambda t: t.start)]):
        depth += (token.string in _CLOSE) - (token.string in _OPEN)
        if depth <= 0:
            return token.start
    raise NotEditable("no bracket opens where one was expected")


def add_parameters(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Put parameters at the end of a signature."""
    return added(draft, _parameters(draft, line, column), text)


# -- bases ----------------------------------------------------------------------------------------------------------


def add_base(draft: Draft, line: int, column: int, text: str, first: bool) -> list[Change]:
    """Put a base first, or behind the last one that is no keyword."""
    end, brackets = _header(draft, line, column, ast.ClassDef)
    if brackets is None:
        return [Change(end, end, f"({text})")]
    if not brackets.slots:
        return [Change(brackets.inside, brackets.inside, text)]
    keywords = [slot for slot in brackets.slots if _is_keyword(draft, slot)]
    if first or keywords:
        place = brackets.slots[0] if first else keywords[0]
        return [Change(place.start, place.start, f"{text},{_gap(draft, place)}")]
    return added(draft, brackets, text)


def _gap(draft: Draft, slot: Slot) -> str:
    """What stands between an item put in front and the one behind it."""
    return draft.newline + draft.indent_at(slot.start) if draft.begins_line(slot.start) else " "


def _is_keyword(draft: Draft, slot: Slot) -> bool:
    tokens = draft.code_tokens
    index = bisect_left(tokens, slot.start, key=lambda t: t.start)
    return tokens[index].string == "**" or (tokens[index + 1].string == "=" and tokens[index].string.isidentifier())


def base_to_front(draft: Draft, line: int, column: int, index: int) -> list[Change]:
    """Make a base the first; the places stay, so commas and comments do."""
    _, brackets = _header(draft, line, column, ast.ClassDef)
    if brackets is None or index >= len(brackets.slots):
        raise NotEditable("the class has no such base")
    slots = brackets.slots[: index + 1]
    texts = [draft.text[slot.start : slot.end] for slot in slots]
    moved = [texts[-1], *texts[:-1]]
    return [Change(slot.start, slot.end, text) for slot, text in zip(slots, moved, strict=True)]


# -- taking out -----------------------------------------------------------------------------------------------------


def remove_parameter(draft: Draft, line: int, column: int, name: str) -> list[Change]:
    """Take a parameter out of a signature, and the comma that it no longer needs."""
    slots = _parameters(draft, line, column).slots
    for number, slot in enumerate(slots):
        word = draft.text[slot.start : slot.end].lstrip("*").partition(":")[0].partition("=")[0].strip()
        if word == name:
            return _without(draft, slots, number)
    raise NotEditable(f"the function has no parameter {name}")


def _without(draft: Draft, slots: tuple[Slot, ...], number: int) -> list[Change]:
    slot = slots[number]
    end = slot.comma.end if slot.comma else slot.end
    if number == 0 or number < len(slots) - 1:
        behind = len(draft.text[end:]) - len(draft.text[end:].lstrip(" \t"))
        return [Change(slot.start, end + behind, "")]
    before = slots[number - 1]
    assert before.comma is not None
    if not draft.text[before.comma.end : slot.start].strip():
        return [Change(before.end, slot.end, "")]  # a comma behind it serves the one before
    return [Change(before.comma.start, before.comma.end, ""), Change(slot.start, end, "")]
