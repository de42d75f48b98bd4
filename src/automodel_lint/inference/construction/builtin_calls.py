"""Functions of Python and of its standard library that construction code uses."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from automodel_lint.inference.construction import payload
from automodel_lint.inference.construction.containers import one_of
from automodel_lint.inference.construction.copies import deep_copy
from automodel_lint.inference.construction.expressions import as_set, key_of
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.plain_data import python_of
from automodel_lint.inference.construction.truth import as_test, parts, shortened, text_of
from automodel_lint.inference.construction.values import (
    ANY_INDEX,
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Callable_,
    ClassValue,
    External_,
    Filling,
    Index,
    Known,
    Map,
    Method,
    ModuleName,
    Obj,
    Partial,
    Pattern,
    Seq,
    TensorValue,
    Test,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Condition, Place, part_matches
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

Handler = Callable[[list[Value], dict[str, Value], Place, "Frame | None"], Value]
_PLAIN = {"int": int, "float": float, "str": str, "bool": bool, "abs": abs, "max": max, "min": min,
          "round": round, "sum": sum, "sorted": sorted, "tuple": tuple}  # fmt: skip


class Builtins:
    """Calls builtins for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap
        self._known: dict[str, Handler] = {
            "builtins.getattr": self._getattr,
            "builtins.setattr": self._setattr,
            "builtins.hasattr": self._hasattr,
            "builtins.delattr": self._delattr,
            "builtins.isinstance": self._isinstance,
            "builtins.issubclass": lambda a, k, p, f: Thing(_written(p)),
            "builtins.callable": lambda a, k, p, f: TRUE if a and _is_callable(a[0]) else FALSE,
            "builtins.type": self._type,
            "builtins.range": self._range,
            "builtins.enumerate": self._enumerate,
            "builtins.zip": self._zip,
            "builtins.list": self._row,
            "builtins.tuple": self._row,
            "builtins.set": lambda a, k, p, f: as_set(self._row(a, k, p, f)),
            "builtins.frozenset": lambda a, k, p, f: as_set(self._row(a, k, p, f)),
            "builtins.reversed": self._reversed,
            "itertools.chain": self._chain,
            "itertools.chain.from_iterable": lambda a, k, p, f: (
                self._chain(
                    [*self.run.loops.elements(a[0], "").items, *self.run.loops.elements(a[0], "").star], k, p, f
                )
                if a
                else UNKNOWN
            ),
            "builtins.iter": self._row,
            "builtins.dict": self._dict,
            "collections.OrderedDict": self._dict,
            "builtins.map": self._map,
            "collections.defaultdict": lambda a, k, p, f: Filling(a[0]) if a else Map(),
            "builtins.any": lambda a, k, p, f: self.run.reductions.any(a, p),
            "builtins.all": lambda a, k, p, f: self.run.reductions.all(a, p),
            "builtins.next": lambda a, k, p, f: self.run.reductions.next(a),
            "builtins.filter": lambda a, k, p, f: self.run.reductions.filter(a, p),
            "functools.reduce": lambda a, k, p, f: self.run.reductions.reduce(a, p),
            "builtins.len": lambda a, k, p, f: self.run.reductions.length(a, p),
            "functools.partial": self._partial,
            "dataclasses.replace": self._replace,
            "copy.copy": lambda a, k, p, f: self.run.instances.replaced(a[0], {}) if a else UNKNOWN,
            "copy.deepcopy": lambda a, k, p, f: self._copied(a[0]) if a else UNKNOWN,
            "importlib.import_module": self._import,
            "builtins.object.__setattr__": self._hide,
            "typing.cast": lambda a, k, p, f: a[1] if len(a) > 1 else UNKNOWN,
            "torch.compile": lambda a, k, p, f: a[0] if a else UNKNOWN,
            "torch.nn.Module.__init__": lambda a, k, p, f: NONE,
        }

    def call(
        self, fqn: str, args: list[Value], keywords: dict[str, Value], place: Place, frame: Frame | None
    ) -> Value | None:
        """Return what a known function gives; ``None`` if ``fqn`` is none of them."""
        handler = self._known.get(fqn)
        if handler is not None:
            return handler(args, keywords, place, frame)
        if fqn.startswith("builtins."):
            return self._plain(fqn.removeprefix("builtins."), args, place)
        if fqn.startswith("re."):
            return self.run.texts.regex(fqn.removeprefix("re."), args, keywords, place)
        if fqn.startswith("math."):
            return self._math(fqn, args, place)
        return UNKNOWN if fqn.startswith(("logging.", "warnings.", "os.")) else None

    def _plain(self, name: str, args: list[Value], place: Place) -> Value | None:
        function = _PLAIN.get(name)
        if function is None:
            return None
        given = [python_of(a) for a in args]
        if name == "str" and len(args) == 1 and isinstance(args[0], Known) and isinstance(args[0].value, str):
            return args[0]
        if all(ok for ok, _ in given) and given:
            try:
                found = function(*(value for _, value in given))  # type: ignore[operator]
                return Known(Index(found) if name == "int" and self.run.converting and found >= ANY_INDEX else found)
            except (TypeError, ValueError, ArithmeticError) as error:
                return self.run.fails(error)
        if name in ("bool",) and args:
            return as_test(args[0], text_of(args[0], place.node), self.heap)
        if name in ("int", "float", "round") and len(args) == 1 and isinstance(args[0], Thing):
            return Thing(args[0].text)
        if name == "str" and args and isinstance(args[0], Thing):
            return Thing(f"str({args[0].text})", pattern=args[0].pattern)
        if name in ("sorted", "tuple") and args:
            return self._row(args[:1], {}, place, None)
        call = place.node
        written = [text_of(a, e) for a, e in zip(args, getattr(call, "args", ()), strict=False)]
        return Thing(shortened(f"{name}({', '.join(written)})", call))

    def _math(self, fqn: str, args: list[Value], place: Place) -> Value:
        import math

        function = getattr(math, fqn.removeprefix("math."), None)
        if function is not None and args and all(isinstance(a, Known) for a in args):
            try:
                return Known(function(*(a.value for a in args)))  # type: ignore[attr-defined]
            except (TypeError, ValueError, ArithmeticError):
                return UNKNOWN
        return Thing(_written(place))

    # -- attributes -----------------------------------------------------------------------------------------------

    def _getattr(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) < 2:
            return UNKNOWN
        default = args[2] if len(args) > 2 else None
        return self.run.expressions.each(args[0], lambda v: self._got(v, args[1], default, place))

    def _got(self, owner: Value, name: Value, default: Value | None, place: Place) -> Value:
        key = key_of(name)
        if isinstance(key, Pattern):
            matching = [v for k, v in owner.slots.items() if k == key] if isinstance(owner, Obj) else []
            methods = self._methods(owner, key) if isinstance(owner, Obj) and not matching else {}
            if methods:
                return one_of(methods, text_of(name, place.node))
            return matching[0] if matching else _of_library(owner, name, place)
        key = str(key)
        if isinstance(owner, Thing):
            has = self.run.hf.has_field(owner, key) if default is not None else True
            if has is False or (default is not None and f"{owner.text}.{key}" in self.run.assumed):
                return default  # type: ignore[return-value]
            if has is None and owner.outside:
                self.run.unsettled.add(f"{owner.text}.{key}")
            return self.run.hf.field(owner, key)
        if isinstance(owner, TensorValue) and default is not None and payload.has(key) is FALSE:
            return default
        found = self.run.instances.attribute(owner, key, place.node)
        if isinstance(found, External_) and isinstance(name, Known) and name.left_out is not None:
            return External_(found.fqn, name.left_out)  # ``getattr(torch, "bfloat16")``
        missing = isinstance(found, Method) and isinstance(owner, (Obj, ClassValue, Known))
        if default is not None and missing and not (isinstance(owner, Obj) and owner.opaque):
            return default
        return found

    def _methods(self, owner: Obj, pattern: Pattern) -> dict[Any, Value]:
        """The methods of an object whose names a pattern fits (``getattr(self, f"_build_{kind}")``)."""
        order = self.run.mro(owner.cls) if owner.cls is not None and pattern != "*" else ()
        names = {n for a in order if isinstance(a, ClassEntity) for n in self.run.names.body(a).names}
        found = {n: self.run.instances.attribute(owner, n, owner.place.node) for n in sorted(names)
                 if part_matches(pattern, n)}  # fmt: skip
        return {n: v for n, v in found.items() if isinstance(v, Callable_)}

    def _setattr(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) == 3:
            self.run.instances.assign(args[0], key_of(args[1]), args[2], place.node)
        return NONE

    def _hide(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        """``object.__setattr__(self, "x", module)``: an attribute that registers nothing."""
        if len(args) == 3 and isinstance(args[0], Obj):
            key = key_of(args[1])
            args[0].hidden.add(key)
            self.heap.write(args[0], key, args[2])
        return NONE

    def _delattr(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) == 2:
            self.run.instances.delete(args[0], key_of(args[1]))
        return NONE

    def _hasattr(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) != 2:
            return UNKNOWN
        return self.run.expressions.each(args[0], lambda v: self._has(v, key_of(args[1]), place))

    def _has(self, owner: Value, name: Any, place: Place) -> Value:
        if isinstance(owner, Thing):
            has = self.run.hf.has_field(owner, str(name))
            if has is not None and owner.cls is not None:
                return TRUE if has else FALSE
            return Test(Condition(f"hasattr({owner.text}, {name!r})"))
        if isinstance(owner, (Obj, ClassValue)) and not isinstance(name, Pattern):
            if isinstance(owner, Obj) and owner.opaque:
                return Test(Condition(_written(place)))
            found = self.run.instances.attribute(owner, name, place.node)
            return FALSE if isinstance(found, Method) else TRUE
        if isinstance(owner, TensorValue) and owner.names is not None:
            return payload.has(str(name)) or Test(Condition(f"hasattr({payload.text(owner)}, {name!r})"))
        return Test(Condition(_written(place)))

    # -- types ----------------------------------------------------------------------------------------------------

    def _isinstance(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) != 2:
            return UNKNOWN
        return self.run.expressions.each(args[0], lambda v: self._is_a(v, args[1], place))

    def _is_a(self, value: Value, kinds: Value, place: Place) -> Value:
        options = list(kinds.items) if isinstance(kinds, Seq) else [kinds]
        results = [self._is_one(value, v) for option in options for _, v in parts(option, self.heap)]
        if True in results:
            return TRUE
        if results and all(r is False for r in results):
            return FALSE
        call = place.node
        first = call.args[0] if isinstance(call, ast.Call) else call
        second = ast.unparse(call.args[1]) if isinstance(call, ast.Call) else ""
        test = as_test(Test(Condition(f"isinstance({text_of(value, first)}, {second})")), "", self.heap)
        return test

    def _is_one(self, value: Value, kind: Value) -> bool | None:
        name = kind.fqn if isinstance(kind, External_) else (kind.cls.fqn if isinstance(kind, ClassValue) else "")
        if isinstance(value, Known):
            plain = {"builtins.str": str, "builtins.int": int, "builtins.bool": bool, "builtins.dict": dict,
                     "builtins.list": list, "builtins.tuple": tuple, "builtins.float": float}.get(name)  # fmt: skip
            return isinstance(value.value, plain) if plain is not None else (False if value.value is None else None)
        if isinstance(value, (Obj, Thing)) and value.cls is not None:
            if name.startswith("builtins."):
                return False
            known = [a.fqn for a in self.run.mro(value.cls)]
            if name in known or any(name.rpartition(".")[2] == k.rpartition(".")[2] for k in known):
                return True
            return False if isinstance(value, Obj) and self._is_all_known(value, kind) else None
        if isinstance(value, Obj):
            same = name.rpartition(".")[2] == value.type_fqn.rpartition(".")[2]
            return True if same or name.endswith("nn.Module") else (None if value.opaque else False)
        if isinstance(value, Seq):
            return name in ("builtins.list", "builtins.tuple") if name.startswith("builtins.") else False
        if isinstance(value, Map):
            return name == "builtins.dict" if name.startswith("builtins.") else None
        if isinstance(value, External_) and value.fqn.startswith("torch."):
            return True if name == "torch.dtype" else (False if name.startswith("builtins.") else None)
        if isinstance(value, TensorValue) and value.names is not None:
            return payload.is_a(name)
        return False if isinstance(value, (TensorValue, Callable_)) and name.startswith("builtins.") else None

    def _is_all_known(self, value: Obj, kind: Value) -> bool:
        """Whether all classes that an object is of are known, so that any other is none of them."""
        if isinstance(kind, ClassValue):
            return True
        assert value.cls is not None
        order = self.run.mro(value.cls)
        return isinstance(kind, External_) and not value.opaque and not any(map(self.run.classes.is_opaque, order))

    def _type(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) == 1 and isinstance(args[0], (Obj, Thing)) and args[0].cls is not None:
            return ClassValue(args[0].cls)
        return Thing(_written(place))

    # -- rows -----------------------------------------------------------------------------------------------------

    def _range(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if args and all(isinstance(a, Known) and isinstance(a.value, int) for a in args):
            return Known(range(*(a.value for a in args)))  # type: ignore[attr-defined]
        return Seq((), [self.run.any_index()])

    def _enumerate(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        row = self.run.loops.elements(args[0], "") if args else Seq()
        start = args[1] if len(args) > 1 else keywords.get("start", Known(0))
        first = start.value if isinstance(start, Known) and isinstance(start.value, int) else 0
        return Seq(
            [Seq([Known(i), v]) for i, v in enumerate(row.items, first)],
            [Seq([self.run.any_index(), v]) for v in row.star],
        )

    def _zip(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        rows = [self.run.loops.elements(a, "") for a in args]
        known = [r for r in rows if not r.star]
        if known:
            length = min(len(r.items) for r in known)
            columns = [[*r.items, *(r.star * length)][:length] for r in rows]
            return Seq([Seq(cells) for cells in zip(*columns, strict=False)])
        return Seq((), [Seq([(r.star or (UNKNOWN,))[0] for r in rows])])

    def _row(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        row = self.run.loops.elements(args[0], "") if args else Seq()
        return Seq(row.items, row.star, self.run.depth)

    def _reversed(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        row = self.run.loops.elements(args[0], "") if args else Seq()
        return Seq(row.items[::-1], row.star[::-1], self.run.depth)

    def _chain(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        rows = [self.run.loops.elements(a, "") for a in args]
        return Seq([v for r in rows for v in r.items], [v for r in rows for v in r.star], self.run.depth)

    def _dict(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        made = Map()
        self.run.containers.call(made, "update", args, keywords)
        return made

    def _map(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        if len(args) != 2:
            return UNKNOWN
        row = self.run.loops.elements(args[1], "")
        return Seq(
            [self.run.calls.apply(args[0], [v], {}, place) for v in row.items],
            [self.run.calls.apply(args[0], [v], {}, place) for v in row.star],
        )

    # -- others ---------------------------------------------------------------------------------------------------

    def _replace(self, args: list[Value], keywords: dict[str, Value], place: Place, frame: Frame | None) -> Value:
        made = self.run.instances.replaced(args[0], keywords) if args else UNKNOWN
        for _, single in parts(made, self.heap):
            if isinstance(single, Obj) and not single.is_module and single.cls is not None:
                single.place = place
                self.run.built.append(self.run.recorded(single))
        return made

    def _partial(self, args: list[Value], keywords: dict[str, Value], place: Place, frame: Frame | None) -> Value:
        return Partial(args[0], tuple(args[1:]), keywords) if args else UNKNOWN

    def _copied(self, value: Value) -> Value:
        """A deep copy: modules inside are new modules, configs keep their expression."""
        if isinstance(value, Obj) and value.is_module:
            return deep_copy(value, {})
        return self.run.instances.replaced(value, {})

    def _import(self, args: list[Value], keywords: dict, place: Place, frame: Frame | None) -> Value:
        name = args[0].value if args and isinstance(args[0], Known) else None
        return ModuleName(name) if isinstance(name, str) else Unknown("it is imported by a name of run time")


def _is_callable(value: Value) -> bool:
    """Whether a value can be called; what a config holds cannot."""
    is_module = isinstance(value, Obj) and value.is_module
    return is_module or isinstance(value, (Callable_, ClassValue, Partial, Method, External_))


def _written(place: Place) -> str:
    return ast.unparse(place.node)


def _of_library(owner: Value, name: Value, place: Place) -> Value:
    """``getattr(torch, config.dtype)`` is a dtype of the config; another name of a library may be any class."""
    if isinstance(owner, (ModuleName, External_)) and owner.fqn == "torch":
        return Thing(text_of(name, place.node))
    return Unknown("it is named at run time") if isinstance(owner, (ModuleName, External_)) else UNKNOWN
