"""One run as a person sees it: settings, checkout, verdict, and what of it is to be shown."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from automodel_lint import baseline as baselines
from automodel_lint import suppressions
from automodel_lint.cache import FOLDER, cache_path
from automodel_lint.config import Config, find, load, unknown_code
from automodel_lint.domain.checkout import Checkout, locate, locate_installed
from automodel_lint.engine import Engine, Verdict, completed
from automodel_lint.findings import Finding, Severity, Span
from automodel_lint.source import SourceTree


class UsageError(Exception):
    """What was asked for cannot be done; the text is one line for the person who asked."""


@dataclass
class Request:
    """What to lint and how; every field overrides the settings file where it is given.

    ``overlay`` holds unsaved buffers by absolute path. ``only`` limits the report to exactly these absolute paths
    (an editor's one file), where ``paths`` brings in whole model packages and the registry lines that name them.
    ``noqa`` is false where the caller applies ``# noqa`` comments itself.
    """

    paths: list[str] = field(default_factory=lambda: ["."])
    installed: str | None = None
    python: str | None = None
    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    force_exclude: bool = False
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    only: frozenset[str] | None = None
    cache: bool = True
    noqa: bool = True
    baseline: bool = True


@dataclass
class Report:
    """The outcome of a run: the findings to show, in order, and what the summary needs."""

    root: str
    findings: list[Finding]
    classes: int
    files: list[str]
    seconds: float
    config: Config
    tree: SourceTree
    suppressed: int = 0
    baselined: int = 0

    def counts(self) -> dict[str, int]:
        """Return the number of findings by severity, most severe first."""
        found = Counter(str(f.severity) for f in self.findings)
        return {str(s): found.get(str(s), 0) for s in sorted(Severity, reverse=True)}

    def fails(self, threshold: Severity) -> bool:
        """Tell whether some finding is at or above ``threshold``."""
        return any((f.severity or Severity.ERROR) >= threshold for f in self.findings)


class Session:
    """A checkout with its settings, ready to be linted.

    Raises:
        UsageError, ConfigError, CheckoutNotFound: if what was asked for is not there or not usable.
    """

    def __init__(self, request: Request):
        self.request = request
        for code in (*(request.select or ()), *request.extend_select, *request.ignore):
            problem = unknown_code(code)
            if problem:
                raise UsageError(problem)
        if request.installed is None:
            _check_paths(request.paths)
        start = os.getcwd() if request.installed else _folder(request.paths[0])
        self.config = load(find(start))
        self.search_path = _search_path(request.python or self.config.python, self.config)
        self.checkout = self._checkout()

    def _checkout(self) -> Checkout:
        if self.request.installed:
            return locate_installed(self.request.installed, self.search_path)
        found = {locate(path, self.config.package) for path in self.request.paths}
        if len(found) > 1:
            roots = " and ".join(sorted(c.root for c in found))
            raise UsageError(f"the paths lie in more than one checkout ({roots}): lint one at a time")
        return found.pop()

    def run(self, progress: Callable[[int, int], None] | None = None) -> Report:
        """Lint and return what is to be shown."""
        started = time.perf_counter()
        tree = SourceTree(self.checkout.root, self.request.overlay)
        outside = [p for p in self.search_path if os.path.isdir(os.path.join(p, "transformers"))]
        engine = Engine(self.checkout, tree, outside, self._cache_file(outside))
        verdict = engine.run(progress)
        report = _Selection(self, tree, verdict).report()
        report.seconds = time.perf_counter() - started
        return report

    def _cache_file(self, outside: list[str]) -> str | None:
        if not self.request.cache:
            return None
        if self.config.cache_dir:
            folder = self.config.absolute(self.config.cache_dir)
        elif self.request.installed:  # nothing is written into an environment
            home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
            folder = os.path.join(home, "automodel-lint")
        else:
            folder = os.path.join(self.checkout.root, FOLDER)
        state = "buffers" if self.request.overlay else "files"  # an editor must not throw away what the hooks keep
        return cache_path(folder, self.checkout.root, self.checkout.package, state, *outside)


def _check_paths(paths: list[str]) -> None:
    for path in paths:
        if os.path.exists(path):
            continue
        if os.path.islink(path):
            raise UsageError(f"{path}: a link that leads nowhere")
        raise UsageError(f"{path}: no such file or folder")


def _folder(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))


def _search_path(python: str | None, config: Config) -> list[str]:
    """Return where libraries may lie: the module search path of the interpreter asked for, or our own."""
    if python is None:
        return [path for path in sys.path if path]
    import json
    import subprocess

    path = config.absolute(python) if os.sep in python and not os.path.exists(python) else python
    try:
        code = "import json, sys; print(json.dumps(sys.path))"
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=30, check=True)
        return [entry for entry in json.loads(done.stdout) if entry]
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"{python}: no usable Python interpreter ({error})") from error


class _Selection:
    """Applies everything that a rule must not care about: codes, exemptions, comments, severities, paths, baseline."""

    def __init__(self, session: Session, tree: SourceTree, verdict: Verdict):
        self.session, self.tree, self.verdict = session, tree, verdict
        self.config, self.request = session.config, session.request
        self.checkout = session.checkout
        self.whole = self.request.only is None and (
            self.request.installed is not None
            or any(self._contains_package(os.path.abspath(p)) for p in self.request.paths)
        )
        self.used_exemptions: set[tuple[str, str]] = set()
        self.silenced = 0

    def report(self) -> Report:
        findings = [self._weighed(f) for f in self.verdict.findings]
        findings = [f for f in findings if self._selected(f) and not self._exempt(f)]
        findings = self._uncommented(findings)
        findings += [self._weighed(f) for f in completed(self._stale_exemptions())]
        fingerprinted = baselines.fingerprinted(sorted(findings, key=lambda f: f.sort_key))
        kept, known = self._unknown(fingerprinted)
        shown = [f for f in kept if self._in_scope(f) and not self._ignored_here(f)]
        shown.sort(key=lambda f: f.sort_key)
        files = [f for f in self.verdict.files if self.whole or self._path_in_scope(f)]
        return Report(
            self.checkout.root,
            shown,
            self.verdict.classes,
            files,
            0.0,
            self.config,
            self.tree,
            self.silenced,
            known,
        )

    # -- codes and severities -------------------------------------------------------------------------------------

    def _weighed(self, finding: Finding) -> Finding:
        fitting = [c for c in self.config.severity if finding.code.startswith(c)]
        return replace(finding, severity=self.config.severity[max(fitting, key=len)]) if fitting else finding

    def _selected(self, finding: Finding) -> bool:
        severity = finding.severity if finding.severity is not None else Severity.ERROR
        return self._code_selected(finding.code, severity)

    def _code_selected(self, code: str, severity: Severity) -> bool:
        """The longest fitting prefix decides; what is only worth a look must be asked for."""
        select = self.request.select if self.request.select is not None else self.config.select
        extra = [*self.config.extend_select, *self.request.extend_select]
        ignore = [*self.config.ignore, *self.request.ignore]
        named = max((len(c) for c in (*(select or ()), *extra) if code.startswith(c)), default=-1)
        default = 0 if select is None and severity > Severity.INFO else -1
        ignored = max((len(c) for c in ignore if code.startswith(c)), default=-1)
        return max(named, default) > ignored

    # -- exemptions -----------------------------------------------------------------------------------------------

    def _exempt(self, finding: Finding) -> bool:
        names = {(finding.symbol or "").partition(".")[0], *finding.architectures}
        for code, classes in self.config.exempt.items():
            if finding.code.startswith(code):
                for name in names & set(classes):
                    self.used_exemptions.add((code, name))
                    return True
        return False

    def _stale_exemptions(self) -> list[Finding]:
        if not self.whole or self.config.path is None or not self._code_selected("NAM003", Severity.WARNING):
            return []
        found = []
        for code, classes in self.config.exempt.items():
            for name in classes:
                if (code, name) not in self.used_exemptions:
                    fields = (
                        ("what", "an exemption"),
                        ("name", f"`{name}` for {code}"),
                        ("why", "gives no such finding"),
                    )
                    found.append(self._in_settings(name, fields))
        return found

    def _in_settings(self, word: str, fields: tuple) -> Finding:
        assert self.config.path is not None
        line = self.config.line_of(word)
        width = len(self.config.text.splitlines()[line - 1]) if self.config.text else 0
        path = self.tree.relative(self.config.path)
        return Finding(path, Span(line, 1, line, width + 1), symbol=None, fields=fields, code="NAM003")

    # -- comments -------------------------------------------------------------------------------------------------

    def _uncommented(self, findings: list[Finding]) -> list[Finding]:
        """Drop what comments silence; add NAM001 for comments that silence nothing."""
        by_path: dict[str, list[Finding]] = {}
        for finding in findings:
            by_path.setdefault(finding.path, []).append(finding)
        kept: list[Finding] = []
        for path in {*by_path, *(f for f in self.verdict.files if self.whole or self._path_in_scope(f))}:
            here = by_path.get(path, [])
            data = self.tree.read(self.tree.absolute(path))
            if data is None or not suppressions.may_suppress(data, bool(here)):
                kept += here
                continue
            found = suppressions.read(data)
            left = self._left(here, found)
            self.silenced += len(here) - len(left)
            kept += left + self._left(self._unused(path, found), found)
        return kept

    def _left(self, findings: list[Finding], found: suppressions.Suppressions) -> list[Finding]:
        """What comments do not silence; where ``# noqa`` is somebody else's business, it is only marked as used."""
        if self.request.noqa:
            return [f for f in findings if not found.covers(f)]
        own = suppressions.Suppressions([c for c in found.comments if c.own])
        return [f for f in findings if not (found.covers(f), own.covers(f))[1]]

    def _unused(self, path: str, found: suppressions.Suppressions) -> list[Finding]:
        from automodel_lint.pages import pages

        known = pages()
        if found.everything or not self._code_selected("NAM001", Severity.WARNING):
            return []
        judged = [code for code, page in known.items() if self._code_selected(code, page.severity)]
        stale = suppressions.unused(self.tree, self.tree.absolute(path), found, known, judged)
        return [self._weighed(f) for f in completed(stale)]

    # -- paths ----------------------------------------------------------------------------------------------------

    def _contains_package(self, path: str) -> bool:
        package = self.checkout.package_dir
        return package == path or package.startswith(path.rstrip(os.sep) + os.sep)

    def _in_scope(self, finding: Finding) -> bool:
        if self.request.only is not None:
            return self.tree.absolute(finding.path) in self.request.only
        if self.whole:
            return not self._excluded(finding.path)
        return any(self._path_in_scope(p) for p in (finding.path, *finding.related)) and not self._excluded(
            finding.path
        )

    def _path_in_scope(self, relative: str) -> bool:
        path = self.tree.absolute(relative)
        if self.request.only is not None:
            return path in self.request.only
        return any(path == p or path.startswith(p + os.sep) for p in self._scopes())

    def _scopes(self) -> list[str]:
        """What was asked for; a file in a model package stands for the package."""
        if not hasattr(self, "_scope_cache"):
            found = []
            for path in map(os.path.abspath, self.request.paths):
                if self.request.force_exclude and self._excluded(self.tree.relative(path)):
                    continue
                prefix = self.checkout.models_dir + os.sep
                name, slash, _ = path[len(prefix) :].partition(os.sep)
                inside = path.startswith(prefix) and slash and os.path.isfile(path)
                found.append(os.path.join(self.checkout.models_dir, name) if inside else path)
            self._scope_cache = found
        return self._scope_cache

    def _excluded(self, relative: str) -> bool:
        """Whether the settings exclude a path; one that was asked for by name is linted unless that is forced."""
        if not self.config.exclude:
            return False
        path = self.tree.absolute(relative)
        if not self.request.force_exclude and path in {os.path.abspath(p) for p in self.request.paths}:
            return False
        return self._matches(self.config.exclude, path)

    def _matches(self, patterns: list[str], path: str) -> bool:
        import pathspec

        relative = os.path.relpath(path, self.config.base).replace(os.sep, "/")
        return pathspec.GitIgnoreSpec.from_lines(patterns).match_file(relative)

    def _ignored_here(self, finding: Finding) -> bool:
        path = self.tree.absolute(finding.path)
        return any(
            self._matches([glob], path)
            for glob, codes in self.config.per_path_ignores.items()
            if any(finding.code.startswith(code) for code in codes)
        )

    # -- baseline -------------------------------------------------------------------------------------------------

    def _unknown(self, findings: list[Finding]) -> tuple[list[Finding], int]:
        """Leave out what the baseline knows; an entry of it that no finding answers to is stale."""
        if not self.config.baseline or not self.request.baseline:
            return findings, 0
        path = self.config.absolute(self.config.baseline)
        known = baselines.load(path)
        left = [f for f in findings if f.fingerprint not in known]
        if self.whole and self._code_selected("NAM003", Severity.WARNING):
            present = {f.fingerprint for f in findings}
            relative = self.tree.relative(path)
            stale = [
                Finding(
                    relative,
                    Span(entry.line, 1, entry.line, 1),
                    fields=(
                        ("what", "the baseline"),
                        ("name", f"{entry.code} in {entry.path}"),
                        ("why", "is gone"),
                    ),
                    code="NAM003",
                )
                for fingerprint, entry in known.items()
                if fingerprint not in present
            ]
            left += [self._weighed(f) for f in completed(stale)]
        return left, len(findings) - sum(f.fingerprint not in known for f in findings)
