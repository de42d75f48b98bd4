"""Functions and classes of libraries: those whose effect is known, and what to think of all others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import payload, tensors, torch_modules, torch_specs
from automodel_lint.inference.construction.builtin_calls import Builtins
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.module_methods import ModuleMethods
from automodel_lint.inference.construction.values import (
    NONE,
    UNKNOWN,
    Known,
    Obj,
    TensorValue,
    Thing,
    Value,
)
from automodel_lint.inference.module_tree import Place

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter


class Libraries:
    """Calls what has no source at hand, for an interpreter."""

    def __init__(self, interpreter: Interpreter, builtins: Builtins, modules: ModuleMethods):
        self.run = interpreter
        self.builtins = builtins
        self.modules = modules

    def call(self, fqn: str, args: list[Value], keywords: dict[str, Value], place: Place, frame: Frame | None) -> Value:
        told = payload.is_distributed(fqn) if self.run.converting else None
        found = told or self.builtins.call(fqn, args, keywords, place, frame)
        if found is not None:
            return found
        tensor = tensors.call(self.run, fqn, args, keywords, place)
        if tensor is not None:
            return tensor
        if fqn in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.parameter.UninitializedParameter"):
            given = args[0] if args else keywords.get("data", UNKNOWN)
            if self.run.converting:
                return given
            return self.run.expressions.each(given, lambda v: tensors.as_parameter(v, keywords, args, place))
        if fqn in ("torch.nn.Buffer", "torch.nn.parameter.Buffer"):
            return self._buffer(args, keywords, place)
        if args and isinstance(args[0], Obj) and fqn.startswith("torch.nn."):
            done = self._unbound(fqn, args[0], args[1:], keywords, place)
            if done is not None:
                return done
        if fqn.startswith("torch.nn.init."):
            return args[0] if args else UNKNOWN
        if fqn.endswith(".from_pretrained") and torch_specs.key_of(fqn.rpartition(".")[0]) is not None:
            return self._with_weights(fqn.rpartition(".")[0], args, keywords, place)
        followed = payload.outcome(args, keywords, place) if self.run.converting else None
        made = followed or torch_modules.make(self.run, fqn, args, keywords, self.run.site or place)
        if made is not None:
            return made
        return self._unknown_library(fqn, args, keywords, place)

    def _unbound(self, fqn: str, owner: Obj, args: list, keywords: dict, place: Place) -> Value | None:
        """``nn.LayerNorm.__init__(self, …)``, ``nn.Module.add_module(self, …)``; reparametrisations of a module."""
        base, _, name = fqn.rpartition(".")
        if fqn.startswith("torch.nn.utils."):
            return self.modules.reparametrized(fqn, owner, args, keywords, place)
        if name == "__init__":
            torch_modules.construct(self.run, owner, base, args, keywords)
            return NONE
        is_method = (base.rpartition(".")[2][:1].isupper() and name[:1].islower()) or name == "__setattr__"
        return self.modules.call(owner, name, args, keywords, place) if is_method else None

    def _with_weights(self, fqn: str, args: list, keywords: dict[str, Value], place: Place) -> Value:
        """``nn.Embedding.from_pretrained(t)``: frozen, unless told otherwise."""
        made = torch_modules.make(self.run, fqn, [], {}, self.run.site or place)
        frozen = keywords.get("freeze", args[1] if len(args) > 1 else Known(True))
        for value in made.slots.values() if made is not None else ():
            if isinstance(value, TensorValue):
                value.trainable = isinstance(frozen, Known) and not frozen.value
        return made if made is not None else UNKNOWN

    def _buffer(self, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        given = args[0] if args else keywords.get("data", UNKNOWN)
        persistent = keywords.get("persistent", args[1] if len(args) > 1 else Known(True))
        keeps = not (isinstance(persistent, Known) and persistent.value is False)
        return self.run.expressions.each(given, lambda v: replace(tensors.as_buffer(v, keeps, place), wrapped=True))

    def _unknown_library(self, fqn: str, args: list, keywords: dict, place: Place) -> Value:
        """A library's function or class without source: it may give a module if its name says so."""
        name = fqn.rpartition(".")[2]
        top = fqn.partition(".")[0]
        if fqn.startswith("torch.nn.") and not fqn.startswith(
            ("torch.nn.functional", "torch.nn.init", "torch.nn.utils")
        ):
            at_hand = self.run.torch_class(fqn) if name[:1].isupper() else None
            if at_hand is not None:
                return self.run.instances.make(at_hand, args, keywords, place)
            return self._opaque(fqn, place) if name[:1].isupper() else UNKNOWN
        if self.run.is_harmless(fqn) or fqn.startswith("builtins."):
            return Thing(f"{name}()") if fqn.startswith(("torch.", "builtins.")) else UNKNOWN
        if top == "transformers" and name.endswith(("Config", "Cache", "Output", "Processor", "Tokenizer", "Mixin")):
            return UNKNOWN
        is_class = name.lstrip("_")[:1].isupper()
        if is_class or name.startswith(("create_", "build_", "make_", "load_", "get_model")):
            return self._opaque(fqn, place)
        return Thing(f"{name}()")

    def _opaque(self, fqn: str, place: Place) -> Obj:
        made = Obj(None, fqn, True, self.run.site or place)
        made.opaque = self.run.why_opaque(fqn)
        return made
