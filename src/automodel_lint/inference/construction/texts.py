"""Texts: their methods, parts and formats, and regular expressions, which Python's own engine is asked about."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.indices import for_any, written
from automodel_lint.inference.construction.plain_data import python_of
from automodel_lint.inference.construction.truth import may_be, text_of
from automodel_lint.inference.construction.values import (
    FALSE,
    UNKNOWN,
    Callable_,
    Known,
    Partial,
    Seq,
    Test,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Condition, Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

# Methods of plain values that change nothing.
_METHODS = frozenset(
    "split rsplit splitlines lower upper title capitalize casefold swapcase startswith endswith replace strip lstrip "
    "rstrip format join find rfind index rindex count partition rpartition removeprefix removesuffix isdigit isnumeric "
    "isdecimal isalpha isalnum isidentifier islower isupper isspace zfill ljust rjust center expandtabs "
    "get keys values items copy group groups groupdict start end span expand issubset issuperset isdisjoint union "
    "intersection difference".split()
)
_VIEWS = ("keys", "values", "items", "finditer")
_PARTS = frozenset("string pattern flags groupindex lastgroup lastindex pos endpos re".split())
# What the functions of ``re`` take, in order; the methods of a compiled pattern take the same without the first.
_SIGNATURES = {
    "compile": ("pattern", "flags"),
    "escape": ("pattern",),
    **dict.fromkeys(("match", "fullmatch", "search", "findall", "finditer"), ("pattern", "string", "flags")),
    "split": ("pattern", "string", "maxsplit", "flags"),
    **dict.fromkeys(("sub", "subn"), ("pattern", "repl", "string", "count", "flags")),
}
_LONGEST_PATTERN, _LONGEST_SUBJECT = 2000, 600  # a hostile pattern gets no long text to chew on


class Texts:
    """Evaluates what is done with texts for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap

    # -- methods --------------------------------------------------------------------------------------------------

    def method(self, owner: Known, name: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call a method of a known plain value; only those that change nothing."""
        if isinstance(owner.value, re.Pattern):
            return self.regex(name, [owner, *args], keywords, place)
        if name not in _METHODS:
            return UNKNOWN
        if name == "join" and len(args) == 1 and isinstance(args[0], Seq) and not args[0].star:
            return self.run.distributed(args[0].items, lambda row: self._called(owner, name, [Seq(row)], {}, place))
        words = list(keywords)

        def apply(row: list[Value]) -> Value:
            return self._called(owner, name, row[: len(args)], dict(zip(words, row[len(args) :], strict=True)), place)

        return self.run.distributed([*args, *keywords.values()], apply)

    def _called(self, owner: Known, name: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        given = [python_of(a) for a in args]
        words = {k: python_of(v) for k, v in keywords.items()}
        if name in ("startswith", "endswith"):
            given = [(ok, tuple(v) if isinstance(v, list) else v) for ok, v in given]
        if self.run.converting and _asks_of_one(owner.value, name, [v for _, v in given]):
            return Test(Condition(ast.unparse(place.node))) if name != "replace" else UNKNOWN
        if not all(ok for ok, _ in (*given, *words.values())):
            if name == "startswith" and isinstance(args[0], Thing) and not may_begin(owner.value, args[0].pattern):
                return FALSE
            return Thing(f"{owner.value!r}.{name}()")
        try:
            found = getattr(owner.value, name)(*(v for _, v in given), **{k: v for k, (_, v) in words.items()})
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            return self.run.fails(error)
        return self.made(list(found) if name in _VIEWS else found, place)

    def made(self, value: Any, place: Place) -> Known:
        """Return a computed text; who asks is told where it was put together."""
        if isinstance(value, str):
            self.run.note_text(value, place)
        return Known(value)

    @staticmethod
    def attribute(owner: Known, name: str) -> Value | None:
        """Return a plain part of a compiled pattern or a match; ``None`` if it is none."""
        if name in _PARTS and isinstance(owner.value, (re.Pattern, re.Match)) and hasattr(owner.value, name):
            found = getattr(owner.value, name)
            return Known(dict(found) if name == "groupindex" else found)
        return None

    # -- regular expressions --------------------------------------------------------------------------------------

    def regex(self, name: str, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return what ``re.<name>(…)`` gives."""
        signature = _SIGNATURES.get(name)
        if signature is None:
            return UNKNOWN
        given = dict(zip(signature, args, strict=False)) | keywords
        words = list(given)
        return self.run.distributed(
            list(given.values()), lambda row: self._matched(name, dict(zip(words, row, strict=True)), place)
        )

    def _matched(self, name: str, given: dict[str, Value], place: Place) -> Value:
        repl = given.get("repl")
        computes = isinstance(repl, (Callable_, Partial))
        plain = {k: python_of(v) for k, v in given.items() if not (computes and k == "repl")}
        if not all(ok for ok, _ in plain.values()):
            return UNKNOWN
        words = {k: v for k, (_, v) in plain.items()}
        pattern, subject = words.pop("pattern", None), words.get("string", "")
        if isinstance(pattern, re.Pattern):
            words.pop("flags", None)
            length = len(pattern.pattern)
        else:
            length = len(pattern) if isinstance(pattern, str) else _LONGEST_PATTERN + 1
        if length > _LONGEST_PATTERN or not isinstance(subject, str) or len(subject) > _LONGEST_SUBJECT:
            return UNKNOWN
        try:
            if name == "escape":
                return Known(re.escape(pattern))
            compiled = pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, words.pop("flags", 0))
            if name == "compile":
                return Known(compiled)
            if computes:
                return self._substituted(name, compiled, repl, subject, int(words.get("count", 0)), place)
            found = getattr(compiled, name)(**words)
            if self.run.converting and _matches_one(compiled, subject):
                return UNKNOWN
        except (re.error, TypeError, ValueError, LookupError, RecursionError):
            return UNKNOWN
        return self.made(list(found) if name in _VIEWS else found, place)

    def _substituted(
        self, name: str, pattern: re.Pattern, repl: Value, subject: str, count: int, place: Place
    ) -> Value:
        """``re.sub`` with a function: it is asked about every match."""
        pieces: list[Value] = []
        at = found = 0
        for match in pattern.finditer(subject):
            if count and found >= count:
                break
            found += 1
            pieces += [Known(subject[at : match.start()]), self.run.calls.apply(repl, [Known(match)], {}, place)]
            at = match.end()
        pieces.append(Known(subject[at:]))

        def joined(row: list[Value]) -> Value:
            if not all(isinstance(v, Known) and isinstance(v.value, str) for v in row):
                return UNKNOWN
            text = self.made("".join(v.value for v in row), place)  # type: ignore[attr-defined]
            return Known((text.value, found)) if name == "subn" else text

        return self.run.distributed(pieces, joined)

    # -- parts and formats ----------------------------------------------------------------------------------------

    def sliced(self, owner: Known, expr: ast.Subscript, frame: Frame) -> Value:
        """Return ``text[a:b]``, of a row alike."""
        assert isinstance(expr.slice, ast.Slice)
        bounds = (expr.slice.lower, expr.slice.upper, expr.slice.step)
        ends = [self.run.expressions.value(b, frame) if b is not None else Known(None) for b in bounds]

        def cut(row: list[Value]) -> Value:
            if not all(isinstance(e, Known) for e in row):
                return Thing(ast.unparse(expr))
            try:
                return Known(owner.value[slice(*(e.value for e in row))])  # type: ignore[attr-defined]
            except (TypeError, ValueError, LookupError):
                return UNKNOWN

        return self.run.distributed(ends, cut)

    def formatted(self, expr: ast.JoinedStr, frame: Frame) -> Value:
        """Return an f-string."""
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in expr.values]
        values = [self.run.expressions.value(part, frame) for part in parts]
        return self.run.distributed(values, lambda row: self._formatted(expr, row, frame))

    def _formatted(self, expr: ast.JoinedStr, values: list[Value], frame: Frame) -> Value:
        pieces: list[str] = []
        shown: list[str] = []
        decided = True
        for part, value in zip(expr.values, values, strict=True):
            value = written(value) if self.run.converting else value
            formats = isinstance(part, ast.FormattedValue) and (part.format_spec is not None or part.conversion != -1)
            if formats and isinstance(value, Known):
                value = self._in_format(value, part, frame)  # type: ignore[arg-type]
            if isinstance(value, Known):
                pieces.append(str(value.value))
                shown.append(str(value.value))
            else:
                decided = False
                pieces.append(value.pattern if isinstance(value, Thing) else "*")
                shown.append(f"{{{text_of(value, part)}}}")
        if decided:
            return self.made("".join(pieces), Place(frame.scope.module.path, expr))
        return Thing("f" + repr("".join(shown)), pattern="".join(pieces))

    def _in_format(self, value: Known, part: ast.FormattedValue, frame: Frame) -> Value:
        """``f"{index:02d}"``"""
        spec = self.run.expressions.value(part.format_spec, frame) if part.format_spec is not None else Known("")
        shown = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(part.conversion, lambda v: v)(value.value)
        if not isinstance(spec, Known):
            return UNKNOWN
        try:
            return Known(format(shown, spec.value))
        except (TypeError, ValueError):
            return UNKNOWN


def _asks_of_one(text: object, name: str, args: list[object]) -> bool:
    """Whether a method is asked about one index of a text that stands for all: ``key.startswith("layers.0.")``."""
    if not isinstance(text, str) or name not in ("startswith", "endswith", "replace", "removeprefix", "removesuffix"):
        return False
    words = [w for a in args[:1] for w in (a if isinstance(a, (tuple, list)) else [a]) if isinstance(w, str)]
    return any(whole in text for w in words if (whole := for_any(w)) is not None)


def _matches_one(pattern: re.Pattern, subject: str) -> bool:
    """Whether a pattern is about one index of a text that stands for all."""
    whole = for_any(pattern.pattern)
    try:
        return whole is not None and re.search(whole, subject, pattern.flags) is not None
    except re.error:
        return False


def may_begin(text: object, pattern: str) -> bool:
    """Tell whether a text may begin with what a pattern stands for."""
    return not isinstance(text, str) or may_be(f"{pattern}*", text)


def of_pattern(owner: Thing, name: str, word: str) -> Value | None:
    """Call a method of a text of which only the pattern is known; ``None`` where that does not tell the result."""
    start, end = owner.pattern.partition("*")[0], owner.pattern.rpartition("*")[2]
    if name == "startswith" and start and (start.startswith(word) or not word.startswith(start)):
        return Known(start.startswith(word))
    if name == "endswith" and end and (end.endswith(word) or not word.endswith(end)):
        return Known(end.endswith(word))
    if name == "removeprefix" and word and start.startswith(word):
        return Thing(f"{owner.text}[{len(word)}:]", pattern=owner.pattern[len(word) :])
    if name == "removesuffix" and word and end.endswith(word):
        return Thing(f"{owner.text}[:-{len(word)}]", pattern=owner.pattern[: -len(word)])
    return None
