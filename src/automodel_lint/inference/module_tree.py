"""The symbolic module tree of a class: every submodule, parameter and buffer that constructing it can produce.

Names are patterns: ``*`` stands for one layer index, expert index or key (``model.layers.*.mlp.gate.weight``). What
construction does only under a condition keeps the condition; what could not be followed is an opaque node, and a tree
with one is not complete. The tree is built by :mod:`automodel_lint.inference.construction` and never runs anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from automodel_lint.inference.names import ClassEntity

PARAMETER = "parameter"
BUFFER = "buffer"


class Condition(NamedTuple):
    """A test that the source leaves open, as written over the config, and how it must come out."""

    text: str
    holds: bool = True

    def __str__(self) -> str:
        return self.text if self.holds else f"not ({self.text})"


@dataclass(eq=False)
class Place:
    """Where something was written: a file (absolute path) and the node in it."""

    path: str
    node: ast.AST

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 1)


@dataclass(frozen=True)
class Dtype:
    """The dtype that a tensor is allocated with, as far as the source says.

    ``name`` is a torch dtype (``float32``, ``bfloat16``, ``int64``, …) or the config expression it comes from
    (``config.torch_dtype``). ``how`` says by what it was given: ``dtype`` (an argument), ``to``
    (``.to(torch.float32)``), ``float`` (``.float()``, ``.half()``, …), or ``default``: nobody gave it, it is the
    default of a factory's or a layer's parameter, and ``place`` is the call that left it out.
    """

    name: str
    how: str = "dtype"
    place: Place | None = None

    @property
    def is_fp32(self) -> bool:
        """Whether the tensor is surely single precision."""
        return self.name == "float32"

    @property
    def is_fixed(self) -> bool:
        """Whether the source writes a dtype down, so that the config's does not matter."""
        return "." not in self.name and " " not in self.name


@dataclass(eq=False)
class Tensor:
    """A parameter or buffer in one of the variants that the source allows.

    Two tensors of one tree may have the same ``fqn``: one for each side of a conditional.

    Attributes:
        fqn: the name in the state dict, a pattern.
        kind: ``parameter`` or ``buffer``.
        module: the node that holds it.
        conditions: all that must hold for it to be there; empty if it always is.
        dtype: what it is allocated with; ``None`` if the source leaves that to torch's default.
        shape: as written, over the config (``[config.vocab_size, config.hidden_size]``); ``None`` if unknown.
        place: where it is created.
        persistent: whether the state dict holds it (a buffer may say no).
        trainable: ``False`` where the source says ``requires_grad=False``.
    """

    fqn: str
    kind: str
    module: ModuleNode
    conditions: tuple[Condition, ...]
    dtype: Dtype | None
    shape: str | None
    place: Place
    persistent: bool = True
    trainable: bool = True

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.fqn.rpartition(".")[2]


@dataclass(eq=False)
class ModuleNode:
    """A module of the tree in one variant. Two children of one name are the two sides of a conditional.

    Attributes:
        fqn: its name below the root, a pattern; empty for the root.
        cls: its class, where the source is at hand.
        type_fqn: the dotted name of its class, at hand or not (``torch.nn.Linear``).
        conditions: all that must hold for it to be there, from the root down.
        place: the expression that constructs it.
        opaque: why it could not be followed, ``None`` if it was.
        shared: whether the same module also hangs at another name that was met before.
    """

    fqn: str
    cls: ClassEntity | None
    type_fqn: str
    conditions: tuple[Condition, ...]
    place: Place
    children: list[ModuleNode] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    opaque: str | None = None
    shared: bool = False

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.fqn.rpartition(".")[2]

    @property
    def type_name(self) -> str:
        """The name of the class."""
        return self.type_fqn.rpartition(".")[2]

    def walk(self) -> Iterator[ModuleNode]:
        """Yield this node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def child(self, path: str) -> list[ModuleNode]:
        """Return the variants of the node at a dotted path below this one."""
        found = [self]
        for part in path.split(".") if path else ():
            found = [c for node in found for c in node.children if part_matches(c.name, part)]
        return found


@dataclass(eq=False)
class Built:
    """A plain object that construction makes (a ``MoEConfig``, a ``BackendConfig``).

    ``fields`` holds what was passed, by field name: a Python value where the source writes a literal, else a
    :class:`Symbol`. ``owner`` is the class whose method makes it, ``None`` in a function.
    """

    cls: ClassEntity
    fields: dict[str, Any]
    conditions: tuple[Condition, ...]
    place: Place
    owner: ClassEntity | None


@dataclass(frozen=True)
class Symbol:
    """A value that only a config or a caller knows, by the expression it comes from (``config.hidden_size``)."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class ModuleTree:
    """All that constructing one class can produce.

    ``unsettled`` are config fields that the source reads only with a default, of a config whose class is not at hand:
    nobody can tell whether they are fields at all. ``adapter`` is what construction leaves in ``state_dict_adapter``,
    as the interpreter has it.
    """

    root: ModuleNode
    built: list[Built] = field(default_factory=list)
    unsettled: frozenset[str] = frozenset()
    adapter: Any = None

    def nodes(self) -> Iterator[ModuleNode]:
        """Yield every module, the root first; both sides of a conditional."""
        return self.root.walk()

    @cached_property
    def tensors(self) -> list[Tensor]:
        """Every parameter and buffer in every variant, in the order of construction."""
        return [tensor for node in self.nodes() for tensor in node.tensors]

    @cached_property
    def by_fqn(self) -> dict[str, list[Tensor]]:
        """The variants of each tensor by its name."""
        found: dict[str, list[Tensor]] = {}
        for tensor in self.tensors:
            found.setdefault(tensor.fqn, []).append(tensor)
        return found

    @cached_property
    def opaque(self) -> list[ModuleNode]:
        """The nodes that could not be followed."""
        return [node for node in self.nodes() if node.opaque is not None]

    @property
    def complete(self) -> bool:
        """Whether every name that the class can have is in the tree."""
        return not self.opaque

    @cached_property
    def classes(self) -> list[ClassEntity]:
        """The classes of all modules whose source is at hand, each once."""
        return list(dict.fromkeys(node.cls for node in self.nodes() if node.cls is not None))

    def is_conditional(self, fqn: str) -> bool:
        """Tell whether a tensor is there only under a condition (both sides of one together make it unconditional)."""
        return not always([tensor.conditions for tensor in self.by_fqn.get(fqn, ())])

    def is_settled(self, conditions: tuple[Condition, ...]) -> bool:
        """Tell whether conditions are open by the config alone, so that what stands under them surely is possible."""
        texts = [condition.text for condition in conditions]
        return not any(re.search(rf"{re.escape(field)}\b", text) for field in self.unsettled for text in texts)

    def find(self, name: str) -> list[Tensor]:
        """Return the variants of the tensors that a name, real or a pattern, may stand for."""
        return [t for fqn, variants in self.by_fqn.items() if matches(fqn, name) for t in variants]


# -- names as patterns --------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", r"[^.]*"))


def matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern of the tree matches a name; the name may have ``*`` for an index, too."""
    if pattern == name or _compiled(pattern).fullmatch(name):
        return True
    return "*" in name and _compiled(name).fullmatch(pattern) is not None


def part_matches(pattern: str, part: str) -> bool:
    """Tell whether one segment of a pattern matches one segment of a name."""
    return matches(pattern, part)


def always(alternatives: list[tuple[Condition, ...]]) -> bool:
    """Tell whether one of the alternatives holds whatever the conditions come out as."""
    if not alternatives:
        return False
    if any(not conditions for conditions in alternatives):
        return True
    texts = [condition.text for conditions in alternatives for condition in conditions]
    text = max(texts, key=texts.count)
    for side in (True, False):
        rest = [
            tuple(c for c in conditions if c.text != text)
            for conditions in alternatives
            if Condition(text, not side) not in conditions
        ]
        if not always(rest):
            return False
    return True
