"""The values that symbolic construction works with."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.module_tree import Condition, Dtype, Place
from automodel_lint.inference.names import ClassEntity, Scope

if TYPE_CHECKING:
    from automodel_lint.inference.construction.frames import Frame

_SERIAL = count(1)


class Value:
    """Anything an expression can come out as."""

    __slots__ = ()


class Known(Value):
    """A Python value that the source decides: a literal, an enum member (as its dotted name).

    ``left_out`` is the call that left a dtype to this default.
    """

    __slots__ = ("left_out", "value")

    def __init__(self, value: Any, left_out: Place | None = None):
        self.value, self.left_out = value, left_out


class Index(int):
    """A number that stands for any index: a layer's, an expert's. What is computed with it is an index as well."""

    __slots__ = ()


class Count(Index):
    """How many there are of what an index stands for."""

    __slots__ = ()


# So big that no source writes it, and a name that has it is known again.
ANY_INDEX = 7_000_003


NONE = Known(None)
TRUE = Known(True)
FALSE = Known(False)


class Absent(Value):
    """No value: an attribute that one side of a branch does not set, or that was deleted."""

    __slots__ = ()


ABSENT = Absent()


class Unknown(Value):
    """A value that cannot be followed.

    ``module`` gives a reason if it may well be a module, ``called`` if what it gives when it is called may.
    """

    __slots__ = ("called", "module")

    def __init__(self, module: str | None = None, called: str | None = None):
        self.module, self.called = module, called


UNKNOWN = Unknown()


class Stored(Value):
    """A value with slots that can be written later on."""

    __slots__ = ("serial", "slots")

    def __init__(self) -> None:
        self.slots: dict[Any, Value] = {}
        self.serial = next(_SERIAL)


class Thing(Stored):
    """Something that only a config or a caller knows, by the expression it comes from.

    Attributes:
        cls: its class, if an annotation or the config's source says.
        pattern: what it is as a part of a name.
        guessed: whether its class is only the default of a config that admits any.
        outside: whether it is a config of a class that is named, but not at hand.
        given: whether it surely is something true (``x or 4``, a sub-config that is always made).
        made: whether code makes it, so that its constructor's defaults hold.
    """

    __slots__ = ("cls", "given", "guessed", "made", "outside", "pattern", "text")

    def __init__(self, text: str, cls: ClassEntity | None = None, pattern: str = "*"):
        super().__init__()
        self.text, self.cls, self.pattern = text, cls, pattern
        self.guessed = self.given = self.made = self.outside = False


class Test(Value):
    """An open truth value: the condition under which it is true, and what follows from either outcome."""

    __slots__ = ("condition", "if_false", "if_true")

    def __init__(self, condition: Condition, if_true: tuple[Condition, ...] = (), if_false: tuple[Condition, ...] = ()):
        self.condition, self.if_true, self.if_false = condition, if_true, if_false


class Obj(Stored):
    """An instance made during construction.

    Attributes:
        cls: its class, if the source is at hand.
        type_fqn: the dotted name of its class.
        is_module: whether it is an ``nn.Module``.
        place: the expression that makes it.
        buffers: for modules, the persistence of each registered buffer by name.
        hidden: names that hold a module or tensor without registering it.
        opaque: why it could not be followed.
        items: for ``ModuleList``, ``Sequential``, ``ModuleDict`` and their like, the container behind it.
        holds_parameters: whether tensors in the container are parameters (``ParameterList``, ``ParameterDict``).
    """

    __slots__ = ("buffers", "cls", "hidden", "holds_parameters", "is_module", "items", "opaque", "place", "type_fqn")

    def __init__(self, cls: ClassEntity | None, type_fqn: str, is_module: bool, place: Place):
        super().__init__()
        self.cls, self.type_fqn, self.is_module, self.place = cls, type_fqn, is_module, place
        self.buffers: dict[str, bool] = {}
        self.hidden: set[str] = set()
        self.opaque: str | None = None
        self.holds_parameters = False
        self.items: Seq | Map | None = None


class Seq(Stored):
    """A list or tuple: ``items`` known one by one, ``star`` those that a loop adds any number of.

    ``depth`` is the number of open loops around its making: what an inner loop adds is added again and again.
    """

    __slots__ = ("depth",)

    def __init__(self, items: Iterable[Value] = (), star: Iterable[Value] = (), depth: int = 0):
        super().__init__()
        self.slots["items"] = Row(tuple(items))
        self.slots["star"] = Row(tuple(star))
        self.depth = depth

    @property
    def items(self) -> tuple[Value, ...]:
        return self.slots["items"].values  # type: ignore[attr-defined]

    @property
    def star(self) -> tuple[Value, ...]:
        return self.slots["star"].values  # type: ignore[attr-defined]


class Row(Value):
    """The elements of a :class:`Seq` at one time."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Value, ...]):
        self.values = values


class Map(Stored):
    """A dict: known keys in ``slots``; keys that only a loop knows under their pattern (``*``, ``layer_*``)."""

    __slots__ = ()

    def __init__(self, entries: dict[Any, Value] | None = None):
        super().__init__()
        self.slots.update(entries or {})


class Filling(Map):
    """A ``defaultdict``: what is asked for and not there is made."""

    __slots__ = ("factory",)

    def __init__(self, factory: Value, entries: dict[Any, Value] | None = None):
        super().__init__(entries)
        self.factory = factory


class Pattern(str):
    """A key of a :class:`Map`, or an attribute name, of which only the pattern is known."""

    __slots__ = ()


@dataclass(eq=False)
class TensorValue(Value):
    """A tensor: what it is allocated with and where.

    ``role`` is empty, ``parameter`` or ``buffer``; ``wrapped`` tells an ``nn.Buffer``, which registers itself wherever
    it is assigned, from a tensor that was handed to ``register_buffer``. ``names`` are the names in a state dict of the
    tensors that it was made of, shared by all views of one storage; ``None`` where nobody follows them.
    """

    dtype: Dtype | None
    shape: str | None
    place: Place
    role: str = ""
    trainable: bool = True
    persistent: bool = True
    wrapped: bool = False
    origin: TensorValue | None = None  # the parameter that this one was got from by going over all of them
    names: set[str] | None = None
    serial: int = field(default_factory=lambda: next(_SERIAL))


@dataclass(eq=False)
class Callable_(Value):
    """A function or lambda: where its body is evaluated and what it is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: ClassEntity | None = None
    bound: Value | None = None
    closure: Frame | None = None
    fqn: str = ""
    defaults: dict[str, Value] = field(default_factory=dict)  # of a function made in a function: as they were then


@dataclass(eq=False)
class ClassValue(Value):
    """A class whose source is at hand."""

    cls: ClassEntity


@dataclass(eq=False)
class External_(Value):
    """A dotted name outside the source at hand: a library's function, class, module or constant.

    ``left_out`` is the call that left a parameter to this default.
    """

    fqn: str
    left_out: Place | None = None


@dataclass(eq=False)
class ModuleName(Value):
    """A Python module."""

    fqn: str


@dataclass(eq=False)
class Partial(Value):
    """``functools.partial`` and its like: a callable with some arguments given."""

    func: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(eq=False)
class Method(Value):
    """A method of a value that is not written in source at hand: ``list.append``, ``nn.Module.register_buffer``."""

    owner: Value
    name: str


@dataclass(eq=False)
class Spread(Value):
    """An argument ``*rows`` of which the elements are not known one by one."""

    values: tuple[Value, ...]


@dataclass(eq=False)
class Slots(Value):
    """``module._parameters`` and its like: what a module holds, as a dict."""

    owner: Obj
    name: str


@dataclass(eq=False)
class Super(Value):
    """``super()`` in a method of ``after``, for ``instance``."""

    instance: Value
    after: ClassEntity


@dataclass(eq=False)
class Choice(Value):
    """One of several values; each alternative with the conditions that lead to it."""

    alternatives: list[tuple[tuple[Condition, ...], Value]] = field(default_factory=list)


@dataclass(frozen=True)
class Member:
    """A definition as data: an enum member or another name that is only compared."""

    fqn: str
