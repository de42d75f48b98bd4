"""A YAML file with the places of everything in it, as ``yaml.safe_load`` would read it.

libyaml parses; what it refuses, and what holds tabs, is given to the parser in Python as well, which is the one that
``safe_load`` uses: it decides. Nothing is constructed but scalars that somebody asks for. Damage is never raised, it is
listed; aliases are followed once, however many there are.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml

from automodel_lint.findings import Span
from automodel_lint.source import split_lines

LARGEST = 2_000_000  # bytes; whatever is larger is data, and no text that a person writes
_CAREFUL = 200_000  # characters up to which the slow parser is asked for its opinion
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")  # line ends for YAML, for nobody else
_TAG = "tag:yaml.org,2002:"
_MERGE, _MAP, _SEQ = _TAG + "merge", _TAG + "map", _TAG + "seq"
_SCALARS = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "binary", "timestamp", "str", "value"))
_PLAIN = frozenset({_TAG + "str", _MERGE, _TAG + "value"})
_NUMBER = re.compile(r"(?:[-+]?(?:0|[1-9]\d*)(?:\.\d*(?:e[-+]\d+)?)?|true|false|null|)\Z", re.I)  # surely has a value
_KNOWN = _SCALARS | {_MAP, _SEQ, _MERGE, *(_TAG + name for name in ("omap", "pairs", "set"))}


@dataclass(frozen=True)
class Problem:
    """Why ``safe_load`` refuses a file, or silently loses a part of it; ``key`` is the one that stands there twice."""

    reason: str
    span: Span
    key: str | None = None
    first_line: int = 0


class Unloadable(Exception):
    """A scalar that has no value."""


class Node:
    """A value of the document; one that several aliases lead to is one node."""

    def __init__(self, document: Document, raw: Any):
        self.document, self.raw = document, raw

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.raw, yaml.MappingNode)

    @property
    def is_sequence(self) -> bool:
        return isinstance(self.raw, yaml.SequenceNode)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.raw, yaml.ScalarNode)

    @property
    def is_quoted(self) -> bool:
        """Whether a scalar is a text by the way it is written."""
        return self.is_scalar and self.raw.style is not None

    @cached_property
    def span(self) -> Span:
        """Where the value stands; of one that goes over several lines, the first of them."""
        return self.document.span(self.raw)

    @cached_property
    def value(self) -> Any:
        """What a scalar is for ``safe_load``; raises :class:`Unloadable` if it has no value."""
        return self.document.construct(self.raw)

    @property
    def text(self) -> str | None:
        """The value of a scalar that is a text, ``None`` of anything else."""
        try:
            value = self.value if self.is_scalar else None
        except Unloadable:
            return None
        return value if isinstance(value, str) else None

    @cached_property
    def entries(self) -> dict[Hashable, Entry]:
        """The entries of a mapping by key, merges taken in, as ``safe_load`` leaves them; empty for anything else."""
        found: dict[Hashable, Entry] = {}
        for key, value, merged in self.document.pairs(self.raw):
            node = self.document.node(key)
            try:
                name = node.value if node.is_scalar else None
            except Unloadable:
                continue
            if node.is_scalar:
                found[name] = Entry(name, node, self.document.node(value), merged)
        return found

    @cached_property
    def items(self) -> list[Node]:
        """The members of a sequence; empty for anything else."""
        return [self.document.node(raw) for raw in self.raw.value] if self.is_sequence else []

    def get(self, name: str) -> Node | None:
        """Return the value of a key, ``None`` if this is no mapping or has no such key."""
        entry = self.entries.get(name)
        return None if entry is None else entry.node


@dataclass(frozen=True)
class Entry:
    """A key of a mapping with its value; ``merged`` if it comes from another mapping through ``<<``."""

    key: Hashable
    key_node: Node
    node: Node
    merged: bool

    @property
    def span(self) -> Span:
        """Where the key stands."""
        return self.key_node.span


@dataclass
class Document:
    """The only document of a file; ``root`` is ``None`` if the file cannot be read or is empty."""

    text: str
    root: Node | None = None
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._nodes: dict[int, Node] = {}
        self._pairs: dict[int, dict[tuple[str, str], tuple[Any, Any, bool]]] = {}

    @cached_property
    def _lines(self) -> list[str]:
        return split_lines(self.text)

    @cached_property
    def _starts(self) -> list[int] | None:
        """The offsets of lines, where YAML has more of them than everybody else."""
        if not _ODD_BREAKS.search(self.text):
            return None
        return [0, *(m.end() for m in re.finditer("\r\n|\r|\n", self.text))]

    @cached_property
    def _constructor(self) -> Any:
        return yaml.SafeLoader("")

    def node(self, raw: Any) -> Node:
        """Return the one node over a node of the parser."""
        known = self._nodes.get(id(raw))
        if known is None:
            known = self._nodes[id(raw)] = Node(self, raw)
        return known

    def place(self, mark: Any) -> tuple[int, int]:
        """Return line and column of a mark, from 1."""
        if self._starts is None:
            return mark.line + 1, mark.column + 1
        line = bisect.bisect_right(self._starts, mark.index) - 1
        return line + 1, mark.index - self._starts[line] + 1

    def span(self, raw: Any) -> Span:
        """Return where a node of the parser stands; of one that goes over several lines, the first of them."""
        line, column = self.place(raw.start_mark)
        end = self.place(raw.end_mark)
        if end[0] != line:
            text = self._lines[line - 1] if line <= len(self._lines) else ""
            end = line, max(len(text.rstrip()) + 1, column)
        return Span(line, column, *end)

    def construct(self, raw: Any) -> Any:
        """Return the value of a scalar; raises :class:`Unloadable`."""
        if raw.tag == _TAG + "str":
            return raw.value
        try:
            if raw.tag not in _SCALARS:
                raise Unloadable(raw.tag)
            return self._constructor.construct_object(raw)
        except (yaml.YAMLError, ValueError, TypeError, OverflowError, LookupError) as error:
            raise Unloadable(str(error)) from error

    def pairs(self, raw: Any) -> Iterable[tuple[Any, Any, bool]]:
        """Return key and value nodes of a mapping, each key once, those that merges bring first."""
        return self._flat(raw).values() if isinstance(raw, yaml.MappingNode) else ()

    def _flat(self, raw: Any) -> dict[tuple[str, str], tuple[Any, Any, bool]]:
        """The pairs of a mapping by key; one that merges itself, on whatever way, brings nothing the second time."""
        known = self._pairs.get(id(raw))
        if known is None:
            known = self._pairs[id(raw)] = {}
            found: dict[tuple[str, str], tuple[Any, Any, bool]] = {}
            for key, value in raw.value:
                if key.tag == _MERGE:
                    sources = reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]
                    for source in sources:
                        if isinstance(source, yaml.MappingNode):
                            found |= {k: (a, b, True) for k, (a, b, _) in self._flat(source).items()}
            own = {_name_of(k): (k, v, False) for k, v in raw.value if k.tag != _MERGE}
            known |= {k: pair for k, pair in found.items() if k not in own} | own
        return known

    def everything(self) -> Iterator[Any]:
        """Yield every node of the parser once, in source order."""
        seen: set[int] = set()
        todo = [self.root.raw] if self.root is not None else []
        while todo:
            raw = todo.pop()
            if id(raw) in seen:
                continue
            seen.add(id(raw))
            yield raw
            if isinstance(raw, yaml.MappingNode):
                todo += [part for pair in reversed(raw.value) for part in (pair[1], pair[0])]
            elif isinstance(raw, yaml.SequenceNode):
                todo += reversed(raw.value)


def read(data: bytes) -> Document:
    """Return the document in a file's bytes with all that is wrong with it; raises nothing."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        before = data[: error.start].rpartition(b"\n")[2].decode("utf-8", "replace")
        column = len(before.removeprefix("\ufeff")) + 1
        return Document("", problems=[Problem("not UTF-8", Span(line, column, line, column + 1))])
    document = Document(text)
    raw = _composed(document)
    if raw is not None:
        document.root = document.node(raw)
        if "<<" in text:  # an anchor stands before its aliases: taken in source order, no chain of merges is deep
            for part in document.everything():
                document.pairs(part)
        document.problems += _refusals(document)
        document.problems.sort(key=lambda problem: problem.span)
    return document


def _composed(document: Document) -> Any:
    """The top node; a failure is noted in the document."""
    text = document.text
    try:
        raw, error = yaml.compose(text, Loader=_LOADER), None
    except (yaml.YAMLError, RecursionError) as failure:
        raw, error = None, failure
    if (error is not None or "\t" in text) and len(text) <= _CAREFUL:
        try:
            raw, error = yaml.compose(text, Loader=yaml.SafeLoader), None
        except (yaml.YAMLError, RecursionError) as failure:
            raw, error = None, failure
    if error is not None:
        document.problems.append(_problem(document, error))
    return raw


def _problem(document: Document, error: Exception) -> Problem:
    """What a parser says, as one line with its place."""
    if isinstance(error, RecursionError):
        return Problem("nested too deeply", Span())
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        line, column = document.place(mark)
        lines = split_lines(document.text)
        if line > len(lines) or (line == len(lines) and not lines[-1]):  # behind the end: point at the last line
            line = max((n for n, text in enumerate(lines, 1) if text.strip()), default=1)
            column = max(len(lines[line - 1]), 1)
        problem, context = getattr(error, "problem", None) or "", getattr(error, "context", None) or ""
        reason = f"{problem} ({context})" if context.startswith("while") else f"{context}, {problem}".strip(", ")
        return Problem(" ".join(reason.split()) or "not YAML", Span(line, column, line, column + 1))
    position = getattr(error, "position", None)  # a character that YAML does not know
    if isinstance(position, int) and position < len(document.text):
        before = split_lines(document.text[:position])
        place = Span(len(before), len(before[-1]) + 1, len(before), len(before[-1]) + 2)
        return Problem(f"the character U+{ord(document.text[position]):04X} is not allowed", place)
    return Problem(str(error).splitlines()[0] if str(error) else "not YAML", Span())


def _refusals(document: Document) -> Iterator[Problem]:
    """What parses, and is refused when values are made of it; and keys that a mapping has twice."""
    nodes = list(document.everything())
    merges = {id(k) for raw in nodes for k in _keys(raw) if k.tag == _MERGE} if "<<" in document.text else ()
    for raw in nodes:
        if raw.tag == _MERGE and id(raw) not in merges:
            yield Problem("`<<` is no value", document.span(raw))
        elif raw.tag not in _KNOWN:
            yield Problem(f"the tag `{raw.tag.replace(_TAG, '!!')}` is unknown to `safe_load`", document.span(raw))
        elif isinstance(raw, yaml.MappingNode):
            yield from _faulty_keys(document, raw)
        elif isinstance(raw, yaml.ScalarNode) and raw.tag not in _PLAIN and not _NUMBER.match(raw.value):
            try:
                document.construct(raw)
            except Unloadable:
                yield Problem(f"`{raw.value}` has no value", document.span(raw))


def _name_of(key: Any) -> tuple[str, str]:
    """What tells a key from others of its mapping; one that is no scalar is only itself."""
    return key.tag, key.value if isinstance(key, yaml.ScalarNode) else str(id(key))


def _keys(raw: Any) -> list[Any]:
    return [key for key, _ in raw.value] if isinstance(raw, yaml.MappingNode) else []


def _faulty_keys(document: Document, raw: Any) -> Iterator[Problem]:
    first: dict[Hashable, int] = {}
    for key, value in raw.value:
        if key.tag == _MERGE:
            members = value.value if isinstance(value, yaml.SequenceNode) else [value]
            if not all(isinstance(member, yaml.MappingNode) for member in members):
                yield Problem("`<<` takes over a mapping or a list of mappings", document.span(key))
            continue
        if not isinstance(key, yaml.ScalarNode):
            yield Problem("a mapping or a list cannot be a key", document.span(key))
            continue
        try:
            name = document.construct(key)
        except Unloadable:
            continue  # reported at the key itself
        if name in first:
            yield Problem("", document.span(key), key.value, first[name])
        else:
            first[name] = document.place(key.start_mark)[0]


def comments(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the comments of a text with their places; of a damaged text all that look like some.

    What stands behind a ``#`` inside a scalar is none.
    """
    document = Document(text)
    taken: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=_LOADER):
            if isinstance(token, yaml.ScalarToken):
                taken.append((token.start_mark.index, token.end_mark.index))
    except yaml.YAMLError:
        pass
    starts = [start for start, _ in taken]
    offset = 0
    for number, line in enumerate(document._lines, 1):
        for match in re.finditer(r"(?:^|(?<=[\s]))#.*", line):
            at = bisect.bisect_right(starts, offset + match.start()) - 1
            if at < 0 or taken[at][1] <= offset + match.start():
                yield match[0], Span(number, match.start() + 1, number, len(line) + 1)
                break
        offset += len(line) + (2 if text[offset + len(line) : offset + len(line) + 2] == "\r\n" else 1)
