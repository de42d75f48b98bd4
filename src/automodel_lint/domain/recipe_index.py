"""Which recipe trains which registered class, as far as recipes and coverage pages say so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from automodel_lint.domain.coverage_docs import CoverageDocs
from automodel_lint.domain.families import Families, stem
from automodel_lint.domain.mentions import Mention
from automodel_lint.domain.plan import Registration
from automodel_lint.source import SourceTree

if TYPE_CHECKING:
    from automodel_lint.domain.recipe_subject import Subject

FACT = "recipes of "
BY_TARGET, BY_PAGE, BY_FOLDER, ALIKE = "target", "page", "folder", "alike"
_GENERATIVE = re.compile(r"NeMoAutoModelFor(?:CausalLM|ImageTextToText|MultimodalLM)\b")
_MULTIMODAL = re.compile(r"NeMoAutoModelFor(?:ImageTextToText|MultimodalLM)\b")
_HEADLESS = re.compile(r"(?:Model|ForSequenceClassification)$")  # an architecture that generates nothing


@dataclass(frozen=True)
class Use:
    """That a recipe trains a class, or may: the recipe and the line that says so, and the axes that it sets.

    ``how`` is :data:`BY_TARGET` (a ``_target_`` names the class or its config), :data:`BY_PAGE` (a coverage page states
    the checkpoint, or links the recipe) or :data:`BY_FOLDER` (it lies in a folder that is called after a model package,
    as the onboarding guide wants it). :data:`ALIKE` is a recipe that nothing attributes and that has a word of the
    package's name: it is evidence of nothing but doubt. ``axes`` has the sizes above 1, of ``tp``, ``cp``, ``pp`` and
    ``ep``.
    """

    place: Mention
    how: str
    axes: tuple[tuple[str, int], ...] = ()

    def sets(self, axis: str) -> int | None:
        """Return the size above 1 that the recipe gives an axis, ``None`` if it gives none."""
        return dict(self.axes).get(axis)


@dataclass
class RecipeIndex:
    """The recipes by architecture: those that surely train its class, and those that may.

    ``of`` maps the relative path of each attributed recipe to the architectures of its class and how that is known.
    """

    is_there: bool = False
    sure: dict[str, list[Use]] = field(default_factory=dict)
    possible: dict[str, list[Use]] = field(default_factory=dict)
    of: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` takes."""
        sure, possible = (
            {name: [[u.place.path, u.place.line, u.how, u.axes] for u in uses] for name, uses in part.items()}
            for part in (self.sure, self.possible)
        )
        return {"is_there": self.is_there, "sure": sure, "possible": possible, "of": self.of}

    @classmethod
    def from_json(cls, data: dict[str, Any], tree: SourceTree) -> RecipeIndex:
        """Inverse of :meth:`to_json`; makes each architecture's and each recipe's part known to ``tree`` as a fact."""
        tree.publish(f"{FACT}*", repr(data["is_there"]))
        parts = []
        for name in ("sure", "possible"):
            part = {
                arch: [Use(Mention(path, line), how, tuple((a, n) for a, n in axes)) for path, line, how, axes in uses]
                for arch, uses in data[name].items()
            }
            parts.append(part)
        for arch in {*parts[0], *parts[1]}:
            uses = [[(u.place.path, u.how, u.axes) for u in part.get(arch, ())] for part in parts]
            tree.publish(f"{FACT}{arch}", repr(uses))  # a line decides nothing
        of = {path: (tuple(archs), how) for path, (archs, how) in data["of"].items()}
        for path, classes in of.items():
            tree.publish(f"{FACT}{path}", repr(classes))
        return cls(data["is_there"], *parts, of)


def attributed(subjects: Iterable[Subject], docs: CoverageDocs, registrations: Iterable[Registration]) -> RecipeIndex:
    """Attribute recipes to the registered classes."""
    entries = list(registrations)
    attribution = _Attribution(docs, entries)
    index = RecipeIndex()
    for subject in subjects:
        index.is_there = True
        group, how, possible = attribution.of(subject)
        place = Mention(subject.path, subject.line)
        for name in group:
            index.sure.setdefault(name, []).append(Use(place, how, subject.axes))
        if group:
            index.of[subject.path] = group, how
        for name in possible:
            if name not in group:
                index.possible.setdefault(name, []).append(Use(place, BY_PAGE, subject.axes))
        if subject.axes and subject.is_ours and not group:
            for name in attribution.alike(subject) - possible:
                index.possible.setdefault(name, []).append(Use(place, ALIKE, subject.axes))
    return index


class _Attribution:
    """What is known of the registered architectures, by which a recipe's model is told."""

    def __init__(self, docs: CoverageDocs, entries: list[Registration]):
        self.docs, self.entries = docs, entries
        self.families = Families(entries)
        self.folders = {e.key: e.module.partition(".models.")[2].partition(".")[0] for e in entries}
        self.groups: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            alike = [e.key for e in entries if (e.module, e.cls) == (entry.module, entry.cls)]
            self.groups[entry.key] = tuple(dict.fromkeys(alike))

    def of(self, subject: Subject) -> tuple[tuple[str, ...], str, set[str]]:
        """Return the architectures of the class that a recipe trains, how that is known, and all that it may be."""
        by_id = self.docs.ids.get((subject.checkpoint or "").lower(), [])
        by_link = self.docs.recipes.get(subject.path, [])
        targeted = {name for text in subject.targets for name in self._targeted(text)}
        in_file, in_id = self.families.named(subject.file), self.families.named(subject.checkpoint or "")
        folder = self.families.named(subject.path)
        possible = {n for p in (*by_id, *by_link) for n in p.possible} | {*targeted, *in_file, *in_id, *folder}
        possible = {member for name in possible for member in self.groups[name]}
        if not subject.is_ours:
            return (), "", set()
        group = self._one(targeted, subject)
        if group:
            return group, BY_TARGET, possible
        pairings, told = (by_id, [in_file]) if by_id else (by_link, [in_file, in_id])
        alone = [p.sure for p in pairings if len({self.groups[name] for name in p.sure}) == 1]
        group = self._one({name for sure in alone or [p.sure for p in pairings] for name in sure}, subject)
        if any(names and not {*group} & {*names} for names in told):
            group = ()
        if group:
            return group, BY_PAGE, possible
        return self._of_folder(subject, {name for p in pairings for name in p.possible}), BY_FOLDER, possible

    def _of_folder(self, subject: Subject, stated: set[str]) -> tuple[str, ...]:
        """The only class of the package that the recipe's folder is called after; none if a page says otherwise."""
        folder = os.path.basename(os.path.dirname(subject.path))
        if _first_word(folder) not in f"{subject.file} {subject.checkpoint}".lower():  # a guest there
            return ()
        names = [key for key, package in self.folders.items() if package == folder]
        if any(_MULTIMODAL.search(text) for text in subject.targets):
            names = [name for name in names if not name.endswith("ForCausalLM")]
        group = self._one(names, subject)
        return group if group and (not stated or stated & {*group}) else ()

    def alike(self, subject: Subject) -> set[str]:
        """Return the architectures whose package begins with a word that a recipe's path or checkpoint has."""
        text = f"{subject.path} {subject.checkpoint}".lower()
        return {key for key, folder in self.folders.items() if folder and _first_word(folder) in text}

    def _one(self, names: Iterable[str], subject: Subject) -> tuple[str, ...]:
        """The only class among some architectures; nothing if it is open.

        A loader of generative models leaves out what generates nothing. It does not tell the others apart: which class
        it makes is in the checkpoint.
        """
        groups = {self.groups[name] for name in names}
        if len(groups) > 1 and any(_GENERATIVE.search(text) for text in subject.targets):
            groups = {group for group in groups if not all(_HEADLESS.search(name) for name in group)}
        return next(iter(groups)) if len(groups) == 1 else ()

    def _targeted(self, text: str) -> Iterator[str]:
        """The architectures whose class, or the config of whose class, a ``_target_`` names."""
        parts = text.split(".")
        if len(parts) > 1 and parts[-1] in ("from_pretrained", "from_config"):
            parts.pop()
        module, name = parts[:-1], parts[-1]
        package = module[module.index("models") + 1] if "models" in module[:-1] else None
        if name.endswith("Config"):
            wanted = stem(f"{name.removesuffix('Config')}Model")
            exact = [e.key for e in self.entries if stem(e.key) == wanted]
            ours = [e.key for e in self.entries if package is not None and f".models.{package}." in f"{e.module}."]
            yield from exact or (ours if len({self.groups[key] for key in ours}) == 1 else ())
        elif package is not None:
            yield from (e.key for e in self.entries if e.cls == name and f".models.{package}." in f"{e.module}.")


def _first_word(package: str) -> str:
    """``qwen`` of ``qwen3_5_moe``: what all models of a maker are called."""
    return re.split(r"[\d_]", package)[0]
