"""Faults put into the clean models of the example, one spelling each, and look-alikes that are none.

The tables are data: what is edited, and what must then be found. ``test_mutations.py`` applies and judges them.
"""

from __future__ import annotations

from dataclasses import dataclass

PACKAGE = "acme_automodel"
REGISTRY = f"{PACKAGE}/_transformers/registry.py"
SETTINGS = "pyproject.toml"
BASE = f"{PACKAGE}/components/models/common/causal_lm.py"  # of Larch; the only model base that lies in another file


def model(name: str) -> str:
    """The model module of a package of the example."""
    return f"{PACKAGE}/components/models/{name}/model.py"


def config(name: str) -> str:
    """The config module of a package of the example."""
    return f"{PACKAGE}/components/models/{name}/config.py"


def package(name: str) -> str:
    """The ``__init__.py`` of a package of the example."""
    return f"{PACKAGE}/components/models/{name}/__init__.py"


@dataclass(frozen=True)
class Edit:
    """One replacement in one file; ``old`` stands there exactly once.

    Without ``old`` the file is written anew, without ``new`` it is deleted.
    """

    path: str
    old: str | None
    new: str | None


def write(path: str, text: str) -> Edit:
    """A file that is new, or replaced as a whole."""
    return Edit(path, None, text)


def delete(path: str) -> Edit:
    """A file that is gone."""
    return Edit(path, None, None)


@dataclass(frozen=True)
class Place:
    """Where a finding must be: the file, and a text in its line (an empty one fits every line)."""

    code: str
    path: str
    line: str


@dataclass(frozen=True)
class Fault:
    """One spelling of one fault.

    ``at`` is a text in the line that the finding must point at, in the file ``path`` (that of the first edit, if not
    given). ``also`` are findings that the contracts themselves make stand beside it.
    """

    code: str
    name: str
    edits: tuple[Edit, ...]
    at: str
    path: str = ""
    also: tuple[Place, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.code}-{self.name}"

    @property
    def expected(self) -> tuple[Place, ...]:
        """Everything that must be found, and nothing else may be."""
        return (Place(self.code, self.path or self.edits[0].path, self.at), *self.also)


@dataclass(frozen=True)
class Harmless:
    """Something that looks like a fault of ``code`` and is none; ``why`` is what the contracts say."""

    code: str
    name: str
    edits: tuple[Edit, ...]
    why: str

    @property
    def id(self) -> str:
        return f"{self.code}-{self.name}"
