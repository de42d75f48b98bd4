"""Rule pages: the one place that holds a rule's code, severity, message, reason and examples."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache

from automodel_lint.findings import Severity

HEADINGS = ("What it checks", "Why it matters", "Bad", "Good", "Fix safety", "What it cannot see")
FIXES = ("none", "safe", "unsafe")
FAMILIES = {
    "NAM0": "The linter itself",
    "NAM1": "Registry and exports",
    "NAM2": "Weight tying",
    "NAM3": "Capabilities",
    "NAM4": "Precision",
    "NAM5": "State-dict adapters",
    "NAM6": "Mixture of experts",
    "NAM7": "Forward",
    "NAM8": "Recipes, tests and docs",
    "NAM9": "The probe",
}
SITE = "https://automodel-lint.readthedocs.io"
URL = SITE + "/rules/{name}"


class BrokenPage(Exception):
    """A rule page is not as it must be; the text says which and why."""


@dataclass(frozen=True)
class Page:
    """One rule page.

    ``fix`` is ``none``, ``safe`` or ``unsafe``; ``message`` a format string over what the rule's findings carry;
    ``sections`` the texts under the fixed headings.
    """

    code: str
    name: str
    severity: Severity
    fix: str
    since: str
    source: str
    message: str
    text: str
    sections: dict[str, str]

    @property
    def summary(self) -> str:
        """The first sentence of *What it checks*."""
        first = self.sections["What it checks"].strip().split("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[.:])\s", first)[0]

    @property
    def is_probed(self) -> bool:
        """Whether the contract only shows when code runs, so that the probe looks at it."""
        return self.code.startswith("NAM9")

    @property
    def url(self) -> str:
        """Where the page stands on the documentation site."""
        return URL.format(name=f"{self.code}-{self.name}")


def pages_folder() -> str:
    """Return the folder with the pages: beside the package in a checkout of ours, inside it in the wheel."""
    here = os.path.dirname(os.path.abspath(__file__))
    shipped = os.path.join(here, "pages")
    return shipped if os.path.isdir(shipped) else os.path.join(os.path.dirname(os.path.dirname(here)), "rules")


@cache
def pages() -> dict[str, Page]:
    """Return every page by its code, in the order of the codes.

    Raises:
        BrokenPage: if a page lacks its table, a key or a heading, or two have one code.
    """
    found: dict[str, Page] = {}
    folder = pages_folder()
    for name in sorted(os.listdir(folder)):
        if name.startswith("NAM") and name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                page = parse(stream.read(), name)
            if page.code in found:
                raise BrokenPage(f"{name}: {page.code} has another page")
            found[page.code] = page
    return found


def parse(text: str, name: str) -> Page:
    """Read a page; ``name`` is what errors call it."""
    table = re.search(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    if table is None:
        raise BrokenPage(f"{name}: no toml block")
    from automodel_lint import toml

    try:
        data = toml.loads(table[1])
        severity = Severity.parse(data["severity"])
        fields = {key: data[key] for key in ("code", "name", "fix", "since", "source", "message")}
    except (toml.TOMLDecodeError, KeyError) as error:
        raise BrokenPage(f"{name}: {error}") from error
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    sections = {heading.strip(): body for heading, body in zip(parts[1::2], parts[2::2], strict=True)}
    if tuple(sections) != HEADINGS or fields["fix"] not in FIXES:
        raise BrokenPage(f"{name}: headings must be {', '.join(HEADINGS)} and fix one of {', '.join(FIXES)}")
    return Page(severity=severity, text=text, sections=sections, **fields)
