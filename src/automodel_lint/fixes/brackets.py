"""Steps inside brackets: items, arguments, bases, parameters. Commas, comments and line breaks stay as they are."""

from __future__ import annotations

import ast
from bisect import bisect_left
from dataclasses import dataclass

from automodel_lint.fixes.draft import Change, Draft, NotEditable, Token

WIDEST = 120  # longer lines are broken
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
    depth, slots, first, last, lambdas = 0, [], None, None, 0
    for token in tokens[index:]:
        lambdas += depth == 1 and token.string == "lambda"
        lambdas -= depth == 1 and token.string == ":" and lambdas > 0
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth == 0:
            if first is not None and last is not None:
                slots.append(Slot(first.start, last.end, None))
            return Bracketed(start, token.end, tuple(slots))
        if token.start == start:
            continue
        if depth == 1 and token.string == "," and not lambdas:
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
    broken = _broken(draft, brackets, text, len(brackets.slots))
    if broken is not None:
        return [broken]
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


def put_before(draft: Draft, brackets: Bracketed, text: str, index: int) -> list[Change]:
    """Put an item in front of another: above it, where that one begins its line."""
    broken = _broken(draft, brackets, text, index)
    if broken is not None:
        return [broken]
    slot = brackets.slots[index]
    gap = draft.newline + draft.indent_at(slot.start) if draft.begins_line(slot.start) else " "
    return [Change(slot.start, slot.start, f"{text},{gap}")]


def _broken(draft: Draft, brackets: Bracketed, text: str, index: int) -> Change | None:
    """What stands in brackets on one line, with one more item, on lines of its own if that line would be too wide."""
    first, last = draft.line_start(brackets.start), draft.line_end(brackets.end - 1)
    if draft.line_start(brackets.end - 1) != first or last - first + len(text) + 2 <= WIDEST or not brackets.slots:
        return None
    items = [draft.text[slot.start : slot.end] for slot in brackets.slots]
    items.insert(index, text)
    outer = draft.newline + draft.indent_at(brackets.start)
    inner, together = outer + draft.indent, ", ".join(items)
    is_display = draft.text[brackets.start] != "(" or _is_display(draft, brackets)
    if is_display or brackets.slots[-1].comma or len(inner) + len(together) > WIDEST:
        return Change(brackets.inside, brackets.end - 1, "".join(f"{inner}{item}," for item in items) + outer)
    return Change(brackets.inside, brackets.end - 1, inner + together + outer)


def _is_display(draft: Draft, brackets: Bracketed) -> bool:
    """Whether ``()`` is an empty tuple rather than a call or a signature without arguments."""
    tokens = draft.code_tokens
    index = bisect_left(tokens, brackets.start, key=lambda t: t.start)
    before = tokens[index - 1].string if index else ""
    return not (before.isidentifier() or before in _CLOSE) or before in ("in", "return", "yield", "and", "or", "else")


def add_item(draft: Draft, line: int, column: int, end_line: int, end_column: int, text: str) -> list[Change]:
    """Put an item at the end of a list, tuple, set or dict."""
    start, end = draft.offset(line, column), draft.offset(end_line, end_column)
    brackets = display(draft, start, end)
    return behind_bare(draft, end, text) if brackets is None else added(draft, brackets, text)


def display(draft: Draft, start: int, end: int) -> Bracketed | None:
    """Return the brackets of a list, tuple, set or dict; ``None`` for a tuple without brackets."""
    brackets = bracketed(draft, start) if draft.text[start] in _OPEN else None
    return brackets if brackets is not None and brackets.end == end else None


def behind_bare(draft: Draft, end: int, text: str) -> list[Change]:
    """Put an item at the end of a tuple without brackets."""
    comma = "" if draft.text[:end].endswith(",") else ","
    return [Change(end, end, f"{comma} {text}")]


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
        return put_before(draft, brackets, text, brackets.slots.index(place))
    return added(draft, brackets, text)


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


def remove_parameters(draft: Draft, line: int, column: int, *names: str) -> list[Change]:
    """Take parameters out of a signature, and the commas that it no longer needs."""
    slots = _parameters(draft, line, column).slots
    words = [_parameter_name(draft.text[slot.start : slot.end]) for slot in slots]
    missing = set(names) - set(words)
    if missing:
        raise NotEditable(f"the function has no parameter {min(missing)}")
    numbers = [number for number, word in enumerate(words) if word in names]
    runs = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return [c for first, last in zip(runs, ends, strict=True) for c in _without(draft, slots, first, last)]


def _parameter_name(text: str) -> str:
    """The name in a parameter's text; of a lone ``*`` or ``/`` the text itself."""
    return text.lstrip("*").partition(":")[0].partition("=")[0].strip() or text


def _without(draft: Draft, slots: tuple[Slot, ...], first: int, last: int) -> list[Change]:
    """Take neighbouring items out, from the first to the last of these numbers."""
    commas = [slot.comma for slot in slots[first : last + 1]]
    if first and last == len(slots) - 1:
        before = slots[first - 1]
        assert before.comma is not None
        if commas[-1] is None or not draft.text[before.comma.end : slots[first].start].strip():
            commas = [before.comma, *commas[:-1]]  # a comma behind the last one serves the one before
    tokens = sorted(
        {(slot.start, slot.end) for slot in slots[first : last + 1]} | {(c.start, c.end) for c in commas if c}
    )
    runs = [tokens[0]]
    for start, end in tokens[1:]:
        if draft.text[runs[-1][1] : start].strip():  # a comment stays
            runs.append((start, end))
        else:
            runs[-1] = (runs[-1][0], end)
    following = slots[last + 1].start if last < len(slots) - 1 else None
    return [_tidy(draft, start, end, following) for start, end in runs]


def _tidy(draft: Draft, start: int, end: int, following: int | None) -> Change:
    """Take a stretch out, up to what follows directly, or with its line if that has nothing else."""
    if following is not None and following >= end and not draft.text[end:following].strip():
        return Change(start, following, "")
    if draft.begins_line(start) and not draft.text[end : draft.line_end(end)].strip():
        return Change(draft.line_start(start), draft.next_line(end), "")
    if draft.text[start] != ",":
        end += len(draft.text[end:]) - len(draft.text[end:].lstrip(" \t"))
    return Change(start, end, "")
