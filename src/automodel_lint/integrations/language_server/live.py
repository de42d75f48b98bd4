"""One checkout that is linted again and again, while its files are edited."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from automodel_lint import cache
from automodel_lint.domain.checkout import Checkout
from automodel_lint.engine import Engine, completed
from automodel_lint.findings import Finding
from automodel_lint.integrations.language_server.buffers import Buffers, Screen
from automodel_lint.integrations.language_server.files import Files, LiveTree
from automodel_lint.integrations.language_server.memory import Memory
from automodel_lint.integrations.language_server.moves import Move
from automodel_lint.request import Request
from automodel_lint.rules import late_codes
from automodel_lint.selection import Selection
from automodel_lint.session import Session
from automodel_lint.source import decoded


@dataclass
class Outcome:
    """What is to be shown in each open file, by absolute path.

    ``exact`` are the files whose findings are those of the buffer as it stands, so that repairs of them fit.
    """

    findings: dict[str, list[Finding]]
    exact: frozenset[str]


Early = Callable[[Outcome], None]


class _LiveSession(Session):
    """A session that runs no interpreter that a settings file names: opening a folder must not run what lies in it."""

    def _libraries(self) -> list[str]:
        if self.request.python is not None or self.config.python is None:
            return super()._libraries()
        return packages_beside(self.config.absolute(self.config.python))


def packages_beside(python: str) -> list[str]:
    """Return the folders of packages that belong to an interpreter, found without running it."""
    home = glob.escape(os.path.dirname(os.path.dirname(python)))
    names = (("lib", "python3*", "site-packages"), ("Lib", "site-packages"))
    return sorted({path for parts in names for path in glob.glob(os.path.join(home, *parts))})


class Live:
    """A checkout around open files. :meth:`lint` is called by one thread at a time."""

    def __init__(self) -> None:
        self.files = Files()
        self.memory = Memory(late_codes())
        self._screen = Screen(self.files)
        self._about: tuple[Any, ...] = ()
        self._last: dict[str, bytes] = {}
        self._is_saved = False

    def lint(self, request: Request, edited: str, early: Early, superseded: Callable[[], bool]) -> Outcome:
        """Return what is to be shown in the files of ``request.only``, whose buffers are the request's overlay.

        ``early`` gets what can be told of the ``edited`` file, where the rest takes longer.

        Raises:
            Superseded: as soon as ``superseded`` says so.
            UsageError, ConfigError, BaselineError, CheckoutNotFound: as :class:`Session` does.
        """
        buffers = self._screen.taken(request.overlay)
        session = _LiveSession(replace(request, overlay=buffers.linted))
        tree = LiveTree(self.files, session.checkout.root, buffers.linted, superseded)
        kept = self._open(session, tree)
        outcome = _Run(self.memory, session, buffers, tree).outcome(edited, early)
        self._save(kept, buffers)
        return outcome

    def _open(self, session: Session, tree: LiveTree) -> str | None:
        """Begin a run; where another checkout or other settings hold, with what the cache on disk has."""
        outside = session._outside()
        kept = session._cache_file(outside)
        about = (session.checkout, tuple(outside), repr(session.config.fp32_tensors))
        if self._about != about:
            self.memory, self._about, self._last, self._is_saved = Memory(late_codes()), about, {}, False
            self.memory.load(cache.read(kept))
        self.memory.begin(tree)
        now = tree.overlay
        changed = {path: data for path, data in now.items() if self._last.get(path, data) != data}
        moves = {tree.relative(p): Move(decoded(self._last[p]), decoded(data)) for p, data in changed.items()}
        self.memory.move(moves)
        self._last = now
        return kept

    def _save(self, path: str | None, buffers: Buffers) -> None:
        """Keep the first complete verdict on disk for the next start, if it is that of the files on disk."""
        if path is None or self._is_saved:
            return
        if all(self.files.file(p).data == data for p, data in buffers.linted.items()):
            self._is_saved = True
            if self.memory.computed:
                cache.write(path, self.memory.snapshot())


class _Run:
    """One run over a checkout."""

    def __init__(self, memory: Memory, session: Session, buffers: Buffers, tree: LiveTree):
        self.memory, self.session, self.buffers, self.tree = memory, session, buffers, tree
        names, asked = session.config.fp32_tensors, session.asked
        self.engine = Engine(
            session.checkout, tree, session._outside(), None, names, memory=memory, later=late_codes(), asked=asked
        )

    def outcome(self, edited: str, early: Early) -> Outcome:
        """Ask what has changed; what the edited file is about first."""
        units = dict(self.engine.units())
        missing = [key for key in units if self.memory.missing(key)]
        own = _near(self.session.checkout, self.tree, edited)
        pressing = [key for key in missing if own(key) and not key.startswith("later:")]
        waiting = [key for key in missing if key not in {*pressing}]
        found = {key: self.engine.findings(key, units[key]) for key in units if key not in {*waiting}}
        if waiting and edited:
            early(self._shown([*found.values(), *map(self._before, waiting)], frozenset()))
        waiting.sort(key=lambda key: not own(key))
        found |= {key: self.engine.findings(key, units[key]) for key in waiting}
        self.memory.finish()
        return self._shown(found.values(), frozenset(self.buffers.linted) - frozenset(self.buffers.moves))

    def _before(self, key: str) -> list[Finding]:
        """What a unit said before the edit. Its places have moved along; repairs would not fit any more."""
        return [replace(Finding.from_json(data), repair=None) for data in self.memory.last(key) or ()]

    def _shown(self, parts: Iterable[list[Finding]], exact: frozenset[str]) -> Outcome:
        problems = self.buffers.problems(self.tree.relative, self.engine.recipes)
        known = [f for part in parts for f in part if not self.buffers.says(f, self.tree.absolute(f.path))]
        verdict = self.engine.verdict([*known, *completed(problems)])
        session = self.session
        report = Selection(session.request, session.config, session.checkout, self.tree, verdict).report()
        found: dict[str, list[Finding]] = {path: [] for path in session.request.only or ()}
        for finding in report.findings:
            path = self.tree.absolute(finding.path)
            moved = self._on_screen(path, finding)
            if moved is not None and path in found:
                found[path].append(moved)
        return Outcome(found, exact)

    def _on_screen(self, path: str, finding: Finding) -> Finding | None:
        move = self.buffers.moves.get(path)
        if move is None or self.buffers.says(finding, path):
            return finding
        span = move.span(finding.span)
        return None if span is None else replace(finding, span=span, repair=None)


def _near(checkout: Checkout, tree: LiveTree, edited: str) -> Callable[[str], bool]:
    """Return what tells whether a unit of the engine is about an edited file, or about its model package."""
    relative = tree.relative(edited)
    folder = checkout.model_package(edited)
    words = [f"'{relative}'", f":{relative}:", f":{edited}:", f":{folder}:"]
    if edited == checkout.registry:
        words.append("registry")
    elif folder is not None and not tree.holds(edited, b"ModelClass"):
        words.append(f"'{tree.relative(folder)}/")  # a part of the model: what is built of it is asked
    return lambda key: any(word in key for word in words)
