"""An overview as one page that needs nothing else: matrix, filters, code frames, light and dark, print."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from automodel_lint.domain.capabilities import AXES
from automodel_lint.findings import Severity
from automodel_lint.overview.model import (
    ERROR,
    INFO,
    MET,
    NOT_ABOUT,
    NOT_ASKED,
    NOTHING,
    SILENCED,
    STATES,
    UNDECIDED,
    WARNING,
    Cell,
    Contract,
    Coverage,
    Evidence,
    Family,
    Model,
    Overview,
    Told,
)
from automodel_lint.reporters.repository import repository_address

if TYPE_CHECKING:
    from markupsafe import Markup


class State(NamedTuple):
    """How a state is shown: the class of its cells, a symbol, a word, and what it says of a contract."""

    key: str
    symbol: str
    word: str
    meaning: str


_SHOWN = {
    ERROR: State("e", "✕", "error", "the contract is broken"),
    WARNING: State("w", "!", "warning", "it is not met to the letter"),
    INFO: State("i", "i", "info", "worth a look"),
    SILENCED: State("s", "⊘", "silenced", "a finding that a comment, an exemption or the baseline silences"),
    UNDECIDED: State("u", "?", "not decidable", "the source does not decide it, or the probe could not look"),
    MET: State("m", "✓", "met", "the contract is about the class, and the rule found nothing"),
    NOTHING: State("n", "·", "no finding", "the rule found nothing; whether it is about the class is not known"),
    NOT_ABOUT: State("a", "–", "not applicable", "the contract is not about the class"),
    NOT_ASKED: State("o", "", "not asked", "nobody looked"),
}
_SHORT = {
    "NAM1": "Registry",
    "NAM2": "Tying",
    "NAM3": "Capabilities",
    "NAM4": "Precision",
    "NAM5": "Adapter",
    "NAM6": "MoE",
    "NAM7": "Forward",
    "NAM8": "Tests, docs",
    "NAM9": "Probe",
}
_FLAGS = {"yes": ("m", "✓"), "no": ("a", "–"), "varies": ("v", "±"), "open": ("u", "?")}
_FLAG_WORDS = {
    "yes": "declared",
    "no": "declared unsupported",
    "varies": "depends on the config",
    "open": "not written as True or False",
}
_COUNTED = (ERROR, WARNING, INFO, SILENCED)


def render(overview: Overview) -> str:
    """Return the page. Nothing of what was linted becomes markup or script, and nothing is loaded from elsewhere."""
    style, script = _part("overview.css"), _part("overview.js")
    text = (
        _environment()
        .get_template("overview.html")
        .render(
            page=_Page(overview),
            overview=overview,
            style=_raw(style),
            script=_raw(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()  # whatever the output can encode


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="ascii")


def _raw(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)


def _hash(text: str) -> str:
    """What the content security policy calls a script or a style: no other one runs."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["inline"] = inline
    return made


def inline(text: str) -> Markup:
    """Return plain text, with code in backquotes as messages have it, as HTML."""
    from markupsafe import Markup, escape

    parts = re.split(r"`([^`]+)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


class _Page:
    """What the template asks for."""

    def __init__(self, overview: Overview):
        self.overview = overview
        self.states = _SHOWN
        self.legend = [_SHOWN[state] for state in STATES]
        self.reasons = self._reasons()
        self.address = _web_address(repository_address())
        self.first = {family.prefix: family.contracts[0] for family in overview.families}
        self.axes = [(axis, axis.removeprefix("supports_")) for axis in AXES]

    # -- the head -------------------------------------------------------------------------------------------------

    @property
    def totals(self) -> list[tuple[State, int]]:
        """The findings by severity, and what is silenced, most severe first."""
        silenced = sum(told.silenced is not None for told in self.overview.findings)
        counts = [(_SHOWN[str(s)], self.overview.counts[str(s)]) for s in sorted(Severity, reverse=True)]
        return [*counts, (_SHOWN[SILENCED], silenced)]

    @cached_property
    def bar(self) -> list[tuple[State, int, int]]:
        """How often each state occurs in the matrix: the state, where its stretch of a bar begins, and how long."""
        counts: Counter[str] = Counter()
        for model in self.overview.models:
            counts += model.states(self.overview.contracts)
        return _stretches(counts)

    def occurs(self, state: State) -> int:
        """Return how often a state occurs in the matrix."""
        return sum(count for shown, _, count in self.bar if shown is state)

    def date(self, text: str) -> str:
        """Return a time as a person reads it."""
        return text.replace("T", " ").removesuffix(":00Z").removesuffix("Z") + " UTC"

    # -- the matrix -----------------------------------------------------------------------------------------------

    @property
    def groups(self) -> list[tuple[str, list[Model]]]:
        """The classes by family."""
        return [(name, list(models)) for name, models in groupby(self.overview.models, key=lambda m: m.family)]

    @property
    def model_families(self) -> list[tuple[str, int]]:
        """The families that have more than one class, with how many."""
        return [(name, len(models)) for name, models in self.groups if len(models) > 1]

    def findings_of(self, models: list[Model]) -> list[Told]:
        """Return the findings that are about some of these classes, each once."""
        numbers = {model.number for model in models}
        return [told for told in self.overview.findings if numbers & set(told.models)]

    def short(self, family: Family) -> str:
        """Return a word for a family of contracts that fits above few columns."""
        return _SHORT.get(family.prefix, family.title)

    def stem(self, model: Model) -> tuple[str, str]:
        """Return the name of a class, and apart from it the ending that says only which task it has."""
        match = re.fullmatch(r"(.+?)(For[A-Z]\w+|Model)", model.name)
        return (match[1], match[2]) if match else (model.name, "")

    def words(self, model: Model) -> str:
        """Return what a search looks at: names of the class, and the contracts that it has findings of."""
        contracts = {c.code: c for c in self.overview.contracts}
        found = [f"{code} {contracts[code].name}" for code, cell in model.cells.items() if cell.findings]
        return " ".join([model.name, model.package, model.family, *model.architectures, *model.tags, *found]).lower()

    def shown(self, cell: Cell) -> State:
        """Return how the state of a cell is shown."""
        return _SHOWN[cell.state]

    def reason(self, cell: Cell) -> int | None:
        """Return the number of the reason that a cell gives, if it gives one."""
        return self._numbers.get(cell.reason) if cell.reason else None

    def _reasons(self) -> list[str]:
        cells = (cell for model in self.overview.models for cell in model.cells.values())
        found = list(dict.fromkeys(cell.reason for cell in cells if cell.reason))
        self._numbers = {reason: number for number, reason in enumerate(found)}
        return found

    def chips(self, model: Model, family: Family) -> list[tuple[State, int]]:
        """Return what is shown of a class and a family: what there are findings of, else the state of the whole."""
        counts: Counter[str] = Counter()
        for contract in family.contracts:
            for number in model.cells[contract.code].findings:
                counts[self.overview.findings[number].state] += 1
        states = model.states(family.contracts)
        chips = [(_SHOWN[state], counts[state]) for state in _COUNTED if counts[state]]
        if chips:
            return chips
        state = next(s for s in (UNDECIDED, MET, NOTHING, NOT_ABOUT, NOT_ASKED) if states[s])
        return [(_SHOWN[state], states[state])]

    def about(self, model: Model, family: Family) -> str:
        """Return in words how a class stands to the contracts of a family."""
        states = model.states(family.contracts)
        return ", ".join(f"{states[s]} {_SHOWN[s].word}" for s in STATES if states[s])

    # -- capabilities and coverage --------------------------------------------------------------------------------

    def flag(self, model: Model, axis: str) -> tuple[str, str, str]:
        """Return class, symbol and words of what a class declares of an axis."""
        answer = model.flags.get(axis)
        if answer is None:
            return ("o", "", "nothing declared")
        return (*_FLAGS[answer], _FLAG_WORDS[answer])

    def other_flags(self, model: Model) -> list[str]:
        """Return the further capabilities that a class declares, or may have."""
        mark = {"yes": "", "varies": " (by config)", "open": " (not literal)"}
        return [
            name.removeprefix("supports_") + mark[flag]
            for name, flag in model.flags.items()
            if name not in AXES and flag in mark
        ]

    def contradicts(self, model: Model, axis: str) -> str:
        """Return what recipes and the declaration of an axis do not agree on; empty if they do."""
        used = model.coverage.axes.get(axis.removeprefix("supports_"))
        flag = model.flags.get(axis)
        if used and flag == "no":
            return "recipes use what is declared unsupported"
        return ""

    @property
    def has_recipes(self) -> bool:
        """Whether recipes were looked for."""
        return any(model.coverage.recipes is not None for model in self.overview.models)

    @property
    def covered(self) -> list[tuple[str, str]]:
        """The kinds of evidence that were looked for: the field, and its title."""
        kinds = (("tests", "Tests"), ("docs", "Documentation"), ("recipes", "Recipes"))
        return [k for k in kinds if any(getattr(m.coverage, k[0]) is not None for m in self.overview.models)]

    def evidence(self, coverage: Coverage, kind: str) -> tuple[Evidence, ...]:
        """Return what there is of a kind."""
        return getattr(coverage, kind) or ()

    def coverage_total(self, kind: str) -> int:
        """Return how many classes have something of a kind."""
        return sum(bool(getattr(model.coverage, kind)) for model in self.overview.models)

    # -- contracts and findings -----------------------------------------------------------------------------------

    def row(self, contract: Contract) -> tuple[Counter[str], list[tuple[State, int, int]]]:
        """Return the findings of a contract by state, and the bar of how the classes stand to it."""
        told = Counter(t.state for t in self.overview.findings if t.finding.code == contract.code)
        return told, _stretches(Counter(model.cells[contract.code].state for model in self.overview.models))

    def by_code(self, told: Iterable[Told]) -> list[tuple[str, list[Told]]]:
        """Return findings by code; they are in the order of codes."""
        return [(code, list(group)) for code, group in groupby(told, key=lambda t: t.finding.code)]

    def rule(self, code: str) -> Any:
        """Return the page of a rule."""
        from automodel_lint.pages import pages

        return pages()[code]

    def counted(self, told: Iterable[Told]) -> list[tuple[State, int]]:
        """Count findings by how they are shown."""
        return self.counts(Counter(t.state for t in told))

    def counts(self, counts: Counter[str]) -> list[tuple[State, int]]:
        """Return how counts by state are shown, most severe first, those of nothing left out."""
        return [(_SHOWN[state], counts[state]) for state in _COUNTED if counts[state]]

    def fix(self, told: Told) -> str:
        """Return how a finding can be repaired, in words; empty if it cannot."""
        from automodel_lint.fixes.shapes import safety

        kind = safety(told.finding)
        return f"{kind} repair" if kind else ""

    def link(self, path: str, line: int | None = None) -> str | None:
        """Return the address of a line on the code host, where CI tells the repository's."""
        overview = self.overview
        if self.address is None or overview.commit is None or path.startswith("/"):
            return None
        inside = f"{overview.prefix}/{path}" if overview.prefix else path
        return f"{self.address}/blob/{overview.commit}/{quote(inside)}" + (f"#L{line}" if line else "")


def _stretches(counts: Counter[str]) -> list[tuple[State, int, int]]:
    found, start = [], 0
    for state in (ERROR, WARNING, INFO, SILENCED, UNDECIDED, MET, NOTHING, NOT_ABOUT, NOT_ASKED):
        if counts[state]:
            found.append((_SHOWN[state], start, counts[state]))
            start += counts[state]
    return found


def _web_address(address: str | None) -> str | None:
    """An address of the web without anything behind the path; an environment may say anything."""
    return address.rstrip("/") if address and re.fullmatch(r"https?://[\w.:-]+(/[\w.~-]+)+/?", address) else None
