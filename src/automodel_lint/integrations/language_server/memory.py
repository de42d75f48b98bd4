"""The verdicts of a process that goes on, in place of the cache; each path is asked once a run whether it changed.

A change throws away the verdicts that it touches, and keeps what they said: it is shown until there are new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automodel_lint.cache import FORMAT, without_parts
from automodel_lint.findings import Span
from automodel_lint.integrations.language_server.files import LiveTree
from automodel_lint.integrations.language_server.moves import Move
from automodel_lint.source import Dep


@dataclass(slots=True)
class _Kept:
    """A verdict with the files it was reached by, and the facts (see :meth:`SourceTree.publish`) with their states."""

    value: Any
    deps: frozenset[Dep]
    facts: dict[Dep, str]


class Memory:
    """Verdicts by key, across runs. A run starts with :meth:`begin` and goes through :meth:`get`.

    ``later`` are the rules that have units of their own here (see :class:`Engine`), and none in the cache on disk.
    """

    def __init__(self, later: frozenset[str] = frozenset()) -> None:
        self.tree: LiveTree
        self._later = later
        self._kept: dict[str, _Kept] = {}
        self._old: dict[str, Any] = {}
        self._states: dict[Dep, str] = {}
        self._tokens: dict[tuple[bool, str], Any] = {}
        self._by_path: dict[tuple[bool, str], list[Dep]] = {}
        self._asked: set[str] = set()
        self.computed = 0  # verdicts so far that no cache had

    # -- a run --------------------------------------------------------------------------------------------------------

    def begin(self, tree: LiveTree) -> None:
        """Take the files of a new run, and drop the verdicts that depend on what has changed since the last one."""
        self.tree = tree
        self._asked = set()
        changed = set()
        for place, deps in self._by_path.items():
            token = tree.token(deps[0])
            if token != self._tokens[place]:
                changed.update(dep for dep in deps if not tree.is_still(dep, self._states[dep]))
                self._tokens[place] = token
                self._states.update((dep, tree.state(dep)) for dep in deps)
        if changed:
            for key in [key for key, kept in self._kept.items() if not changed.isdisjoint(kept.deps)]:
                self._old[key] = self._kept.pop(key).value

    def move(self, moves: Mapping[str, Move]) -> None:
        """Let what dropped verdicts said move along with the lines of edited files (by relative path)."""
        for key, value in self._old.items():
            if isinstance(value, list) and moves:
                self._old[key] = [moved for data in value if (moved := _moved(data, moves)) is not None]

    def finish(self) -> None:
        """Forget what the run that is over has not asked for: what it was about is gone."""
        self._kept = {k: kept for k, kept in self._kept.items() if k in self._asked or k.startswith("answer:")}
        self._old = {}
        used = {dep for kept in self._kept.values() for dep in kept.deps}
        if len(self._states) > 1.2 * len(used) + 100:
            states = {dep: self._states[dep] for dep in used}
            self._states, self._by_path, tokens = {}, {}, self._tokens
            self._tokens = {}
            for dep, state in states.items():
                self._add(dep, state, tokens[_place(dep)])

    # -- what the engine asks -----------------------------------------------------------------------------------------

    def get(self, key: str, compute: Callable[[], Any], load: Callable[[Any], Any]) -> Any:
        """Return the verdict ``key``, kept or computed, turned into what it means by ``load``; see :class:`Cache`."""
        self._asked.add(key)
        kept = self._kept.get(key)
        if kept is not None and not self._stale(kept):
            if self.tree.is_recording:
                self.tree.note(*kept.deps, *kept.facts)
            return load(kept.value)
        with self.tree.recording() as read:
            value = compute()
        self.computed += 1
        self._keep(key, value, read)
        return load(value)

    def missing(self, key: str) -> bool:
        """Tell whether a verdict has to be computed."""
        kept = self._kept.get(key)
        return kept is None or self._stale(kept)

    def last(self, key: str) -> Any:
        """Return what a verdict that is missing said before the change, ``None`` if there was none."""
        kept = self._kept.get(key)
        return self._old.get(key) if kept is None else kept.value

    def offer(self, key: str, value: Any, deps: set[Dep]) -> None:
        """Take over a verdict that was computed elsewhere just now."""
        self._asked.add(key)
        self._keep(key, value, deps)

    def save(self) -> None:
        """Nothing is written for each run; see :meth:`snapshot`."""

    def _stale(self, kept: _Kept) -> bool:
        return any(self.tree.state(fact) != state for fact, state in kept.facts.items())

    def _keep(self, key: str, value: Any, read: set[Dep]) -> None:
        deps = frozenset(dep for dep in without_parts(read) if dep[0] != "fact")
        for dep in deps:
            if dep not in self._states:
                self._add(dep, self.tree.state(dep), self.tree.token(dep))
        self._kept[key] = _Kept(value, deps, {d: self.tree.state(d) for d in read if d[0] == "fact"})

    def _add(self, dep: Dep, state: str, token: Any) -> None:
        self._states[dep] = state
        self._tokens[_place(dep)] = token
        self._by_path.setdefault(_place(dep), []).append(dep)

    # -- the cache on disk --------------------------------------------------------------------------------------------

    def load(self, data: dict[str, Any] | None) -> None:
        """Take over the content of a cache file; what has changed since is dropped when a run begins."""
        if data is None:
            return
        table = [(tuple(dep), state) for dep, state in data["states"]]
        for dep, state in table:
            if dep[0] != "fact" and dep not in self._states:
                self._add(dep, state, None)
        for key, verdict in data["verdicts"].items():
            read = [table[index] for index in verdict["read"]]
            deps = frozenset(dep for dep, _ in read if dep[0] != "fact")
            facts = {dep: state for dep, state in read if dep[0] == "fact"}
            for name, value in self._split(key, verdict["value"]):
                self._kept[name] = _Kept(value, deps, facts)

    def _split(self, key: str, value: Any) -> Iterator[tuple[str, Any]]:
        kind, _, rest = key.partition(":")
        if kind != "class" or not self._later:
            yield key, value
            return
        yield key, [data for data in value if data["code"] not in self._later]
        yield f"later:{rest}", [data for data in value if data["code"] in self._later]

    def snapshot(self) -> dict[str, Any]:
        """Return all verdicts as a cache file holds them."""
        places: dict[Dep, int] = {}
        verdicts = {}
        for key, kept in self._kept.items():
            kind, _, rest = key.partition(":")
            later = self._kept.get(f"later:{rest}") if kind == "class" and self._later else None
            if kind in ("answer", "later") or (kind == "class" and self._later and later is None):
                continue
            value, deps = kept.value, {*kept.deps, *kept.facts}
            if later is not None:
                value, deps = value + later.value, deps | {*later.deps, *later.facts}
            read = sorted(places.setdefault(dep, len(places)) for dep in deps)
            verdicts[key] = {"value": value, "read": read}
        table = [[list(dep), self.tree.state(dep)] for dep in places]
        return {"format": FORMAT, "states": table, "verdicts": verdicts}


def _place(dep: Dep) -> tuple[bool, str]:
    return dep[0] == "dir", dep[1]


def _moved(data: dict[str, Any], moves: Mapping[str, Move]) -> dict[str, Any] | None:
    move = moves.get(data["path"])
    if move is None:
        return data
    span = move.span(Span(*data["span"]))
    return None if span is None else {**data, "span": [span.line, span.column, span.end_line, span.end_column]}
