"""The pages under ``docs/model-coverage/``: which architectures they name, by themselves or by their family."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.families import Families
from automodel_lint.domain.mentions import Mention, files_below, folder_beside, line_of
from automodel_lint.domain.plan import Registration
from automodel_lint.source import SourceTree

FACT = "docs of "
_GENERATED = re.compile(
    rb"^[^\n]*\bBEGIN GENERATED\b(?P<what>[^\n*>]*).*?^[^\n]*\bEND GENERATED\b(?P=what)[^\n]*$", re.M | re.S
)
_COMMENT = re.compile(rb"<!--.*?-->|\{/\*.*?\*/\}", re.S)
_WORD = re.compile(rb"[A-Za-z]\w*")
# Where a page lists what it is about: its title, a heading, a row of a table, an item of a list. In running text a
# family is also named for what is merely built on it.
_LISTING = re.compile(rb"^(?:[ \t]*(?:[-*+]|\d+\.)[ \t]|[ \t]*\||#+[ \t]|(?:title|slug|sidebar-title)[ \t]*:).*$", re.M)
_HF_ID = re.compile(rb"huggingface\.co/([\w.-]+/[\w.-]+)|`([\w.-]+/[\w.-]+)`")
_RECIPE = re.compile(rb"(?<![\w.-])examples/[\w./-]+\.ya?ml")
_NO_MODEL = ("datasets/", "docs/", "collections/", "papers/", "spaces/", "blog/")
_NO_ID = (".yaml", ".yml", ".md", ".mdx", ".py")
_ARCHITECTURE = re.compile(rb"(?!NeMoAuto|Auto)[A-Z]\w*(?:For[A-Z]\w+|LMHeadModel)")


@dataclass(frozen=True)
class Pairing:
    """That a page states something (a checkpoint, a recipe) together with architectures.

    ``sure`` are those that the row names, or the page if it names no others than registered ones; ``possible`` are all
    that the page may be about.
    """

    sure: tuple[str, ...]
    possible: tuple[str, ...]
    place: Mention


Pairings = dict[str, list[Pairing]]


@dataclass
class CoverageDocs:
    """What the pages say.

    ``architectures`` maps each registered architecture to the place that names it best (by itself rather than by its
    family, on a page of its own rather than in a list of many), ``ids`` each Hugging Face id (in lower case) and
    ``recipes`` each recipe (relative path) to what it stands together with. ``is_there`` tells whether the checkout has
    such pages at all.
    """

    is_there: bool = False
    architectures: dict[str, Mention] = field(default_factory=dict)
    ids: Pairings = field(default_factory=dict)
    recipes: Pairings = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return {
            "is_there": self.is_there,
            "architectures": {name: [m.path, m.line] for name, m in self.architectures.items()},
            "ids": _rows(self.ids),
            "recipes": _rows(self.recipes),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], tree: SourceTree) -> CoverageDocs:
        """Inverse of :meth:`to_json`; makes known to ``tree`` as facts which architectures are named."""
        tree.publish(f"{FACT}*", repr(data["is_there"]))
        tree.publish(f"{FACT}recipes", json.dumps([data["ids"], data["recipes"]]))
        for name in data["architectures"]:
            tree.publish(f"{FACT}{name}", "named")
        places = {name: Mention(*place) for name, place in data["architectures"].items()}
        return cls(data["is_there"], places, _pairings(data["ids"]), _pairings(data["recipes"]))


def _rows(pairings: Pairings) -> dict[str, list[list[Any]]]:
    return {n: [[p.sure, p.possible, p.place.path, p.place.line] for p in found] for n, found in pairings.items()}


def _pairings(rows: dict[str, list[list[Any]]]) -> Pairings:
    return {
        name: [Pairing(tuple(sure), tuple(possible), Mention(path, line)) for sure, possible, path, line in found]
        for name, found in rows.items()
    }


def read_docs(checkout: Checkout, tree: SourceTree, registrations: Iterable[Registration]) -> CoverageDocs:
    """Look through the coverage pages for the registered architectures."""
    folder = folder_beside(checkout, tree, "docs", "model-coverage")
    if folder is None:
        return CoverageDocs()
    docs = CoverageDocs(is_there=True)
    families, spelled = Families(registrations), _spelled(registrations)
    ranked: dict[str, tuple[tuple[int, int], Mention]] = {}
    for path in files_below(tree, folder, (".md", ".mdx")):
        page, relative = _hand_written(tree.read(path) or b""), tree.relative(path)
        listed, titled = _listed(page, families), families.named(os.path.relpath(path, folder))
        own = families.called(os.path.splitext(os.path.basename(path))[0])
        named: dict[str, int] = {}
        for word in _WORD.finditer(page):
            for architecture in spelled.get(word[0].lower(), ()):
                named.setdefault(architecture, word.start())
        for architecture, offset in {**dict.fromkeys(titled, 0), **listed, **named}.items():
            about = 0 if architecture in own else 1 if architecture in titled else 2
            rank = (3 * (architecture not in named) + about, len(listed.keys() | named.keys()))
            if architecture not in ranked or rank < ranked[architecture][0]:
                ranked[architecture] = rank, Mention(relative, line_of(page, offset))
        _pair(docs, page, relative, spelled, dict.fromkeys((*titled, *listed)))
    docs.architectures = {name: place for name, (_, place) in ranked.items()}
    return docs


def _hand_written(data: bytes) -> bytes:
    """A page without what a tool writes into it and without comments, every line where it was."""

    def blank(match: re.Match[bytes]) -> bytes:
        return re.sub(rb"[^\n]", b" ", match[0])

    return _COMMENT.sub(blank, _GENERATED.sub(blank, data))


def _listed(page: bytes, families: Families) -> dict[str, int]:
    """The architectures whose family a page lists, each with the offset of the line."""
    found: dict[str, int] = {}
    for line in _LISTING.finditer(page):
        for architecture in families.named(line[0]):
            found.setdefault(architecture, line.start())
    return found


def _spelled(registrations: Iterable[Registration]) -> dict[bytes, list[str]]:
    """The words that name an architecture: itself, and its class; the case differs between the Hub and the registry."""
    found: dict[bytes, list[str]] = {}
    for entry in registrations:
        for word in {entry.key, entry.cls.rpartition(".")[2]} - {""}:
            found.setdefault(word.lower().encode(), []).append(entry.key)
    return found


def _pair(docs: CoverageDocs, page: bytes, path: str, spelled: dict[bytes, list[str]], listed: Iterable[str]) -> None:
    """Take down the checkpoints and recipes of a page with the architectures that they stand together with."""
    of_page, is_mixed = _stated(page, spelled)
    possible = tuple(dict.fromkeys((*of_page, *listed)))
    for found, pattern in ((docs.ids, _HF_ID), (docs.recipes, _RECIPE)):
        for match in pattern.finditer(page):
            name = next(filter(None, (match[0], *match.groups())[::-1])).decode()
            if pattern is _HF_ID and (name.startswith(_NO_MODEL) or name.endswith(_NO_ID)):
                continue
            line = page[page.rfind(b"\n", 0, match.start()) + 1 : (page.find(b"\n", match.end()) + 1 or None)]
            of_row, is_mixed_row = _stated(line, spelled)
            sure = of_row if of_row and not is_mixed_row else () if is_mixed or of_row else of_page
            pairing = Pairing(sure, of_row or possible, Mention(path, line_of(page, match.start())))
            if not pairing.possible:
                continue
            known = found.setdefault(name.lower().rstrip(".") if pattern is _HF_ID else name, [])
            if all((pairing.sure, pairing.possible) != (p.sure, p.possible) for p in known):
                known.append(pairing)


def _stated(text: bytes, spelled: dict[bytes, list[str]]) -> tuple[tuple[str, ...], bool]:
    """Return the registered architectures that a text names, and whether it names others as well."""
    words = {word[0] for word in _WORD.finditer(text)}
    named = [name for word in sorted(words) for name in spelled.get(word.lower(), ())]
    others = any(_ARCHITECTURE.fullmatch(word) and word.lower() not in spelled for word in words)
    return tuple(dict.fromkeys(named)), others
