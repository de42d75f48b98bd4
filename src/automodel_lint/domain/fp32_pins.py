"""What a registered class pins to fp32: its keep lists as its object has them, asked by the name of a tensor."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from automodel_lint.domain.keep_list import LISTS, PLAIN, STRICT, Listed, Pattern, may_match
from automodel_lint.domain.keep_list_reader import Reader
from automodel_lint.inference.classes import is_hf_model
from automodel_lint.inference.module_tree import ModuleNode
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass


class Pins:
    """The two keep lists of one class.

    Attributes:
        strict: what sharding and casting read.
        plain: what only casting reads.
    """

    def __init__(self, model: ModelClass):
        self.model = model
        self.classes = model.classes
        store = Reader(self.classes, model.values, model.entity).object_level()
        self.strict, self.plain = store.read(STRICT), store.read(PLAIN)

    @property
    def lists(self) -> dict[str, Listed]:
        """Both lists by their attribute."""
        return {STRICT: self.strict, PLAIN: self.plain}

    @property
    def complete(self) -> bool:
        """Whether every pattern is known, so that what no pattern matches is surely unpinned."""
        return self.strict.complete and self.plain.complete

    def strictly(self, fqn: str) -> bool:
        """Tell whether the strict list may cover a tensor."""
        return _covers(self.strict.patterns, fqn) or _covers(self._of_children[STRICT], fqn)

    def plainly(self, fqn: str) -> list[Pattern]:
        """Return the patterns of the plain list that may cover a tensor."""
        patterns = [*self.plain.patterns, *self._of_children[PLAIN]]
        return [p for p in patterns if may_match(p.text, fqn)]

    def covers(self, fqn: str) -> bool:
        """Tell whether a tensor may be pinned at all."""
        return self.strictly(fqn) or bool(self.plainly(fqn))

    @cached_property
    def _of_children(self) -> dict[str, list[Pattern]]:
        """What ``post_init`` of transformers collects: the lists of the child modules that are its models, too."""
        found: dict[str, list[Pattern]] = {attribute: [] for attribute in LISTS}
        if self.model.is_pretrained_model:
            self._collect(self.model.module_tree.root, found)
        return found

    def _collect(self, node: ModuleNode, found: dict[str, list[Pattern]]) -> None:
        for child in node.children:
            if child.cls is not None and any(is_hf_model(a) for a in self.classes.mro(child.cls)):
                store = Reader(self.classes, self.model.values, child.cls).object_level()
                for attribute in LISTS:
                    found[attribute] += store.read(attribute).patterns
                self._collect(child, found)

    # -- what the author wrote --------------------------------------------------------------------------------------

    def own(self, attribute: str) -> list[Pattern]:
        """Return the patterns of a list that stand in the class's own code."""
        listed = self.lists[attribute]
        return [p for p in listed.patterns if p.place.owner is self.model.entity]

    @cached_property
    def inherited(self) -> str | None:
        """How the class body writes the strict list that it inherits: ``AcmeBase._keep_in_fp32_modules_strict``.

        Empty if nothing is inherited; ``None`` if a constructor sets it, or no base of the class has it by a name.
        """
        entity, names = self.model.entity, self.model.names
        places = [p.place for p in self.strict.patterns] + [p for p in (self.strict.declared,) if p is not None]
        places = [place for place in places if place.owner is not entity]
        if any(place.method is not None for place in places):
            return None
        owners = {place.owner for place in places}
        for base in entity.node.bases if owners else ():
            found = [e for e in names.resolve(base, entity.scope) if isinstance(e, ClassEntity)]
            if isinstance(base, (ast.Name, ast.Attribute)) and any(owners & {*self.classes.mro(e)} for e in found):
                return f"{ast.unparse(base)}.{STRICT}"
        return None if owners else ""


def _covers(patterns: list[Pattern], fqn: str) -> bool:
    return any(may_match(p.text, fqn) for p in patterns)
