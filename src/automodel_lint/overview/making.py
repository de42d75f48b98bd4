"""Makes an overview of a checkout: runs the linter, and puts what it says to the classes that it is about."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable

from automodel_lint import __version__
from automodel_lint.domain import subjects
from automodel_lint.engine import Place
from automodel_lint.findings import Finding, Silenced, Span
from automodel_lint.frames import FrameLine, frame
from automodel_lint.overview.coverage import covered
from automodel_lint.overview.model import (
    MET,
    NOT_ABOUT,
    NOT_ASKED,
    NOTHING,
    SILENCED,
    STATES,
    UNDECIDED,
    Cell,
    Contract,
    Family,
    Model,
    Overview,
    Probed,
    ProbeRun,
    Told,
)
from automodel_lint.overview.probed import Check, ProbedClass, ProbeResult
from automodel_lint.overview.survey import Surveyed, surveyed
from automodel_lint.pages import FAMILIES, Page, pages
from automodel_lint.probe.protocol import FINDING, PASSED
from automodel_lint.report import Report
from automodel_lint.session import Session
from automodel_lint.work_tree import commit_date, work_tree

_SOURCES = (".py", ".yaml", ".yml", ".toml", ".md", ".mdx")
_NOT_PROBED = "it is not in the probe's result"
_STATES = {subjects.YES: MET, subjects.NO: NOT_ABOUT, subjects.OPEN: UNDECIDED, None: NOTHING}


def overview(session: Session, probe: ProbeResult | None = None) -> Overview:
    """Lint the checkout of a session and return how its registered classes stand to the contracts."""
    report = session.run()
    places = [place for place in session.engine.classes if session.selection.shows(place[2])]
    return _Maker(session, report, sorted(places, key=_order), probe).overview()


def _order(place: Place) -> tuple[str, ...]:
    module, qualname, path, _ = place
    package = _package(path)
    return family_of(package), package, module, qualname


def _package(path: str) -> str:
    """The folder of the models folder that a file lies in, else its own folder."""
    below = path.rpartition("components/models/")[2].partition("/")
    return below[0] if below[1] and "components/models/" in path else os.path.basename(os.path.dirname(path)) or path


def family_of(package: str) -> str:
    """Return the family of a model package: its name up to the version (``qwen3_vl`` and ``qwen2`` are ``qwen``)."""
    return re.split(r"[\d_]", package, maxsplit=1)[0] or package


class _Maker:
    """Puts one overview together; classes and findings are numbered in the order in which they are shown."""

    def __init__(self, session: Session, report: Report, places: list[Place], probe: ProbeResult | None):
        self.session, self.report, self.places, self.probe = session, report, places, probe
        self.names = [session.engine.classes[place][0] for place in places]
        self.known = surveyed(session, places)
        self.coverage = covered(session, places)
        session.engine.cache.save()
        self.by_key = {f"{place[0]}:{place[1]}": number for number, place in enumerate(places)}
        probed = {c.key: c for c in probe.classes} if probe else {}
        self.probed = [probed.get(key) for key in self.by_key]
        self.told = self._all_told()
        self.by_cell: dict[tuple[int, str], list[Told]] = {}
        for told in self.told:
            for number in told.models:
                self.by_cell.setdefault((number, told.finding.code), []).append(told)

    def overview(self) -> Overview:
        report, checkout = self.report, self.session.checkout
        place = work_tree(report.root)
        return Overview(
            package=checkout.package,
            made=_now(),
            commit=place.commit if place else None,
            committed=commit_date(report.root) if place else None,
            prefix=place.prefix if place else "",
            version=__version__,
            files=len(report.files),
            counts=report.counts(),
            suppressed=report.suppressed,
            baselined=report.baselined,
            families=(families := self._families()),
            models=tuple(self._model(n, [c for f in families for c in f.contracts]) for n in range(len(self.places))),
            findings=tuple(self.told),
            probe=self._probe_run(),
        )

    # -- findings -------------------------------------------------------------------------------------------------

    def _all_told(self) -> list[Told]:
        said: list[tuple[Finding, Silenced | None, bool]] = [(f, None, False) for f in self.report.findings]
        said += [(s.finding, s, False) for s in self.report.silenced]
        said += [(f, None, True) for f in (self.probe.findings if self.probe else ())]
        said.sort(key=lambda item: (item[0].code, item[0].sort_key))
        return [
            Told(number, finding, self._about(finding), self._frame(finding), silenced, probed)
            for number, (finding, silenced, probed) in enumerate(said)
        ]

    def _frame(self, finding: Finding) -> tuple[FrameLine, ...]:
        """The lines around a finding, blank ones at the ends left out, if its file is a source of the checkout.

        A result of the probe may name any other file. What is about a whole file points at its first character.
        """
        path, root = os.path.realpath(self.report.tree.absolute(finding.path)), os.path.realpath(self.report.root)
        if not path.startswith(root + os.sep) or not path.endswith(_SOURCES) or finding.span == Span():
            return ()
        lines = frame(self.report.tree, finding, around=2)
        while lines and not (lines[0].text or lines[0].end):
            lines.pop(0)
        while lines and not (lines[-1].text or lines[-1].end):
            lines.pop()
        return tuple(lines)

    def _about(self, finding: Finding) -> tuple[int, ...]:
        """The classes that a finding is about: those of its architectures, else the one that it names."""
        meant = set(finding.architectures)
        found = [n for n, names in enumerate(self.names) if meant & set(names)]
        if not found and not meant and finding.symbol:
            name = finding.symbol.partition(".")[0]
            found = [n for n, place in enumerate(self.places) if (place[1], place[2]) == (name, finding.path)]
        return tuple(found)

    # -- contracts ------------------------------------------------------------------------------------------------

    def _families(self) -> tuple[Family, ...]:
        """The contracts that are about registered classes and were asked, or have findings all the same."""
        told = {told.finding.code for told in self.told if told.models}
        probed = {code for c in self.probed if c for code in c.checks}
        about = _asked_of_classes() & self.report.asked | told | probed
        asked = self.report.asked | probed
        columns = [_contract(page, page.code in asked) for page in pages().values() if page.code in about]
        groups = {prefix: tuple(c for c in columns if c.code.startswith(prefix)) for prefix in FAMILIES}
        return tuple(Family(prefix, FAMILIES[prefix], group) for prefix, group in groups.items() if group)

    # -- classes --------------------------------------------------------------------------------------------------

    def _model(self, number: int, contracts: Iterable[Contract]) -> Model:
        place = self.places[number]
        module, qualname, path, line = place
        known, probed = self.known[place], self.probed[number]
        figures = {code: c.said for code, c in probed.checks.items() if c.status == PASSED and c.said} if probed else {}
        return Model(
            number=number,
            name=qualname,
            module=module,
            path=path,
            line=line,
            package=_package(path),
            family=family_of(_package(path)),
            architectures=self.names[number],
            tags=self.session.engine.classes[place][1],
            flags=known.flags,
            declared=known.declared,
            untraced=known.untraced,
            cells={contract.code: self._cell(number, contract, known, probed) for contract in contracts},
            coverage=self.coverage[place],
            probed=Probed(probed.seconds, figures) if probed else None,
        )

    def _cell(self, number: int, contract: Contract, known: Surveyed, probed: ProbedClass | None) -> Cell:
        told = self.by_cell.get((number, contract.code), ())
        numbers = tuple(t.number for t in told)
        if told:
            state = min((t.state for t in told), key=STATES.index)
            return Cell(state, findings=numbers)
        if pages()[contract.code].is_probed:
            return _probed_cell(probed.checks.get(contract.code) if probed else None, probed is not None)
        if not contract.asked:
            return Cell(NOT_ASKED, "it was not selected")
        answer, why = subjects.standing(contract.code, known.facts)
        return Cell(_STATES[answer], why)

    # -- the probe ------------------------------------------------------------------------------------------------

    def _probe_run(self) -> ProbeRun | None:
        if self.probe is None:
            return None
        unknown = tuple(c.key for c in self.probe.classes if c.key not in self.by_key)
        return ProbeRun(self.probe.commit, len(self.probe.classes), unknown)


def _probed_cell(check: Check | None, probed: bool) -> Cell:
    if check is None:
        return Cell(NOT_ASKED, "this check did not run" if probed else _NOT_PROBED)
    if check.status == PASSED:
        return Cell(MET, check.said)
    if check.status == FINDING:  # with no finding to show
        return Cell(SILENCED, "its finding was silenced, or not selected, when it was probed")
    return Cell(UNDECIDED, f"not probed: {check.said or 'no reason given'}")


def _asked_of_classes() -> frozenset[str]:
    """The codes of the rules that are about registered classes."""
    from automodel_lint.domain.model_class import ModelClass
    from automodel_lint.rules import checks

    return frozenset({code for code, _ in checks()[ModelClass]} | subjects.PRESUPPOSED.keys())


def _contract(page: Page, asked: bool) -> Contract:
    return Contract(page.code, page.name, page.severity, page.fix, page.summary, page.url, asked)


def _now() -> str:
    """The time of the run in UTC, or what ``SOURCE_DATE_EPOCH`` asks for, so that a page can be made again."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdecimal() else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
