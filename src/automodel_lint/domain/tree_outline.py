"""A module tree as a person reads it: repeated layers in one line, equal variants merged, conditions from here on.

The renderers of ``automodel-lint tree`` lay out what stands here and know nothing of how a tree is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from automodel_lint.domain.tree_conditions import Conditions, worded
from automodel_lint.domain.tree_marks import MarkedTree, Marks
from automodel_lint.inference.module_tree import Condition, ModuleNode, ModuleTree, Place, Tensor

MODULE = "module"
_CONTAINERS = ("ModuleList", "ModuleDict", "Sequential")


@dataclass
class Item:
    """One line of an outline: a module, parameter or buffer, in one variant that differs from its others.

    Attributes:
        name: the last part of its name; two parts for the members of a list (``layers.*``).
        fqn: the whole name.
        kind: ``module``, ``parameter`` or ``buffer``.
        type: the class of a module; empty for a tensor.
        condition: ``if …`` or ``else``, beyond what holds for the parent; empty if there is none.
        places: where it was written, path (as in findings) and line.
        notes: what else the source says about a tensor (``float32``, ``not saved``, ``frozen``).
        pin: ``strict`` or ``plain`` where a keep list holds the tensor, or one right in the module, in fp32.
        tied_to: the weight that it shares; for a module, that one of its own tensors shares.
        opaque: why a module could not be followed.
        shared: whether the module also hangs at another name.
    """

    name: str
    fqn: str
    kind: str
    places: list[tuple[str, int]]
    type: str = ""
    condition: str = ""
    shape: str | None = None
    notes: tuple[str, ...] = ()
    pin: str | None = None
    tied_to: str | None = None
    opaque: str | None = None
    shared: bool = False
    children: list[Item] = field(default_factory=list)

    @property
    def modules(self) -> list[Item]:
        """The children that are modules."""
        return [child for child in self.children if child.kind == MODULE]

    def where(self, shown: Mapping[str, str] | None = None) -> str:
        """Return its places as text, ``a.py:1, :2, b.py:3``; ``shown`` may have shorter forms of the paths."""
        texts, before = [], ""
        for path, line in self.places:
            texts.append(f":{line}" if path == before else f"{(shown or {}).get(path, path)}:{line}")
            before = path
        return ", ".join(texts)

    def walk(self) -> Iterator[Item]:
        """Yield this item and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Outline:
    """A module tree, ready to be shown.

    ``ties`` says when the marked weights are shared: ``always``, or ``config`` if the config decides.
    """

    architecture: str
    name: str
    root: Item
    tree: ModuleTree
    ties: str

    @property
    def counts(self) -> dict[str, int]:
        """The number of names by kind; the layers of a list count once."""
        tensors = {t.fqn: t.kind for t in self.tree.tensors}
        kinds = list(tensors.values())
        modules = len({node.fqn for node in self.tree.nodes()})
        return {MODULE: modules, "parameter": kinds.count("parameter"), "buffer": kinds.count("buffer")}

    @property
    def opaque(self) -> list[str]:
        """The names of the modules that could not be followed, each once."""
        return list(dict.fromkeys(node.fqn or self.name for node in self.tree.opaque))

    @property
    def registered(self) -> str:
        """``registered as X`` where the class has another name."""
        return f"registered as {self.architecture}" if self.architecture != self.name else ""

    @cached_property
    def tails(self) -> dict[str, str]:
        """Each path cut to its file and folder, and to more where another file of the tree ends like that."""
        paths = {path for item in self.root.walk() for path, _ in item.places}
        return {path: _tail(path, paths) for path in paths}


def _tail(path: str, paths: set[str]) -> str:
    parts = path.split("/")
    for count in range(2, len(parts)):
        tail = "/".join(parts[-count:])
        if not any(other != path and f"/{other}".endswith(f"/{tail}") for other in paths):
            return tail
    return path


def outlined(shown: MarkedTree) -> Outline:
    """Return the outline of a tree."""
    root = _Writer(shown.marks, shown.relative).module(shown.name, shown.tree.root, frozenset())
    root.type = ""
    root.places = [(shown.relative(shown.place.path), shown.place.line)]
    return Outline(shown.architecture, shown.name, root, shown.tree, shown.marks.when)


class _Writer:
    def __init__(self, marks: Marks, relative: Callable[[str], str]):
        self.marks, self.relative = marks, relative

    def module(self, name: str, node: ModuleNode, given: frozenset[Condition]) -> Item:
        """Return the item of a module; ``given`` is what holds for its parent."""
        inner = given | set(node.conditions)
        own = [(tensor.name, tensor) for tensor in node.tensors]
        pins = [self.marks.pins.get(tensor.fqn) for tensor in node.tensors]
        tied = (self.marks.ties.get(tensor.fqn) for tensor in node.tensors)
        return Item(
            name,
            node.fqn,
            MODULE,
            [self._place(node.place)],
            type=node.type_name,
            pin="strict" if "strict" in pins else "plain" if "plain" in pins else None,
            tied_to=next((source for source in tied if source), None),
            opaque=node.opaque,
            shared=node.shared,
            children=self._merged([*own, *_members(node.children)], inner),
        )

    def _tensor(self, name: str, tensor: Tensor) -> Item:
        notes = (
            tensor.dtype.name if tensor.dtype else "",
            "" if tensor.persistent else "not saved",
            "" if tensor.trainable or tensor.kind == "buffer" else "frozen",
        )
        return Item(
            name,
            tensor.fqn,
            tensor.kind,
            [self._place(tensor.place)],
            shape=tensor.shape,
            notes=tuple(note for note in notes if note),
            pin=self.marks.pins.get(tensor.fqn),
            tied_to=self.marks.ties.get(tensor.fqn),
        )

    def _place(self, place: Place) -> tuple[str, int]:
        return self.relative(place.path), place.line

    def _merged(self, found: list[tuple[str, ModuleNode | Tensor]], given: frozenset[Condition]) -> list[Item]:
        """Put the variants of one name together; those that look the same become one."""
        by_name: dict[str, list[tuple[Item, list[Conditions]]]] = {}
        for name, thing in found:
            item = self.module(name, thing, given) if isinstance(thing, ModuleNode) else self._tensor(name, thing)
            conditions = tuple(c for c in dict.fromkeys(thing.conditions) if c not in given)
            variants = by_name.setdefault(name, [])
            same = next((v for v in variants if _looks(v[0]) == _looks(item)), None)
            if same is None:
                variants.append((item, [conditions]))
            else:
                same[0].places += [place for place in item.places if place not in same[0].places]
                same[1].append(conditions)
        for variants in by_name.values():
            for (item, _), text in zip(variants, worded([alternatives for _, alternatives in variants]), strict=True):
                item.condition = text
        return [item for variants in by_name.values() for item, _ in variants]


def _members(children: Iterable[ModuleNode], prefix: str = "") -> Iterator[tuple[str, ModuleNode]]:
    """Yield modules with their names; a list whose members all have one pattern is left out for its members."""
    for child in children:
        repeated = child.type_name in _CONTAINERS and child.children and not child.tensors and child.opaque is None
        if repeated and all(member.name == "*" for member in child.children):
            yield from _members(child.children, f"{prefix}{child.name}.")
        else:
            yield prefix + child.name, child


def _looks(item: Item) -> tuple:
    """All of an item that a reader sees, but where it was written and when it is there."""
    own = (item.kind, item.type, item.shape, item.notes, item.opaque, item.shared)
    return (*own, tuple((child.name, child.condition, _looks(child)) for child in item.children))
