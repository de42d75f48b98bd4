"""Classes as they are at run time: bases across files, method resolution order, members, stand-ins."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from automodel_lint.inference.bindings import FUNCTIONS, Binding, dotted, statements_here, walk_here
from automodel_lint.inference.linearising import merged_orders
from automodel_lint.inference.names import (
    ClassEntity,
    Entity,
    External,
    FunctionEntity,
    Module,
    Names,
    Scope,
    Value,
)
from automodel_lint.source import Dep, remembered

# Roots of torch, transformers and the standard library that carry neither weights nor policies of their own.
MACHINERY = frozenset({"object", "Module", "ABC", "Generic", "Protocol", "GenerationMixin", "PushToHubMixin"})
Answer = TypeVar("Answer")
_NO_MODULES = ("Parameter", "Buffer", "ParamSpec")
_MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "nn.Module"})


@dataclass(frozen=True)
class Unknown:
    """A base that cannot be told: a call, a value computed at run time."""

    fqn: str = ""


Ancestor = ClassEntity | External | Unknown


@dataclass(frozen=True)
class Member:
    """A name found in a class of the method resolution order."""

    owner: ClassEntity
    binding: Binding

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        return self.binding.node if isinstance(self.binding.node, FUNCTIONS) else None

    @property
    def value(self) -> ast.expr | None:
        return self.binding.node if isinstance(self.binding.node, ast.expr) else None


class Classes:
    """Answers questions about class hierarchies on top of :class:`Names`."""

    def __init__(self, names: Names):
        self.names = names
        self.tree = names.tree
        self._generators: dict[ast.AST, bool] = {}
        self._nodes: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._scopes: dict[ast.AST, Scope] = {}
        self.answers: dict[Callable, dict[ast.AST, tuple[Any, frozenset[Dep]]]] = {}  # see `asked`
        self.plain_functions: set[ast.AST] = set()  # those that turned out to change nothing
        self.defaults: dict[ClassEntity, tuple[object, frozenset[Dep]]] = {}  # what ``Cls()`` makes, and what it reads

    # -- hierarchy ------------------------------------------------------------------------------------------

    def bases(self, cls: ClassEntity) -> list[Ancestor]:
        """Return one ancestor for each base in the class statement: the real class where there is a stand-in too."""
        return [self.base(base, cls.scope) for base in cls.node.bases]

    def base(self, base: ast.expr, scope: Scope) -> Ancestor:
        """Return what a base stands for where a class statement in ``scope`` names it."""
        if isinstance(base, ast.Subscript):
            return self.base(base.value, scope)
        entities = self.names.resolve(base, scope)
        classes = [e for e in entities if isinstance(e, ClassEntity)]
        real = [c for c in classes if not self.is_stand_in(c)]
        outside = [e for e in entities if isinstance(e, External) and e.fqn != "builtins.object"]
        for candidates in (real, outside, [e for e in entities if isinstance(e, External)], classes):
            if candidates:
                return candidates[0]
        return Unknown()

    @remembered
    def mro(self, cls: ClassEntity) -> tuple[Ancestor, ...]:
        """Return the method resolution order: the class itself first, unknown ancestors in their place."""
        return tuple(self._linearised(cls, ()))

    def _linearised(self, cls: ClassEntity, below: tuple[ClassEntity, ...]) -> list[Ancestor]:
        if cls in below:
            return []
        bases = self.bases(cls)
        orders = [self._linearised(b, (*below, cls)) if isinstance(b, ClassEntity) else [b] for b in bases]
        return [cls, *merged_orders([*orders, list(bases)])]

    def can_be_ordered(self, bases: list[Ancestor]) -> bool:
        """Tell whether Python takes a class with these bases: their own orders do not contradict each other."""
        orders = [self._linearised(b, ()) if isinstance(b, ClassEntity) else [b] for b in bases]
        names = [[a.fqn for a in order if a.fqn != "builtins.object"] for order in [*orders, bases]]
        if bases and any(b.fqn == "builtins.object" for b in bases[:-1]):
            return False
        while any(names):
            heads = [order[0] for order in names if order]
            head = next((h for h in heads if not any(h in order[1:] for order in names)), None)
            if head is None:
                return False
            names = [[a for a in order if a != head] for order in names]
        return True

    def is_local(self, cls: ClassEntity) -> bool:
        """Tell whether a class knows the framework's contracts: one of the checkout, or of the framework it extends."""
        return cls.module.name.partition(".")[0] != "transformers"

    def in_checkout(self, cls: ClassEntity) -> bool:
        """Tell whether a class is defined in the checkout itself."""
        return self.names.in_roots(cls.module)

    def is_opaque(self, ancestor: Ancestor) -> bool:
        """Tell whether an ancestor could be any class: nobody can say what it supplies.

        A class of a library is not opaque in this sense: it knows nothing of the framework's contracts. Nor is a mixin,
        which adds one ability under its own name.
        """
        if isinstance(ancestor, Unknown):
            return True
        if isinstance(ancestor, External) and not ancestor.fqn.endswith("Mixin"):
            top = ancestor.fqn.partition(".")[0]
            return top not in ("torch", "transformers", "builtins", "typing", "abc", "collections")
        return False

    def has_module_base(self, cls: ClassEntity) -> bool:
        """Tell whether a class is known to be a ``torch.nn.Module``."""
        return any(is_hf_model(a) or (isinstance(a, External) and builds_module(a.fqn)) for a in self.mro(cls))

    # -- members --------------------------------------------------------------------------------------------

    def local(self, cls: ClassEntity, name: str) -> list[Member]:
        """Return the definitions of ``name`` in the class body (all branches)."""
        return [Member(cls, b) for b in self.names.body(cls).live(name)]

    def find(self, cls: ClassEntity, name: str, after: ClassEntity | None = None) -> tuple[list[Member], bool]:
        """Look ``name`` up along the method resolution order, optionally only behind ``after``.

        Returns the definitions in the first class that has any, and whether an opaque ancestor stands before it
        (so that nobody can be sure).
        """
        opaque = False
        order = list(self.mro(cls))
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for ancestor in order:
            if isinstance(ancestor, ClassEntity):
                found = self.local(ancestor, name)
                if found:
                    return found, opaque
            else:
                opaque = opaque or self.is_opaque(ancestor)
        return [], opaque

    def next_init(self, cls: ClassEntity, after: ClassEntity | None) -> ClassEntity | External | Unknown | None:
        """Return whose ``__init__`` runs next: a class with one in its body, or an ancestor without source."""
        order = list(self.mro(cls))
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for ancestor in order:
            if isinstance(ancestor, ClassEntity):
                if self.local(ancestor, "__init__"):
                    return ancestor
            elif self.is_opaque(ancestor) or ancestor.fqn.rpartition(".")[2] not in MACHINERY:
                return ancestor
        return None

    def methods(self, cls: ClassEntity) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Yield every function in a class body, branches included."""
        for bindings in self.names.body(cls).names.values():
            for binding in bindings:
                if isinstance(binding.node, FUNCTIONS):
                    yield binding.node

    def is_generator(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Tell whether a function yields."""
        known = self._generators.get(function)
        if known is None:
            values = (getattr(s, "value", None) for s in statements_here(function.body))
            known = self._generators[function] = any(isinstance(v, (ast.Yield, ast.YieldFrom)) for v in values)
        return known

    def nodes_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.AST, ...]:
        """Return everything that running a function can run (nested functions and classes apart), walked once."""
        known = self._nodes.get(function)
        if known is None:
            statements = [s for s in function.body if not isinstance(s, (*FUNCTIONS, ast.ClassDef))]
            known = self._nodes[function] = tuple(n for s in statements for n in walk_here(s))
        return known

    def method_scope(self, cls: ClassEntity, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Scope:
        """Return the scope inside a method (class-level names are not visible there)."""
        return self._entered(cls, function)

    @remembered
    def _entered(self, cls: ClassEntity, function: ast.FunctionDef) -> Scope:
        return cls.scope.entered(function.body, function.args)

    def function_scope(self, function: FunctionEntity) -> Scope:
        """Return the scope inside a function."""
        known = self._scopes.get(function.node)
        if known is None:
            known = self._scopes[function.node] = function.scope.entered(function.node.body, function.node.args)
        return known

    # -- stand-ins ------------------------------------------------------------------------------------------

    @remembered
    def is_stand_in(self, cls: ClassEntity) -> bool:
        """Tell whether a class only takes the place of one whose dependency is missing: construction just raises."""
        return self._is_stand_in(cls, ())

    def _is_stand_in(self, cls: ClassEntity, below: tuple[ClassEntity, ...]) -> bool:
        if any(k.arg == "metaclass" and _sounds_missing(dotted(k.value)) for k in cls.node.keywords):
            return True
        makers = [b.node for n in ("__init__", "__new__") for b in self.names.body(cls).live(n)]
        functions = [f for f in makers if isinstance(f, FUNCTIONS)]
        if functions:
            return any(_only_raises(f) for f in functions)
        bases = [e for base in cls.node.bases for e in self.names.resolve(base, cls.scope)]
        inherited = [e for e in bases if isinstance(e, ClassEntity) and e not in below][:1]
        return any(self._is_stand_in(e, (*below, cls)) for e in inherited) and len(bases) == 1

    def makes_stand_in(self, value: Value) -> bool:
        """Tell whether a value is a call that makes an "unavailable" type."""
        if not isinstance(value.expr, ast.Call):
            return False
        for entity in self.names.resolve(value.expr.func, value.scope):
            if _sounds_missing(entity.fqn.rpartition(".")[2]):
                return True
            if isinstance(entity, FunctionEntity):
                body = statements_here(entity.node.body)
                returned = [s.value for s in body if isinstance(s, ast.Return) and s.value]
                calls = [Value(r, self.function_scope(entity)) for r in returned if isinstance(r, ast.Call)]
                if any(self.makes_stand_in(call) for call in calls if call.expr is not value.expr):
                    return True
        return False

    def real(self, entities: list[Entity]) -> list[ClassEntity]:
        """Return the class definitions among ``entities`` that are no stand-ins."""
        return [e for e in entities if isinstance(e, ClassEntity) and not self.is_stand_in(e)]


class MethodView:
    """A method together with the class whose ``self`` it gets; what rules look into.

    ``written`` is the function, where it is written elsewhere than in the body of a class.
    """

    def __init__(self, classes: Classes, receiver: ClassEntity, member: Member, written: FunctionEntity | None = None):
        assert member.function is not None
        self.classes, self.receiver, self.owner, self.node = classes, receiver, member.owner, member.function
        self._written = written

    @cached_property
    def scope(self) -> Scope:
        """The scope inside it."""
        if self._written is not None:
            return self.classes.function_scope(self._written)
        return self.classes.method_scope(self.owner, self.node)

    @property
    def module(self) -> Module:
        """The module that it is written in."""
        return self.owner.module if self._written is None else self._written.scope.module

    @property
    def self_name(self) -> str:
        """What the method calls its first argument."""
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        return arguments[0].arg if arguments else ""

    def is_self_or_class(self, expr: ast.expr) -> bool:
        """Tell whether an expression is the object, or its class (``cls``, ``type(self)``, ``self.__class__``)."""
        if isinstance(expr, ast.Name):
            return expr.id in (self.self_name or "self", "cls")
        if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and expr.func.id == "type":
            return len(expr.args) == 1 and self.is_self_or_class(expr.args[0])
        return isinstance(expr, ast.Attribute) and expr.attr == "__class__" and self.is_self_or_class(expr.value)

    def walk(self) -> Iterator[ast.AST]:
        """Walk everything that running the method can run (nested functions and classes apart)."""
        return iter(self.classes.nodes_of(self.node))

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls that running the method can make."""
        return (node for node in self.walk() if isinstance(node, ast.Call))

    def callee(self, call: ast.Call) -> MethodView | FunctionEntity | None:
        """Return the method or function of the checkout that a call surely leads to, if that can be told."""
        func = call.func
        if isinstance(func, ast.Attribute) and self.is_self_or_class(func.value):
            members, opaque = self.classes.find(self.receiver, func.attr)
            if opaque or len(members) != 1 or members[0].function is None:
                return None
            return MethodView(self.classes, self.receiver, members[0])
        if is_super(func.value if isinstance(func, ast.Attribute) else None):
            assert isinstance(func, ast.Attribute)
            members, opaque = self.classes.find(self.receiver, func.attr, after=self.owner)
            if opaque or len(members) != 1 or members[0].function is None:
                return None
            return MethodView(self.classes, self.receiver, members[0])
        entities = self.classes.names.resolve(func, self.scope)
        functions = [e for e in entities if isinstance(e, FunctionEntity)]
        return functions[0] if len(functions) == 1 and len(entities) == 1 else None


class FunctionView(MethodView):
    """A function of the checkout that a method calls, looked into like a method."""

    def __init__(self, caller: MethodView, entity: FunctionEntity):
        member = Member(caller.owner, Binding("def", entity.node))
        super().__init__(caller.classes, caller.receiver, member, entity)

    @property
    def self_name(self) -> str:
        """A function has no ``self``."""
        return ""


def asked(view: MethodView, question: Callable[[MethodView], Answer]) -> Answer:
    """Return what a function says about itself; asked once, whoever runs it.

    What several classes share is asked by each of them. The answer must not depend on which that is.
    """
    known = view.classes.answers.setdefault(question, {})
    if view.node not in known:
        with view.classes.tree.recording() as read:
            known[view.node] = (question(view), frozenset(read))
    else:
        view.classes.tree.note(*known[view.node][1])
    return known[view.node][0]


# Library classes that a model class can be derived from; all of them derive from PreTrainedModel.
_HF_MODEL_ENDINGS = ("PreTrainedModel", "Model", "ForCausalLM", "ForConditionalGeneration", "ForSequenceClassification")


def is_hf_model(ancestor: Ancestor) -> bool:
    """Tell whether an ancestor is ``PreTrainedModel`` or, its source not at hand, a model class derived from it."""
    top, _, _ = ancestor.fqn.partition(".")
    name = ancestor.fqn.rpartition(".")[2]
    if isinstance(ancestor, ClassEntity):
        return name == "PreTrainedModel" and top == "transformers"
    return isinstance(ancestor, External) and top == "transformers" and name.endswith(_HF_MODEL_ENDINGS)


def is_super(node: ast.AST | None) -> bool:
    """Tell whether an expression is ``super()`` or ``super(Class, self)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def builds_module(fqn: str) -> bool:
    """Tell whether a dotted name outside the checkout is a class of ``torch.nn`` that holds parameters."""
    name = fqn.rpartition(".")[2]
    return fqn in _MODULE or (fqn.startswith("torch.nn.") and name[:1].isupper() and not name.endswith(_NO_MODULES))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _only_raises(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A maker that does nothing but raise: words, a message, a call on the way, and the error."""
    body = [s for s in function.body if not _is_text(s)]
    if len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Call):
        name = dotted(body[0].value.func).rpartition(".")[2].lower()
        return "raise" in name or "requires_backends" in name or _sounds_missing(name)
    return bool(body) and isinstance(body[-1], ast.Raise) and all(_only_words(s) for s in body[:-1])


def _sounds_missing(name: str) -> bool:
    return any(word in name.lower() for word in ("unavailable", "missing", "placeholder", "dummy", "stub"))


def _only_words(statement: ast.stmt) -> bool:
    """A statement that may stand before the ``raise`` of a stand-in: it builds nothing that stays."""
    if isinstance(statement, ast.Assign):
        return not any(isinstance(t, ast.Attribute) for t in statement.targets)
    return isinstance(statement, (ast.Pass, ast.Delete, ast.Expr, ast.Import, ast.ImportFrom))
