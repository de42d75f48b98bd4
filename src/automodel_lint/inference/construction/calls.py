"""Calls: what is called, with what, and what it gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from automodel_lint.inference.construction import payload, tensors, torch_specs
from automodel_lint.inference.construction.attempts import error_named
from automodel_lint.inference.construction.blocks import RAISE, RETURN
from automodel_lint.inference.construction.builtin_calls import Builtins
from automodel_lint.inference.construction.frames import Frame
from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.instances import ANYTHING
from automodel_lint.inference.construction.libraries import Libraries
from automodel_lint.inference.construction.module_methods import RETURNS_SELF, ModuleMethods
from automodel_lint.inference.construction.plain_results import is_plain, memo_key, simplified
from automodel_lint.inference.construction.texts import of_pattern
from automodel_lint.inference.construction.truth import is_none, parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    UNKNOWN,
    Callable_,
    Choice,
    ClassValue,
    External_,
    Known,
    Map,
    Method,
    Obj,
    Partial,
    Pattern,
    Seq,
    Slots,
    Spread,
    Super,
    TensorValue,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import all_arguments

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_DEEPEST = 60  # calls within calls
# What builds nothing and is long: initialisers, loaders, everything that happens after construction.
_SKIPPED = frozenset(
    "post_init init_weights _init_weights initialize_weights _initialize_weights reset_parameters "
    "from_pretrained apply warning warning_once warn info debug".split()
)
_BUILDING = ("transformers.models.", "transformers.modeling_layers", "transformers.backbone_utils")
_LOADERS = ("from_config", "_from_config", "from_pretrained")


class Calls:
    """Evaluates calls for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self.heap = interpreter.heap
        self.builtins = Builtins(interpreter)
        self.modules = ModuleMethods(interpreter)
        self.libraries = Libraries(interpreter, self.builtins, self.modules)
        self._results: dict[tuple, Value] = {}

    def call(self, expr: ast.Call, frame: Frame) -> Value:
        """Return what a call expression gives."""
        self.run.step()
        if isinstance(expr.func, ast.Name) and expr.func.id == "super" and "super" not in frame.names:
            return self._super(expr, frame)
        place = Place(frame.scope.module.path, expr)
        if isinstance(expr.func, ast.Attribute):
            owner = self.run.expressions.value(expr.func.value, frame)
            func = self._callee(owner, expr.func, frame)
        else:
            func = self.run.expressions.value(expr.func, frame)
        args = self._arguments(expr.args, frame)
        keywords = self._keywords(expr, frame)
        self.run.calling = place
        return self.apply(func, args, keywords, place, frame)

    def _callee(self, owner: Value, func: ast.Attribute, frame: Frame) -> Value:
        if not isinstance(owner, Choice):
            return self._attribute(owner, func, frame)
        found = [(c, v) for c, v in parts(owner, self.heap) if v is not ABSENT and not is_none(v)]
        return choice([(cond, self._attribute(v, func, frame)) for cond, v in found])

    def _arguments(self, exprs: list[ast.expr], frame: Frame) -> list[Value]:
        if any(isinstance(e, ast.Starred) for e in exprs):
            row = self.run.expressions.elements(exprs, frame)
            return [*row.items, Spread(row.star)] if row.star else list(row.items)
        return [self.run.expressions.value(e, frame) for e in exprs]

    def _attribute(self, owner: Value, func: ast.Attribute, frame: Frame) -> Value:
        name = func.attr
        if name in _LOADERS and self._builds_model(owner, name):
            return Method(owner, name)
        if isinstance(owner, Thing) and owner.slots.get(name) is None:
            return Method(owner, name)
        return self.run.instances.attribute(owner, name, func)

    def _builds_model(self, owner: Value, name: str) -> bool:
        """Whether a loader is transformers' own, which constructs the class from its config."""
        if not isinstance(owner, ClassValue):
            return isinstance(owner, External_) and self._may_be_model(owner.fqn)
        cls = owner.cls
        if self.run.hf.is_config(cls):
            return False
        members, _ = self.run.classes.find(cls, name)
        ours = members and self.run.classes.is_local(members[-1].owner)
        return not ours and (self.run.is_module_class(cls) or cls.name.startswith("AutoModel"))

    def _may_be_model(self, fqn: str) -> bool:
        """Whether a library's class may be a model, by its name."""
        name = fqn.rpartition(".")[2]
        served = name.endswith(("Config", "Processor", "Tokenizer", "TokenizerFast", "Extractor", "Cache"))
        return name[:1].isupper() and not served and not self.run.is_harmless(fqn)

    def _keywords(self, expr: ast.Call, frame: Frame) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for keyword in expr.keywords:
            value = self.run.expressions.value(keyword.value, frame)
            if keyword.arg is not None:
                found[keyword.arg] = value
                continue
            for _, single in parts(value, self.heap):
                if isinstance(single, Map):
                    found |= {
                        k: v for k, v in single.slots.items() if isinstance(k, str) and not isinstance(k, Pattern)
                    }
                    if any(isinstance(k, Pattern) for k in single.slots):
                        found[ANYTHING] = UNKNOWN
                elif isinstance(single, Known) and isinstance(single.value, dict):
                    found |= {str(k): Known(v) for k, v in single.value.items()}
                else:
                    found[ANYTHING] = UNKNOWN
        if ABSENT in found.values():
            return {name: value for name, value in found.items() if value is not ABSENT}
        return found

    def _super(self, expr: ast.Call, frame: Frame) -> Value:
        level: Frame | None = frame
        while level is not None and level.owner is None:
            level = level.closure
        if level is None or level.me is None or level.owner is None:
            return UNKNOWN
        owner = level.owner
        if expr.args:
            named = self.run.expressions.value(expr.args[0], frame)
            owner = named.cls if isinstance(named, ClassValue) else owner
        return Super(level.me, owner)

    # -- applying -------------------------------------------------------------------------------------------------

    def apply(
        self, func: Value, args: list[Value], keywords: dict[str, Value], place: Place, frame: Frame | None = None
    ) -> Value:
        """Return what calling ``func`` gives; of a choice of callables each is called on its own side."""
        if isinstance(func, Choice):
            return self._each_side(func, args, keywords, place, frame)
        if isinstance(func, ClassValue):
            known = torch_specs.public_name(func.cls.fqn)
            if known is not None:
                return self.libraries.call(known, args, keywords, place, frame)
            return self.run.instances.make(func.cls, args, keywords, place)
        if isinstance(func, Callable_):
            return self._function(func, args, keywords, place)
        if isinstance(func, Partial):
            return self.apply(func.func, [*func.args, *args], {**func.keywords, **keywords}, place, frame)
        if isinstance(func, External_):
            return self.libraries.call(func.fqn, args, keywords, place, frame)
        if isinstance(func, Method):
            return self._method(func, args, keywords, place)
        if isinstance(func, Thing):
            return self._open(func, args, keywords)
        if isinstance(func, Obj):
            return self._called(func, args, keywords)
        if isinstance(func, Unknown) and func.module:
            return func
        if isinstance(func, Unknown) and func.called:
            return Unknown(func.called)
        if isinstance(func, Unknown) and _handed_config(args, keywords):
            return Unknown("its class is found out at run time")
        return (payload.outcome(args, keywords, place) if self.run.converting else None) or UNKNOWN

    def _called(self, owner: Obj, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Call an object; a module in action gives a tensor, or nothing that stays."""
        method = None if owner.is_module else self.run.instances.attribute(owner, "__call__", owner.place.node)
        return self.invoke(method, args, keywords) if isinstance(method, Callable_) else UNKNOWN

    def _open(self, func: Thing, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Something handed in is called: it builds a module if it is a class by its name, or is given a config."""
        last = func.text.rpartition(".")[2]
        if last.endswith(("_cls", "_class", "_factory", "_builder", "_ctor")) or _handed_config(args, keywords):
            return Unknown(f"{func.text} is whatever the caller hands in")
        return Thing(f"{func.text}()")

    def _each_side(self, func: Choice, args: list, keywords: dict, place: Place, frame: Frame | None) -> Value:
        sides = []
        alternatives = [(c, v) for c, v in parts(func, self.heap) if v is not ABSENT]
        for conditions, single in alternatives:
            sides.append((conditions, (), lambda v=single: self.apply(v, args, keywords, place, frame)))
        results = self.heap.fork(sides)
        self.heap.join([(cond, wrote) for (cond, _), (_, wrote) in zip(alternatives, results, strict=True)])
        return choice([(cond, given) for (cond, _), (given, _) in zip(alternatives, results, strict=True)])

    def _function(self, func: Callable_, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        name = getattr(func.node, "name", "")
        if name in _SKIPPED:
            return UNKNOWN
        if isinstance(func.bound, Obj) and func.bound.is_module and name in RETURNS_SELF:
            return self.modules.call(func.bound, name, args, keywords, place)
        if func.scope.module.name.startswith("transformers.") and not _builds(func.scope.module.name):
            return Unknown("it is loaded by its config") if name.startswith("load_") else UNKNOWN
        if func.bound is not None and isinstance(func.bound, Thing):
            return Thing(f"{func.bound.text}.{name}()")
        return self.invoke(func, args, keywords, place if func.owner is None else None)

    def invoke(
        self, func: Callable_, args: list[Value], keywords: dict[str, Value], site: Place | None = None
    ) -> Value:
        """Run the body of a function whose source is at hand.

        One that turned out to compute something only (a dtype, a size) is run once for the same arguments.
        """
        key = memo_key(func, args, keywords)
        if key is None and self.run.converting and not args and not keywords and isinstance(func.bound, Obj):
            key = (func.node, func.bound, self.heap.version)  # a property gives the same while no object changes
        if key is None:
            return simplified(self._run(func, args, keywords, site))
        if key in self._results:
            return self._results[key]
        writes = self.heap.writes
        if func.node in self.run.classes.plain_functions:  # its result is the same wherever it is called
            value = simplified(self.heap.anywhere(lambda: self._run(func, args, keywords, site)))
            if func.bound is None or is_plain(value):
                self._results[key] = value
            return value
        value = simplified(self._run(func, args, keywords, site))
        if writes == self.heap.writes and is_plain(value):
            self.run.classes.plain_functions.add(func.node)
        return value

    def _run(self, func: Callable_, args: list[Value], keywords: dict[str, Value], site: Place | None) -> Value:
        run = self.run
        key = id(func.node)
        if len(run.stack) > _DEEPEST or run.stack.count(key) > 2:
            return UNKNOWN
        frame = Frame(func.scope, func.owner, func.bound, func.closure, len(self.heap.conditions))
        self._bind(func, args, keywords, frame)
        run.stack.append(key)
        depth, outer = run.depth, run.site
        run.site = None if func.owner is not None else run.site or site
        try:
            if isinstance(func.node, ast.Lambda):
                return run.expressions.value(func.node.body, frame)
            if run.classes.is_generator(func.node):
                frame.generated = Seq(depth=run.depth)
            ended = run.statements.block(func.node.body, frame)
            if len(run.stack) == 1 and not isinstance(func.node.body[-1], ast.Return):
                run.left_early = ended == RETURN
            if frame.generated is not None:
                return frame.generated
            if ended == RAISE and not frame.returned and run.trying:
                return run.fails(error_named(frame.raised))
            return run.statements.returned(frame, ended)
        finally:
            run.stack.pop()
            run.depth, run.site = depth, outer

    def _declared(self, value: Value, parameter: ast.arg, func: Callable_) -> Value:
        """A part of a config is of the class that a parameter is annotated with, if nothing else says so."""
        if isinstance(value, Thing) and value.cls is None and parameter.arg.endswith(("config", "cfg")):
            cls = self.run.hf.annotated(parameter.annotation, func.scope)
            if cls is not None and self.run.hf.is_config(cls):
                value.cls = cls
        return value

    def defaults_of(self, node: ast.Lambda | ast.FunctionDef, frame: Frame) -> dict[str, Value]:
        """Return the defaults of a function that is made in another one, as they are at that time."""
        positional = [*node.args.posonlyargs, *node.args.args]
        pairs = zip(positional[::-1], node.args.defaults[::-1], strict=False)
        keyword = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        return {a.arg: self.run.expressions.value(d, frame) for a, d in (*pairs, *keyword) if d is not None}

    def _bind(self, func: Callable_, args: list[Value], keywords: dict[str, Value], frame: Frame) -> None:
        """Give the parameters their values: given, or by default."""
        place = self.run.calling
        signature = func.node.args
        positional = [*signature.posonlyargs, *signature.args]
        spread = [v for a in args if isinstance(a, Spread) for v in a.values]
        args = [a for a in args if not isinstance(a, Spread)]
        given = [func.bound, *args] if func.bound is not None else args
        rest = {k: v for k, v in keywords.items() if k != ANYTHING}
        for parameter, value in zip(positional, given, strict=False):
            frame.names[parameter.arg] = self._declared(value, parameter, func)  # type: ignore[arg-type]
        defaults = dict(zip([p.arg for p in positional][::-1], signature.defaults[::-1], strict=False))
        defaults |= {p.arg: d for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d}
        for parameter in (*positional, *signature.kwonlyargs):
            name = parameter.arg
            if name in frame.names:
                continue
            if name in rest:
                frame.names[name] = self._declared(rest.pop(name), parameter, func)
            elif name in func.defaults:
                frame.names[name] = func.defaults[name]
            elif name in defaults:
                outer = func.closure or Frame(func.scope)
                value = self.run.expressions.value(defaults[name], outer)
                frame.names[name] = tensors.left_out(value, place)
            else:
                frame.names[name] = Thing(name, self.run.hf.annotated(parameter.annotation, func.scope))
        if signature.vararg is not None:
            frame.names[signature.vararg.arg] = Seq(given[len(positional) :], spread)  # type: ignore[arg-type]
        if signature.kwarg is not None:
            known = {a.arg for a in all_arguments(signature)}
            frame.names[signature.kwarg.arg] = Map({k: v for k, v in rest.items() if k not in known})

    # -- methods without source -----------------------------------------------------------------------------------

    def _method(self, func: Method, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        owner, name = func.owner, func.name
        if isinstance(owner, Super):
            if name == "__init__" and isinstance(owner.instance, Obj):
                return self.run.instances.construct(owner.instance, owner.after, args, keywords)
            return UNKNOWN
        if name in _LOADERS and isinstance(owner, (ClassValue, External_)):
            if name == "from_pretrained":
                args, keywords = [keywords.get("config", UNKNOWN)], {}
            return self.run.hf.from_config(owner, args, keywords, place)
        if isinstance(owner, Thing):
            return self._of_thing(owner, name, args)
        if isinstance(owner, Slots):
            return self.modules.call_slots(owner, name, args)
        if isinstance(owner, (Seq, Map)):
            return self.run.containers.call(owner, name, args, keywords)
        if isinstance(owner, TensorValue):
            return tensors.method(self.run, owner, name, args, keywords)
        if isinstance(owner, Obj):
            return self.modules.call(owner, name, args, keywords, place)
        if isinstance(owner, ClassValue):
            return self._class_method(owner, name, args, keywords)
        if isinstance(owner, Known):
            return self.run.texts.method(owner, name, args, keywords, place)
        return owner if isinstance(owner, Unknown) else UNKNOWN

    def _of_thing(self, owner: Thing, name: str, args: list[Value]) -> Value:
        """A method of a config, or of a text of which only the pattern is known."""
        word = args[0].value if len(args) == 1 and isinstance(args[0], Known) else None
        told = of_pattern(owner, name, word) if isinstance(word, str) and "*" in owner.pattern else None
        return told or self.run.hf.method(owner, name)

    def _class_method(self, owner: ClassValue, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """``Base.__init__(self, …)`` where the base's is inherited or a library's."""
        if name == "__init__" and args and isinstance(args[0], Obj):
            order = [a for a in self.run.mro(owner.cls) if a is owner.cls]
            if order and args[0].cls is not None:
                return self.run.instances.construct(args[0], _before(self.run, args[0], owner), args[1:], keywords)
        return UNKNOWN


def _handed_config(args: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether something is called with a config, as constructors are."""
    given = [a for a in (*args, *keywords.values()) if isinstance(a, Thing)]
    return any(a.cls is not None or a.text.rpartition(".")[2].endswith("config") for a in given)


def _builds(module: str) -> bool:
    """Whether a module of transformers holds construction code: what models consist of, not what serves them."""
    return module.startswith(_BUILDING) and ".auto." not in module


def _before(run: Interpreter, made: Obj, owner: ClassValue):
    """The class just before ``owner`` in the order of ``made``, so that construction goes on with ``owner``."""
    assert made.cls is not None
    order = list(run.mro(made.cls))
    if owner.cls not in order:
        return None
    at = order.index(owner.cls)
    return order[at - 1] if at else None
