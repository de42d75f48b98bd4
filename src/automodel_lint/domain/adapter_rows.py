"""An adapter's key map as a person reads it: each native name, what it is called in a checkpoint, and where it gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from automodel_lint.domain.adapter import Adapter, has_unknown_adapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.reference import unread_names
from automodel_lint.domain.tree_conditions import worded
from automodel_lint.inference.key_map import Image, Key
from automodel_lint.inference.module_tree import Condition, Place

NONE, UNKNOWN = "it has no state-dict adapter", "its adapter cannot be followed"


@dataclass
class Row:
    """One native name.

    Attributes:
        native: the name in the model's state dict.
        sides: what comes out of it, each with its condition in words (empty if there is none).
        reason: why it could not be followed; ``None`` if it was.
        back: whether ``from_hf`` makes it again of what comes out; ``None`` if that is not decided, or nothing comes.
        place: where its new name is put together, or the method that hands it on.
        unread: those of the new names that have a part which transformers' own model of the architecture does not
            know, nor what it renames on loading.
    """

    native: str
    sides: list[tuple[str, tuple[str, ...]]]
    reason: str | None
    back: bool | None
    place: Place
    unread: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether the source alone says what comes out."""
        return self.reason is None and len(self.sides) == 1

    @property
    def hf(self) -> list[str]:
        """Every name that can come out."""
        return list(dict.fromkeys(name for _, names in self.sides for name in names))

    @property
    def unchanged(self) -> bool:
        """Whether the name stays as it is."""
        return self.decided and self.hf == [self.native]

    @property
    def dropped(self) -> bool:
        """Whether surely nothing comes out."""
        return self.decided and not self.hf


@dataclass
class AdapterRows:
    """The adapter of a registered class, ready to be shown.

    ``why`` says why there are no rows; ``others`` are the adapters that the class has under other conditions.
    """

    architecture: str
    model: str
    defined: Place
    relative: Callable[[str], str]
    name: str = ""
    place: Place | None = None
    condition: str = ""
    rows: list[Row] = field(default_factory=list)
    invented: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    complete: bool = True
    why: str | None = None


def adapter_rows(architecture: str, model: ModelClass) -> AdapterRows:
    """Return what the adapter of a class does with every name of its tree."""
    made = AdapterRows(architecture, model.name, Place(model.path, model.entity.node), model.project.tree.relative)
    made.complete = model.module_tree.complete
    if not model.adapters:
        made.why = UNKNOWN if has_unknown_adapter(model) else NONE
        return made
    adapter = model.adapters[0]
    made.name, made.others = adapter.name, tuple(a.name for a in model.adapters[1:])
    entity = adapter.entity
    made.place = Place(entity.module.path, entity.node) if entity is not None else adapter.place
    made.condition = worded([[adapter.conditions]])[0]
    unread: dict[str, dict[str, None]] = {}
    for key, name, _ in unread_names(model, adapter.to_hf):
        unread.setdefault(key.name, {})[name] = None
    made.rows = [_row(adapter, key, made.place, tuple(unread.get(key.name, ()))) for key in adapter.to_hf.keys.values()]
    made.invented = adapter.to_hf.invented
    return made


def _row(adapter: Adapter, key: Key, fallback: Place, unread: tuple[str, ...]) -> Row:
    method = adapter.method("to_hf")
    handed = Place(method.owner.module.path, method.node) if method is not None else fallback
    return Row(key.name, _sides(key.images), key.reason, adapter.comes_back(key), key.place or handed, unread)


def _sides(images: tuple[Image, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """The sets of names that come out, each once, with its conditions in words."""
    groups: dict[tuple[str, ...], list[tuple[Condition, ...]]] = {}
    for image in images:
        groups.setdefault(image.names, []).append(image.conditions)
    return list(zip(worded(list(groups.values())), groups, strict=True))
