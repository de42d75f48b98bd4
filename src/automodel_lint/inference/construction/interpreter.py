"""The interpreter as a whole, and what all its parts ask about classes and libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from automodel_lint.inference.classes import Ancestor, Classes, is_hf_model
from automodel_lint.inference.construction.attempts import Raised
from automodel_lint.inference.construction.calls import Calls
from automodel_lint.inference.construction.containers import Containers
from automodel_lint.inference.construction.expressions import Expressions
from automodel_lint.inference.construction.globals import Globals
from automodel_lint.inference.construction.heap import Heap
from automodel_lint.inference.construction.hf import HuggingFace
from automodel_lint.inference.construction.instances import Instances
from automodel_lint.inference.construction.loops import Loops
from automodel_lint.inference.construction.reductions import Reductions
from automodel_lint.inference.construction.statements import Statements
from automodel_lint.inference.construction.texts import Texts
from automodel_lint.inference.construction.values import UNKNOWN, Choice, Obj, Thing, Value
from automodel_lint.inference.module_tree import Condition, Place
from automodel_lint.inference.names import ClassEntity, External, Names

_STEPS = 100_000  # calls and statements for one class; real ones take a few thousand
_UNROLLED = 16  # elements that a loop over plain data is written out for
# Packages whose functions and classes are no modules: the standard library's, numeric ones, torch beside ``torch.nn``.
_HARMLESS = frozenset(
    "torch numpy math os sys re logging warnings typing collections functools itertools copy json contextlib "
    "dataclasses enum abc importlib inspect packaging einops triton safetensors huggingface_hub accelerate "
    "PIL operator types weakref time random threading pathlib torchvision torchaudio scipy".split()
)


# What transformers calls things that are no modules.
_NO_MODULES = ("Config", "Mixin", "Output", "OutputWithPast", "Cache", "Processor", "Tokenizer", "Base", "Arguments")


class TooLong(Exception):
    """Construction did not come to an end within the bound."""


class Interpreter:
    """Symbolic construction over one source tree; each instance has a heap of its own."""

    converting = False  # whether it follows a state dict through an adapter
    unrolled = _UNROLLED

    def __init__(self, classes: Classes, torch_names: Names, assumed: frozenset[str] = frozenset()):
        self.classes = classes
        self.names = classes.names
        self.torch_names = torch_names
        self.heap = Heap()
        self.depth = 0  # open loops that run any number of times
        self.left_early = False  # whether the outermost constructor returns before its end, whatever the config
        self.site: Place | None = None  # the call in a method that led into a factory: what it makes is written there
        self.calling: Place | None = None  # the call that is being made
        self.stack: list[int] = []  # functions under way
        self.making: list[ClassEntity] = []  # classes under construction
        self.constructing: list[Obj] = []  # the objects that these are
        self.built: list[tuple[Obj, tuple[Condition, ...], ClassEntity | None]] = []
        self.read_plainly: set[str] = set()  # config fields without a default: they must be there
        self.assumed = assumed  # fields that are taken to have their default
        self.unsettled: set[str] = set()  # fields with a default, of configs whose class is not at hand
        self.steps = 0
        self.overwritten: set[str] = set()  # names of tensors whose place in a dict another one has taken
        self.trying: list[int] = []  # for each ``try`` under way, how many conditions were open where it began
        self._orders: dict[ClassEntity, tuple[Ancestor, ...]] = {}
        self._module_classes: dict[ClassEntity, bool] = {}
        self._tables: dict[tuple[str, str], dict[str, str]] = {}
        self.globals = Globals(self)
        self.hf = HuggingFace(self)
        self.instances = Instances(self)
        self.containers = Containers(self)
        self.loops = Loops(self)
        self.calls = Calls(self)
        self.expressions = Expressions(self)
        self.texts = Texts(self)
        self.reductions = Reductions(self)
        self.statements = Statements(self)

    def step(self) -> None:
        """Count one step; raises :class:`TooLong` beyond the bound."""
        self.steps += 1
        if self.steps > _STEPS:
            raise TooLong

    def distributed(self, values: Sequence[Value], function: Callable[[list[Value]], Value]) -> Value:
        """Apply a function of single values; construction hands it a choice as it is, which it takes as unknown."""
        return function(list(values))

    def fails(self, error: Exception) -> Value:
        """Say that something surely raises: it leaves the ``try`` around it, where there is one, or is not known."""
        if self.converting and self.trying and len(self.heap.conditions) == self.trying[-1]:
            raise Raised(error)
        return UNKNOWN

    def any_index(self) -> Value:
        """Return what stands for an index of which nothing is known."""
        return Thing("")

    def note_text(self, text: str, place: Place) -> None:
        """Hear that a text was put together somewhere."""

    def mro(self, cls: ClassEntity) -> tuple[Ancestor, ...]:
        """Return the method resolution order of a class."""
        known = self._orders.get(cls)
        if known is None:
            known = self._orders[cls] = self.classes.mro(cls)
        return known

    def is_module_class(self, cls: ClassEntity) -> bool:
        """Tell whether a class is an ``nn.Module``, or may be one by a base that nobody knows."""
        known = self._module_classes.get(cls)
        if known is None:
            known = any(is_hf_model(a) or _is_module(a) or self._may_be(a) for a in self.mro(cls))
            self._module_classes[cls] = known
        return known

    def _may_be(self, ancestor: Ancestor) -> bool:
        if isinstance(ancestor, ClassEntity) or self.is_harmless(ancestor.fqn):
            return False
        if ancestor.fqn.startswith("transformers."):
            return not ancestor.fqn.endswith(_NO_MODULES)
        return self.classes.is_opaque(ancestor)

    def is_harmless(self, fqn: str) -> bool:
        """Tell whether a library's name surely is no module."""
        return fqn.partition(".")[0] in _HARMLESS and not fqn.startswith("einops.layers.")

    def why_opaque(self, fqn: str) -> str:
        """Return why a name without source cannot be followed."""
        if not fqn:
            return "one of its bases cannot be told"
        module = fqn.rpartition(".")[0]
        path = self.names.path_of(module)
        if path is not None and self.names.module(module) is None:
            return f"{self.names.tree.relative(path)} does not parse"
        return f"the source of {fqn} is not at hand"

    def recorded(self, made: Obj) -> tuple[Obj, tuple[Condition, ...], ClassEntity | None]:
        """Return a plain object with the conditions it is made under and the class that makes it."""
        return made, tuple(self.heap.conditions), self.making[-1] if self.making else None

    def single(self, value: Value) -> Value:
        """Return the first alternative of a choice, or the value itself."""
        return value.alternatives[0][1] if isinstance(value, Choice) else value

    def torch_class(self, fqn: str) -> ClassEntity | None:
        """Return a class of torch from its source, where that is at hand."""
        module, _, name = fqn.rpartition(".")
        for entity in self.torch_names.from_module(module, name):
            if isinstance(entity, ClassEntity):
                return entity
        return None

    def tables(self, module: str, name: str) -> dict[str, str]:
        """Return the pairs of texts that a module writes down under a name."""
        key = (module, name)
        if key not in self._tables:
            found = self.names.module(module)
            self._tables[key] = {}
            for binding in found.bindings.names.get(name, ()) if found else ():
                self._tables[key] |= dict(_pairs(binding.node))
        return self._tables[key]


def _is_module(ancestor: object) -> bool:
    fqn = getattr(ancestor, "fqn", "")
    if isinstance(ancestor, ClassEntity):
        return fqn == "torch.nn.modules.module.Module"
    if not isinstance(ancestor, External):
        return False
    name = fqn.rpartition(".")[2]
    if fqn.startswith("torch.nn.") and name[:1].isupper():
        return True
    return fqn.startswith("transformers.") and name in ("GradientCheckpointingLayer", "PreTrainedModel")


def _pairs(node: ast.AST) -> list[tuple[str, str]]:
    """Return the ``("a", "b")`` tuples and ``a="b"`` or ``{"a": "b"}`` entries of a table."""
    found = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
            texts = [e.value for e in inner.elts if isinstance(e, ast.Constant)]
            if len(texts) == 1 and isinstance(inner.elts[1], (ast.Tuple, ast.List)):
                texts += [e.value for e in inner.elts[1].elts[:1] if isinstance(e, ast.Constant)]
            if len(texts) == 2:
                found.append((str(texts[0]), str(texts[1])))
        elif isinstance(inner, ast.Dict):
            for key, value in zip(inner.keys, inner.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    found.append((str(key.value), str(value.value)))
    return found
