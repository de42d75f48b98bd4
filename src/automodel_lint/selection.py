"""What of a verdict is shown: everything that a rule must not care about."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property

from automodel_lint import baseline as baselines
from automodel_lint import suppressions
from automodel_lint.config import Config
from automodel_lint.domain.checkout import Checkout
from automodel_lint.engine import Verdict, completed
from automodel_lint.findings import Finding, Severity, Silenced, Span
from automodel_lint.pages import Page
from automodel_lint.report import Report
from automodel_lint.request import Request, UsageError
from automodel_lint.source import SourceTree

# What these say concerns the run itself: it stands beside whatever was selected, unless it is ignored by name.
ALWAYS = ("NAM000", "NAM002")
# Why a finding is left out that nobody asked for.
WORTH_A_LOOK, OF_OLD_FILES = UNASKED = ("info: only worth a look", "asked of new files only")
# What is asked of new files only, unless it is selected by its full code.
OF_NEW_FILES = ("NAM804",)


class Selection:
    """Applies everything that a rule must not care about: codes, exemptions, comments, severities, paths, baseline."""

    def __init__(self, request: Request, config: Config, checkout: Checkout, tree: SourceTree, verdict: Verdict):
        self.request, self.config, self.checkout = request, config, checkout
        self.tree, self.verdict = tree, verdict
        self.whole = self.request.only is None and (
            self.request.installed is not None
            or any(checkout.holds_package(os.path.abspath(p)) for p in self.request.paths)
        )
        self.used_exemptions: set[tuple[str, str]] = set()
        self.silenced: list[Silenced] = []

    def report(self) -> Report:
        findings = [self._weighed(f) for f in self.verdict.findings]
        findings = [f for f in findings if self._selected(f) and self._new_enough(f) and not self._exempt(f)]
        findings = self._uncommented(findings)
        findings += [self._weighed(f) for f in completed(self._stale_exemptions())]
        fingerprinted = baselines.fingerprinted(sorted(findings, key=lambda f: f.sort_key))
        kept, known = self._unknown(fingerprinted)
        shown = [f for f in kept if self._in_scope(f) and not self._ignored_here(f)]
        shown.sort(key=lambda f: f.sort_key)
        files = [f for f in self.verdict.files if self.shows(f)]
        classes = sum(self.shows(path) for path in self.verdict.classes)
        commented = sum(s.by == "comment" for s in self.silenced)
        report = Report(self.checkout.root, shown, classes, files, 0.0, self.config, self.tree, commented, known)
        report.silenced = [s for s in self.silenced if self._in_scope(s.finding)]
        report.asked = self.asked()
        return report

    def asked(self) -> frozenset[str]:
        """Return the codes of the rules that have looked and whose findings, as their pages weigh them, are shown."""
        from automodel_lint.pages import pages

        return frozenset(code for code, page in pages().items() if self._asked(code, page))

    def shows(self, path: str) -> bool:
        """Tell whether a file (relative to the root) belongs to what was asked for."""
        return (self.whole or self._path_in_scope(path)) and not self._excluded(path)

    # -- codes and severities -------------------------------------------------------------------------------------

    def _weighed(self, finding: Finding) -> Finding:
        severity = self._override(finding.code)
        return finding if severity is None else replace(finding, severity=severity)

    def _override(self, code: str) -> Severity | None:
        """The severity that the settings give a code: their longest fitting prefix decides."""
        fitting = [c for c in self.config.severity if code.startswith(c)]
        return self.config.severity[max(fitting, key=len)] if fitting else None

    def _selected(self, finding: Finding) -> bool:
        severity = finding.severity if finding.severity is not None else Severity.ERROR
        return self._code_selected(finding.code, severity)

    def _code_selected(self, code: str, severity: Severity) -> bool:
        """The longest fitting prefix decides; what is only worth a look must be asked for."""
        always = 0 if code in ALWAYS else -1
        select = self.request.select if self.request.select is not None else self.config.select
        extra = [*self.config.extend_select, *self.request.extend_select]
        ignore = [*self.config.ignore, *self.request.ignore]
        named = max((len(c) for c in (*(select or ()), *extra) if code.startswith(c)), default=-1)
        default = 0 if select is None and severity > Severity.INFO else -1
        ignored = max((len(c) for c in ignore if code.startswith(c)), default=-1)
        return max(named, default, always) > ignored

    def _judged(self, prefix: str) -> bool:
        """Whether some rule that ``prefix`` stands for has been asked about at all."""
        from automodel_lint.pages import pages

        return any(self._asked(code, page) for code, page in pages().items() if code.startswith(prefix))

    def _asked(self, code: str, page: Page) -> bool:
        """Whether a rule has looked and was asked about, at the severity that the settings give it."""
        severity = self._override(code)
        if code in OF_NEW_FILES and not self._named(code):
            return False  # of old files nothing was asked
        return code in self.verdict.codes and self._code_selected(code, page.severity if severity is None else severity)

    # -- new files ------------------------------------------------------------------------------------------------

    def _new_enough(self, finding: Finding) -> bool:
        """Whether a finding of the kind that only new files are asked about is about one, or was asked for by name."""
        if finding.code not in OF_NEW_FILES or self._named(finding.code):
            return True
        return os.path.realpath(self.tree.absolute(finding.path)) in self._added

    def _named(self, code: str) -> bool:
        asked = [self.request.select, self.config.select, self.request.extend_select, self.config.extend_select]
        return any(code in (codes or ()) for codes in asked)

    @cached_property
    def _added(self) -> frozenset[str]:
        """The files that are new since the base revision; none where nobody says what that is."""
        from automodel_lint.work_tree import added_since  # git is asked when there is something to ask about

        asked = self.request.base_revision or self.config.base_revision
        if asked:
            added = added_since(self.checkout.root, asked)
            if added is None:
                raise UsageError(f"{asked}: git knows no such revision in {self.checkout.root}")
            return added
        branch = os.environ.get("GITHUB_BASE_REF") if os.environ.get("GITHUB_ACTIONS") == "true" else None
        for name in (f"origin/{branch}", branch) if branch else ():
            added = added_since(self.checkout.root, name)
            if added is not None:
                return added
        return frozenset()

    # -- exemptions -----------------------------------------------------------------------------------------------

    def _exempt(self, finding: Finding) -> bool:
        names = {(finding.symbol or "").partition(".")[0], *finding.architectures}
        for code, classes in self.config.exempt.items():
            if finding.code.startswith(code):
                for name in names & set(classes):
                    self.used_exemptions.add((code, name))
                    self.silenced.append(Silenced(finding, "exemption", classes[name]))
                    return True
        return False

    def _stale_exemptions(self) -> list[Finding]:
        if not self.whole or self.config.path is None or not self._judged("NAM003"):
            return []
        found = []
        for code, classes in self.config.exempt.items():
            for name in classes:
                if (code, name) not in self.used_exemptions and self._judged(code):
                    fields = (
                        ("what", "an exemption"),
                        ("name", f"`{name}` for {code}"),
                        ("why", "gives no such finding"),
                    )
                    found.append(self._in_settings(code, name, fields))
        return found

    def _in_settings(self, code: str, name: str, fields: tuple) -> Finding:
        assert self.config.path is not None
        line = self.config.line_of(name, after=code)
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
            found = suppressions.read(data, path)
            left = self._left(here, found)
            silent = [f for f in here if f not in left]
            self.silenced += [Silenced(f, "comment", found.reason(f)) for f in silent]
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
        if found.everything or not self._judged("NAM001"):
            return []
        judged = [code for code, page in known.items() if self._asked(code, page)]
        stale = suppressions.unused(self.tree, self.tree.absolute(path), found, known, judged)
        return [self._weighed(f) for f in completed(stale)]

    # -- paths ----------------------------------------------------------------------------------------------------

    def _in_scope(self, finding: Finding) -> bool:
        if self.request.only is not None:
            return self._path_in_scope(finding.path) and not self._excluded(finding.path)
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
                found.append(self.checkout.scope(path))
            self._scope_cache = found
        return self._scope_cache

    def _excluded(self, relative: str) -> bool:
        """Whether the settings exclude a path; one that was asked for by name is linted unless that is forced."""
        if not self.config.exclude:
            return False
        path = self.tree.absolute(relative)
        named = {*map(os.path.abspath, self.request.paths), *(self.request.only or ())}
        if not self.request.force_exclude and path in named:
            return False
        return self._matches(self.config.exclude, path)

    def _matches(self, patterns: list[str], path: str) -> bool:
        import pathspec

        relative = os.path.relpath(path, self.config.base).replace(os.sep, "/")
        return pathspec.GitIgnoreSpec.from_lines(patterns).match_file(relative)

    def _ignored_here(self, finding: Finding) -> bool:
        path = self.tree.absolute(finding.path)
        globs = [
            glob
            for glob, codes in self.config.per_path_ignores.items()
            if any(finding.code.startswith(code) for code in codes) and self._matches([glob], path)
        ]
        if globs:
            self.silenced.append(Silenced(finding, "path", globs[0]))
        return bool(globs)

    # -- what nobody asked for --------------------------------------------------------------------------------------

    def unasked(self) -> list[tuple[Finding, str]]:
        """Return the findings of the verdict that were not asked for, each with the reason in words.

        Those that somebody silences are another matter: they are in the report.
        """
        found = ((finding, self._why_unasked(finding)) for finding in map(self._weighed, self.verdict.findings))
        return [(finding, why) for finding, why in found if why is not None]

    def _why_unasked(self, finding: Finding) -> str | None:
        if not self._selected(finding):
            is_ignored = any(finding.code.startswith(c) for c in (*self.config.ignore, *self.request.ignore))
            is_left_out = is_ignored or finding.severity is not Severity.INFO
            return f"the settings leave out {finding.code}" if is_left_out else WORTH_A_LOOK
        if not self._new_enough(finding):
            return OF_OLD_FILES
        return "the settings exclude its file" if self._excluded(finding.path) else None

    # -- baseline -------------------------------------------------------------------------------------------------

    def _unknown(self, findings: list[Finding]) -> tuple[list[Finding], int]:
        """Leave out what the baseline knows; an entry of it that no finding answers to is stale."""
        if not self.config.baseline or not self.request.baseline:
            return findings, 0
        path = self.config.absolute(self.config.baseline)
        known = baselines.load(path)
        left = [f for f in findings if f.fingerprint not in known]
        self.silenced += [Silenced(f, "baseline") for f in findings if f.fingerprint in known]
        if self.whole and self._judged("NAM003"):
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
                if fingerprint not in present and self._judged(entry.code)
            ]
            left += baselines.fingerprinted([self._weighed(f) for f in completed(stale)])
        return left, sum(s.by == "baseline" for s in self.silenced)
