"""The keep lists as data: patterns of the tensors that a class asks to stay in fp32, and where each is written.

``_keep_in_fp32_modules_strict`` is what the framework hands to sharding (``fully_shard_by_dtype``); both lists count
when it casts (``cast_model_to_dtype``). Either takes a pattern for a substring of a tensor's full name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from automodel_lint.inference.names import ClassEntity

STRICT = "_keep_in_fp32_modules_strict"
PLAIN = "_keep_in_fp32_modules"
LISTS = (STRICT, PLAIN)

# What the framework does not look into, as a list; as the source of elements it is fine.
A_DICT, A_VIEW, A_GENERATOR = "a dict", "a view of a dict", "a generator"
WRONG = {"frozenset": "a frozenset", "dict.fromkeys": A_DICT, "map": "an iterator", "filter": "an iterator"}
_ITERABLE = {*WRONG.values(), A_VIEW, A_GENERATOR}

_INDEX = re.compile(r"(?<![^.])\d+(?![^.])")


@dataclass(frozen=True, eq=False)
class Written:
    """Where something is written: the class whose code it is, the node, and the method if it is in one."""

    owner: ClassEntity
    node: ast.AST
    method: str | None = None


@dataclass(frozen=True, eq=False)
class Pattern:
    """One pattern of a keep list."""

    text: str
    place: Written


@dataclass(frozen=True, eq=False)
class Problem:
    """What is wrong with a value: ``kind`` in words (``the bare string 'norm'``)."""

    kind: str
    place: Written


@dataclass(eq=False)
class Listed:
    """What a keep list can hold; ``complete`` if this is all. ``declared`` is the assignment that an author extends."""

    patterns: list[Pattern] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    declared: Written | None = None
    complete: bool = True

    def take(self, other: Listed) -> None:
        """Add all that another list can hold."""
        self.patterns += [p for p in other.patterns if p not in self.patterns]
        self.problems += [p for p in other.problems if p not in self.problems]
        self.declared = self.declared or other.declared
        self.complete = self.complete and other.complete


def joined(lists: Iterable[Listed]) -> Listed:
    """Return a new list of all that several can hold."""
    result = Listed()
    for one in lists:
        result.take(one)
    return result


class Store:
    """The two lists of one class or object, as code finds and leaves them. ``inherit`` gives what was there before."""

    def __init__(self, inherit: Callable[[str], Listed]):
        self.inherit = inherit
        self.lists: dict[str, Listed] = {}

    def read(self, attribute: str) -> Listed:
        """Return the list itself, not a copy."""
        if attribute not in self.lists:
            self.lists[attribute] = joined([self.inherit(attribute)])
        return self.lists[attribute]

    def write(self, attribute: str, value: Listed, place: Written, conditional: bool) -> None:
        """Bind a list; in a branch what was there before remains possible."""
        value.declared = value.declared or place
        self.lists[attribute] = joined([value, self.read(attribute)]) if conditional else value


def may_match(text: str, fqn: str) -> bool:
    """Tell whether a pattern is a substring of some name that ``fqn`` stands for; a ``*`` in that is an index.

    In the pattern itself a ``*`` is a letter, which no name has.
    """
    return "*" not in text and (text in fqn or ("*" in fqn and any_index(text) in fqn))


def any_index(text: str) -> str:
    """Return a pattern with ``*`` for each index."""
    return _INDEX.sub("*", text)


def only_elements(source: Listed) -> Listed:
    """Return what a list gets that is extended by ``source``."""
    source = joined([source])
    source.problems = [p for p in source.problems if p.kind not in _ITERABLE]
    return source


def supplies_lists(fqn: str) -> bool:
    """Tell whether a class without source may bring lists of its own: a model class of transformers."""
    name = fqn.rpartition(".")[2]
    return fqn.partition(".")[0] == "transformers" and name != "PreTrainedModel" and not name.endswith("Mixin")
