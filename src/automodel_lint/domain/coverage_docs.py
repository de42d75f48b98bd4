"""The pages under ``docs/model-coverage/``: which architectures they name, by themselves or by their family."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.domain.beside import Mention, files_below, folder_beside, line_of
from automodel_lint.domain.checkout import Checkout
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
_TASK = re.compile(r"_*(?:For[A-Z]\w*|Bidirectional\w*|\w*LMHeadModel|Model)$")
_HF_ID = re.compile(rb"huggingface\.co/([\w.-]+/[\w.-]+)|`([\w.-]+/[\w.-]+)`")
_RECIPE = re.compile(rb"(?<![\w.-])examples/[\w./-]+\.ya?ml")
_NO_MODEL = (b"datasets/", b"docs/", b"collections/", b"papers/", b"spaces/", b"blog/")


@dataclass
class CoverageDocs:
    """What the pages say.

    ``architectures`` maps each registered architecture to the place that names it best (by itself rather than by its
    family, on a page of its own rather than in a list of many), ``ids`` and ``recipes`` each
    Hugging Face id (in lower case) and each recipe (relative path) on a page to the architectures that the page is
    about, with the place. ``is_there`` tells whether the checkout has such pages at all.
    """

    is_there: bool = False
    architectures: dict[str, Mention] = field(default_factory=dict)
    ids: dict[str, list[tuple[tuple[str, ...], Mention]]] = field(default_factory=dict)
    recipes: dict[str, list[tuple[tuple[str, ...], Mention]]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        return {
            "is_there": self.is_there,
            "architectures": {name: [m.path, m.line] for name, m in self.architectures.items()},
            "ids": {name: [[list(a), m.path, m.line] for a, m in found] for name, found in self.ids.items()},
            "recipes": {name: [[list(a), m.path, m.line] for a, m in found] for name, found in self.recipes.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], tree: SourceTree) -> CoverageDocs:
        """Inverse of :meth:`to_json`; makes what is known of each architecture known to ``tree`` as a fact."""
        tree.publish(f"{FACT}*", repr(data["is_there"]))
        tree.publish(f"{FACT}ids", repr([data["ids"], data["recipes"]]))
        for name in data["architectures"]:
            tree.publish(f"{FACT}{name}", "named")
        return cls(
            data["is_there"],
            {name: Mention(*place) for name, place in data["architectures"].items()},
            *(
                {n: [(tuple(a), Mention(p, line)) for a, p, line in found] for n, found in data[part].items()}
                for part in ("ids", "recipes")
            ),
        )


def read_docs(checkout: Checkout, tree: SourceTree, registrations: Iterable[Registration]) -> CoverageDocs:
    """Look through the coverage pages for the registered architectures."""
    folder = folder_beside(checkout, tree, "docs", "model-coverage")
    if folder is None:
        return CoverageDocs()
    docs = CoverageDocs(is_there=True)
    families, spelled = _Families(registrations), _spelled(registrations)
    ranked: dict[str, tuple[tuple[int, int], Mention]] = {}
    for path in files_below(tree, folder, (".md", ".mdx")):
        page, relative = _hand_written(tree.read(path) or b""), tree.relative(path)
        listed, titled = families.listed(page), families.named(os.path.relpath(path, folder))
        own = families.members.get(_plain(os.path.splitext(os.path.basename(path))[0]), ())
        named: dict[str, int] = {}
        for word in _WORD.finditer(page):
            for architecture in spelled.get(word[0].lower(), ()):
                named.setdefault(architecture, word.start())
        for architecture, offset in {**dict.fromkeys(titled, 0), **listed, **named}.items():
            about = 0 if architecture in own else 1 if architecture in titled else 2
            rank = (3 * (architecture not in named) + about, len(listed.keys() | named.keys()))
            if architecture not in ranked or rank < ranked[architecture][0]:
                ranked[architecture] = rank, Mention(relative, line_of(page, offset))
        _attribute(docs, page, relative, tuple(named))
    docs.architectures = {name: place for name, (_, place) in ranked.items()}
    return docs


def _hand_written(data: bytes) -> bytes:
    """A page without what a tool writes into it and without comments, every line where it was."""

    def blank(match: re.Match[bytes]) -> bytes:
        return re.sub(rb"[^\n]", b" ", match[0])

    return _COMMENT.sub(blank, _GENERATED.sub(blank, data))


def _spelled(registrations: Iterable[Registration]) -> dict[bytes, list[str]]:
    """The words that name an architecture: itself, and its class; the case differs between the Hub and the registry."""
    found: dict[bytes, list[str]] = {}
    for entry in registrations:
        for word in {entry.key, entry.cls.rpartition(".")[2]} - {""}:
            found.setdefault(word.lower().encode(), []).append(entry.key)
    return found


def _attribute(docs: CoverageDocs, page: bytes, path: str, architectures: tuple[str, ...]) -> None:
    """Take down the checkpoints and recipes of a page that names its architectures."""
    if not architectures:
        return
    for match in _HF_ID.finditer(page):
        name = match[1] or match[2]
        if not name.startswith(_NO_MODEL) and not name.endswith((b".yaml", b".yml", b".md", b".mdx", b".py")):
            place = Mention(path, line_of(page, match.start()))
            docs.ids.setdefault(name.decode().lower().rstrip("."), []).append((architectures, place))
    for match in _RECIPE.finditer(page):
        place = Mention(path, line_of(page, match.start()))
        docs.recipes.setdefault(match[0].decode(), []).append((architectures, place))


class _Families:
    """The families of the registered architectures: their names without the task, and those of their packages."""

    def __init__(self, registrations: Iterable[Registration]):
        self.members: dict[str, list[str]] = {}
        for entry in registrations:
            module = entry.module.split(".")
            package = module[module.index("models") + 1] if "models" in module[:-1] else ""
            for name in {_plain(_TASK.sub("", entry.key)), _plain(package)} - {""}:
                self.members.setdefault(name, []).append(entry.key)
        longest_first = sorted(self.members, key=len, reverse=True)
        spelled = "|".join(r"[ ._-]?".join(map(re.escape, name)) for name in longest_first)
        # A family that ends in a number is another one where the number goes on: Qwen3 is not Qwen3.5. What a slash
        # follows is an organisation, or a folder.
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{spelled})(?![A-Za-z0-9/]|(?<=\d)[._]\d)".encode(), re.I)

    def listed(self, page: bytes) -> dict[str, int]:
        """Return the architectures whose family a page lists, each with the offset of the line."""
        found: dict[str, int] = {}
        for line in _LISTING.finditer(page):
            for architecture in self.named(line[0]):
                found.setdefault(architecture, line.start())
        return found

    def named(self, text: bytes | str) -> list[str]:
        """Return the architectures whose family a text names."""
        data = text if isinstance(text, bytes) else text.encode()
        matches = self._pattern.finditer(data) if self.members else ()
        return [name for match in matches for name in self.members[_plain(match[0].decode())]]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
