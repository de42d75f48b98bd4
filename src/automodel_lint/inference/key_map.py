"""What an adapter makes of the names in a state dict: plain data that rules and the tree command talk about.

Names are patterns, as in :mod:`.module_tree`: ``*`` stands for one index. A map is read by
:mod:`automodel_lint.inference.construction.conversion` and never runs anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from automodel_lint.inference.module_tree import Condition, Place


@dataclass(frozen=True)
class Image:
    """One set of names that comes out of a name, and what must hold of the config for it.

    ``spelled`` are the names with the numbers that stood for their indices.
    """

    names: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    spelled: tuple[str, ...] = ()


@dataclass(eq=False)
class Key:
    """What comes out of one name.

    Attributes:
        name: the name that goes in.
        images: what comes out: one image if that is decided, one for each side of the conditions on the config if the
            source leaves it to them, none if it could not be followed.
        reason: why it could not be followed.
        place: where the first of the new names is put together; ``None`` if the name stays as it is.
    """

    name: str
    images: tuple[Image, ...]
    reason: str | None = None
    place: Place | None = None

    @property
    def decided(self) -> bool:
        """Whether the source alone says what comes out."""
        return self.reason is None and len(self.images) == 1

    @property
    def followed(self) -> bool:
        """Whether every name that can come out is known."""
        return self.reason is None

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every name that can come out, whatever the config."""
        return tuple(dict.fromkeys(name for image in self.images for name in image.names))

    @property
    def dropped(self) -> bool:
        """Whether surely nothing comes out."""
        return self.decided and not self.images[0].names


@dataclass(eq=False)
class KeyMap:
    """What one direction of an adapter does with each name, and the names that it makes out of none, on no side.

    ``order`` has all that comes out, as spelled, in the order in which it does.
    """

    keys: dict[str, Key] = field(default_factory=dict)
    invented: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def followed(self) -> bool:
        """Whether all that comes out of every name is known."""
        return all(key.followed for key in self.keys.values())
