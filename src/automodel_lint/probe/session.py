"""One run of the probe as a person sees it: from what was asked for to a report."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from automodel_lint.engine import Verdict, completed
from automodel_lint.findings import merged
from automodel_lint.pages import pages
from automodel_lint.probe import static_capabilities, static_tree
from automodel_lint.probe.findings import findings_of
from automodel_lint.probe.protocol import ClassResult, Job
from automodel_lint.probe.run import Run
from automodel_lint.probe.targets import probed_classes
from automodel_lint.report import Report
from automodel_lint.request import UsageError
from automodel_lint.selection import Selection
from automodel_lint.session import Session

FRAMEWORK = "nemo_automodel"
STACK = 64 << 20  # trees are built recursively, and the stack of a thread is small on some systems
Progress = Callable[[str, str | None, int, int], None]


class ProbeSession:
    """A checkout with its settings, ready to be probed.

    ``options`` are those of the command line: ``arch``, ``checks``, ``timeout`` (seconds), ``memory`` (GB), ``jobs``,
    ``seed``.

    Raises:
        UsageError: if a check or an architecture that was asked for does not exist, or there is nothing to probe.
    """

    def __init__(self, session: Session, options: dict[str, Any]):
        self.session, self.options = session, options
        self.project = session.project()
        self.codes = probe_codes(options["checks"])
        self.probed = probed_classes(self.project, options["arch"], self._scopes())
        self.python = session.python

    def run(self, progress: Progress | None = None) -> Report:
        """Probe, and return what is to be shown."""
        started = time.perf_counter()
        threading.stack_size(STACK)
        growing = threading.Thread(target=self._grow_trees, daemon=True)
        growing.start()  # while the other half imports
        results = self._results(progress)
        growing.join()
        for probed, result in zip(self.probed, results, strict=True):
            static_tree.judge(probed, result)
            static_capabilities.judge(probed, result)
        found = [f for probed, result in zip(self.probed, results, strict=True) for f in findings_of(probed, result)]
        session, tree = self.session, self.project.tree
        files = sorted({tree.relative(p.path) for p in self.probed})
        classes = [tree.relative(p.path) for p in self.probed]
        verdict = Verdict(merged(completed(found)), classes, files, frozenset(self.codes))
        report = Selection(session.request, session.config, session.checkout, tree, verdict).report()
        report.probe = [_told(result) for result in results]
        report.seconds = time.perf_counter() - started
        return report

    def _grow_trees(self) -> None:
        """Make what places and NAM920 will ask for; what fails is tried again, and said, when it is asked for."""
        for probed in self.probed if static_tree.CODE in self.codes else ():
            with suppress(Exception):
                if probed.model is not None:
                    probed.model.module_tree  # noqa: B018 - kept by the class

    def config(self) -> dict[str, Any]:
        """Return the tiny configuration of the first class, as plain data.

        Raises:
            UsageError: if none could be derived.
        """
        (result, *_) = self._results(None)
        if "config" not in result.facts:
            reasons = [check.reason for check in result.checks.values() if check.reason]
            raise UsageError(f"{result.target.name}: {'; '.join(reasons) or 'no tiny configuration'}")
        return {"class": result.target.key, **{k: v for k, v in result.facts.items() if k.startswith("config")}}

    def _results(self, progress: Progress | None) -> list[ClassResult]:
        total = len(self.probed)
        shown = None if progress is None else lambda name, code, done: progress(name, code, done, total)
        return Run(self._job(), self.python, shown).results_of_all()

    def _job(self) -> Job:
        checkout, options = self.session.checkout, self.options
        framework = checkout.package if os.path.isfile(checkout.registry) else FRAMEWORK
        return Job(
            package=checkout.package,
            framework=framework,
            targets=tuple(p.target for p in self.probed),
            checks=self.codes,
            path=() if self.session.request.installed else (checkout.source_root,),
            registry=f"{framework}._transformers.registry",
            timeout=options["timeout"],
            memory=int(options["memory"] * (1 << 30)),
            jobs=options["jobs"] or min(os.cpu_count() or 1, 4),
            seed=options["seed"],
            tiny=self.session.config.tiny,
        )

    def _scopes(self) -> list[str] | None:
        """What was asked for, if that is not the whole package; a file in a model package stands for the package."""
        request, checkout = self.session.request, self.session.checkout
        if request.installed:
            return None
        paths = [os.path.abspath(path) for path in request.paths]
        return None if any(map(checkout.holds_package, paths)) else [checkout.scope(p) for p in paths]


def probe_codes(asked: list[str]) -> tuple[str, ...]:
    """Return the checks that codes or prefixes of codes stand for, all if none is given.

    Raises:
        UsageError: if one stands for none.
    """
    known = [code for code, page in pages().items() if page.is_probed]
    for prefix in asked:
        if not any(code.startswith(prefix) for code in known):
            raise UsageError(f"--checks: {prefix} is no check of the probe; those are {known[0]} to {known[-1]}")
    return tuple(code for code in known if not asked or any(code.startswith(prefix) for prefix in asked))


def _told(result: ClassResult) -> dict[str, Any]:
    """What the report tells of a class, as plain data."""
    target = result.target
    return {
        "class": target.key,
        "architectures": list(target.architectures),
        "config": result.facts.get("config"),
        "seconds": result.seconds,
        "checks": {
            code: {"status": c.status, "reason": c.reason, "figure": c.figure}
            for code, c in sorted(result.checks.items())
        },
    }
