"""The state-dict adapter of a registered class: what gives a model's tensors the names of a checkpoint, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.construction.conversion import (
    Converter,
    Given,
    common_shape,
    key_map,
    pattern,
    real,
    single_map,
)
from automodel_lint.inference.construction.heap import Conditions, merged
from automodel_lint.inference.construction.values import ABSENT, Choice, Obj, Value
from automodel_lint.inference.key_map import Image, Key, KeyMap
from automodel_lint.inference.module_tree import Condition, ModuleNode, Place, Tensor, matches
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass

_SAVING = ("state_dict", "_save_to_state_dict")  # what a module replaces that writes its own state dict
SINGLE = "convert_single_tensor_to_hf"
_MOST = 8  # adapters inside adapters
_FEW = 4  # names that depend on a condition, too few to look at its sides one by one
_MOST_WORLDS = 2  # conditions on the config whose sides are followed one by one


class Adapter:
    """An adapter that a registered class has under some conditions.

    Attributes:
        model: the registered class.
        made: the adapter as construction leaves it, its attributes set.
        conditions: what must hold for the class to have it; empty if it always has.
    """

    def __init__(self, model: ModelClass, made: Obj, conditions: tuple[Condition, ...]):
        self.model, self.made, self.conditions = model, made, conditions

    @property
    def entity(self) -> ClassEntity | None:
        """Its class, where the source is at hand."""
        return self.made.cls

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.made.type_fqn.rpartition(".")[2]

    @property
    def place(self) -> Place:
        """The call that makes it."""
        return self.made.place

    @cached_property
    def classes(self) -> tuple[ClassEntity, ...]:
        """Its class and those of the adapters that it holds and hands keys on to, each once."""
        found: dict[ClassEntity, None] = {}
        todo: list[Obj] = [self.made]
        while todo and len(found) < _MOST:
            made = todo.pop(0)
            if made.cls is not None and made.cls not in found:
                found[made.cls] = None
                todo.extend(
                    inner
                    for value in made.slots.values()
                    for _, inner in _singles(value)
                    if isinstance(inner, Obj) and inner.cls is not None and self._converts(inner.cls)
                )
        return tuple(found)

    def _converts(self, cls: ClassEntity) -> bool:
        return bool(self.model.classes.find(cls, "to_hf")[0])

    def method(self, name: str, cls: ClassEntity | None = None) -> MethodView | None:
        """Return the method that runs for ``name``, of the adapter or of one it holds, if its source is at hand."""
        receiver = cls or self.entity
        members, opaque = self.model.classes.find(receiver, name) if receiver is not None else ([], True)
        if opaque or not members or members[-1].function is None or receiver is None:
            return None
        return MethodView(self.model.classes, receiver, members[-1])

    # -- key maps -------------------------------------------------------------------------------------------------

    @cached_property
    def natives(self) -> dict[str, list[Tensor]]:
        """The names that the model's state dict can hold, as patterns, with their variants.

        What lies in a module that writes its own state dict is not among them: nobody knows what that calls it.
        """
        hidden = {id(t) for node in self.model.module_tree.nodes() if self._saves_itself(node) for t in _below(node)}
        found: dict[str, list[Tensor]] = {}
        for tensor in self.model.module_tree.tensors:
            if id(tensor) not in hidden:
                found.setdefault(tensor.fqn, []).append(tensor)
        return {name: variants for name, variants in found.items() if any(t.persistent for t in variants)}

    def _saves_itself(self, node: ModuleNode) -> bool:
        classes = self.model.classes
        return (
            bool(node.fqn)
            and node.cls is not None
            and any(classes.is_local(member.owner) for name in _SAVING for member in classes.find(node.cls, name)[0])
        )

    @cached_property
    def to_hf(self) -> KeyMap:
        """What ``to_hf``, called as for saving, makes of every name of the model."""
        return _by_name(self._map("to_hf", [_given(name, variants) for name, variants in self.natives.items()]))

    @cached_property
    def singly(self) -> KeyMap | None:
        """What ``convert_single_tensor_to_hf`` makes of every name; ``None`` if the adapter has no such method."""
        if self.method(SINGLE) is None:
            return None
        given = [_given(name, variants) for name, variants in self.natives.items()]
        return _by_name(self._map(SINGLE, given))

    @cached_property
    def from_hf(self) -> KeyMap:
        """What ``from_hf`` makes of every name that ``to_hf`` gives.

        Where these names depend on the config, both directions are followed on the same side of its conditions.
        """
        return _by_name(self._back)

    def follow(self, method: str, names: Iterable[str]) -> KeyMap:
        """Return what a direction makes of a state dict with other names, such as those of LoRA weights.

        Names are patterns; nothing is known of the tensors.
        """
        return _by_name(self._map(method, [Given(name) for name in names]))

    @cached_property
    def _back(self) -> KeyMap:
        made: dict[str, list[Key]] = {}
        invented: dict[str, None] = {}
        for world in _worlds(self.to_hf):
            given = [Given(pattern(n), tuple(when), spelled=n) for n, when in self._checkpoint(world).items()]
            found = self._map("from_hf", given, world)
            invented |= dict.fromkeys(found.invented)
            for name, key in found.keys.items():
                made.setdefault(name, []).append(key)
        return KeyMap({name: _together(keys) for name, keys in made.items()}, tuple(invented))

    def _checkpoint(self, world: Conditions) -> dict[str, list[Conditions]]:
        """The names in a checkpoint that ``to_hf`` writes on one side of some conditions, and when they are there."""
        names: dict[str, list[Conditions]] = {real(name): [()] for name in self.to_hf.invented}
        for key in self.to_hf.keys.values():
            sides = [image for image in key.images if merged(image.conditions, world) is not None]
            fullest = max(sides, key=lambda image: len(image.names), default=None)  # of those that are left
            for name in fullest.spelled if fullest else ():
                names.setdefault(name, []).extend(t.conditions for t in self.natives[key.name])
        at = {name: number for number, name in enumerate(self.to_hf.order)}
        return dict(sorted(names.items(), key=lambda item: at.get(item[0], -1)))  # the later of two wins

    def _map(self, method: str, given: list[Given], conditions: Conditions = ()) -> KeyMap:
        if method == SINGLE:
            return single_map(self._converter, self.made, method, given)
        return key_map(self._converter, self.made, method, given, conditions)

    @cached_property
    def _converter(self) -> Converter:
        return Converter(self.model.project.classes, self.model.project.torch_names)

    @cached_property
    def one_way(self) -> list[Key]:
        """The names of the model that come out of ``to_hf`` as something of which ``from_hf`` does not make them again.

        Both directions are followed for these. What is left out of a checkpoint on purpose is not among them.
        """
        return [key for key in self.to_hf.keys.values() if self.comes_back(key) is False]

    def comes_back(self, key: Key) -> bool | None:
        """Tell whether ``from_hf`` makes a name of the model of what ``to_hf`` makes of it, on every side.

        It is ``None`` if that is open, or if nothing comes out.
        """
        told = [self._returns(key, image) for image in key.images if image.names]
        if False in told:
            return False if key.followed else None
        return True if True in told else None

    def _returns(self, key: Key, image: Image) -> bool | None:
        back = [self._back.keys.get(name) for name in image.spelled]
        if any(k is not None and any(matches(n, key.name) for n in k.all_names) for k in back):
            return True
        return False if all(k is not None and k.followed for k in back) else None


def _below(node: ModuleNode) -> Iterator[Tensor]:
    for inner in node.walk():
        yield from inner.tensors


def _given(name: str, variants: list[Tensor]) -> Given:
    dtypes = {t.dtype.name if t.dtype else None for t in variants}
    return Given(
        name,
        tuple(t.conditions for t in variants),
        common_shape([t.shape for t in variants]),
        variants[0].dtype if len(dtypes) == 1 else None,
    )


def _worlds(found: KeyMap) -> list[Conditions]:
    """Return the sides of the conditions that the most names depend on, each of which is looked at by itself."""
    counts = Counter(text for k in found.keys.values() for text in {c.text for i in k.images for c in i.conditions})
    enough = max(_FEW, len(found.keys) // 10)
    texts = [text for text, count in counts.most_common(_MOST_WORLDS) if count >= enough]
    return [tuple(map(Condition, texts, sides)) for sides in product((True, False), repeat=len(texts))]


def _by_name(found: KeyMap) -> KeyMap:
    """A map by pattern: names that differ in nothing but the number for an index are one."""
    groups: dict[str, list[Key]] = {}
    for key in found.keys.values():
        groups.setdefault(key.name, []).append(key)
    return KeyMap({name: _together(keys) for name, keys in groups.items()}, found.invented, found.order)


def _together(keys: list[Key]) -> Key:
    """One name in several worlds, or of several tensors."""
    if len(keys) == 1:
        return keys[0]
    images = {i.names: i for k in keys for i in k.images}
    first = next((k for k in keys if k.reason), keys[0])
    return Key(first.name, tuple(images.values()), first.reason, first.place)


def adapters_of(model: ModelClass) -> tuple[Adapter, ...]:
    """Return the adapters that constructing a class can leave in its ``state_dict_adapter``."""
    found = _singles(model.module_tree.adapter)
    return tuple(Adapter(model, made, conditions) for conditions, made in found if isinstance(made, Obj))


def one_way(model: ModelClass) -> list[tuple[Adapter, Key]]:
    """Return the names of a class that one of its adapters renames and does not rename back, both surely."""
    return [(adapter, key) for adapter in model.adapters for key in adapter.one_way]


def has_unknown_adapter(model: ModelClass) -> bool:
    """Tell whether a class has, or may have, an adapter that cannot be followed."""
    return any(not isinstance(v, Obj) and _is_something(v) for _, v in _singles(model.module_tree.adapter))


def _is_something(value: Value) -> bool:
    return value is not ABSENT and getattr(value, "value", value) is not None


def _singles(value: Value) -> Iterator[tuple[tuple[Condition, ...], Value]]:
    yield from value.alternatives if isinstance(value, Choice) else [((), value)]
