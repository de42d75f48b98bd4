"""What a function, class or method takes by name when it is called, read from source."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from automodel_lint.inference.bindings import FUNCTIONS, dotted
from automodel_lint.inference.classes import Classes, Unknown
from automodel_lint.inference.names import ClassEntity, Entity, External, FunctionEntity, Value, defaults_of

# Decorators that leave a signature as it is.
_HARMLESS = frozenset(
    "abstractmethod cache classmethod contextmanager deprecated disable experimental final inference_mode lru_cache "
    "no_grad override staticmethod".split()
)
_PLAIN_BASES = frozenset(
    "builtins.object abc.ABC typing.Generic typing.Protocol typing_extensions.Protocol torch.nn.Module "
    "torch.nn.modules.module.Module torch.utils.data.Dataset torch.utils.data.IterableDataset".split()
)
_DATACLASS = ("dataclass", "dataclasses.dataclass")
_DEEPEST = 8


@dataclass(frozen=True)
class Signature:
    """The names that a call may give, those that it must give, and what the call is about (a dotted name)."""

    fqn: str
    names: tuple[str, ...]
    required: frozenset[str] = field(default_factory=frozenset)


class Signatures:
    """Reads signatures on top of :class:`Classes`. Everywhere, ``None`` means that the source does not decide it."""

    def __init__(self, classes: Classes):
        self.classes, self.names = classes, classes.names

    def of(self, entity: Entity, owner: ClassEntity | None = None, depth: int = 0) -> Signature | None:
        """Return what a call of ``entity`` takes; ``owner`` is the class it was read from, if it was."""
        if depth > _DEEPEST:
            return None
        if isinstance(entity, FunctionEntity):
            return self._function(entity, owner)
        if isinstance(entity, ClassEntity):
            return self._class(entity)
        if isinstance(entity, Value) and isinstance(entity.expr, ast.Call):
            return self._partial(entity, entity.expr, depth)
        return None

    def _function(self, entity: FunctionEntity, owner: ClassEntity | None) -> Signature | None:
        node = entity.node
        words = {dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in node.decorator_list}
        if not words <= _HARMLESS:
            return None
        if owner is not None and not words & {"classmethod", "staticmethod"}:
            return None  # an instance method called on the class
        return _arguments(entity.fqn, node.args, skipped=owner is not None and "staticmethod" not in words)

    def _partial(self, value: Value, call: ast.Call, depth: int) -> Signature | None:
        """``functools.partial(f, a=1)``: what it fixes may be given again by name, and need not be."""
        if "functools.partial" not in self.names.fqns(call.func, value.scope) or len(call.args) != 1:
            return None
        entities = self.names.resolve(call.args[0], value.scope)
        inner = self.of(entities[0], None, depth + 1) if len(entities) == 1 else None
        fixed = {keyword.arg for keyword in call.keywords}
        if inner is None or None in fixed:
            return None
        return Signature(value.fqn or inner.fqn, inner.names, inner.required - fixed)

    # -- classes ------------------------------------------------------------------------------------------------------

    def _class(self, cls: ClassEntity) -> Signature | None:
        order = self.classes.mro(cls)
        if any(isinstance(a, Unknown) or (isinstance(a, External) and a.fqn not in _PLAIN_BASES) for a in order):
            known = self._before_opaque(cls)
            return known
        for ancestor in order:
            if isinstance(ancestor, ClassEntity) and not self._is_plain(ancestor):
                return None
        return self._constructor(cls)

    def _before_opaque(self, cls: ClassEntity) -> Signature | None:
        """The own ``__init__`` of a class decides, whatever it derives from, as long as nothing above makes it."""
        for ancestor in self.classes.mro(cls):
            if not isinstance(ancestor, ClassEntity) or not self._is_plain(ancestor):
                return None
            if self.classes.local(ancestor, "__init__"):
                return self._init(cls, ancestor) if not _may_be_made_elsewhere(self.classes, cls) else None
            if self._is_dataclass(ancestor):
                return None
        return None

    def _is_plain(self, cls: ClassEntity) -> bool:
        """Whether calling a class just runs ``__init__``: no metaclass, no ``__new__``, no unknown decorator."""
        if any(k.arg == "metaclass" and dotted(k.value).rpartition(".")[2] != "ABCMeta" for k in cls.node.keywords):
            return False
        if self.classes.local(cls, "__new__"):
            return False
        words = {dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in cls.node.decorator_list}
        return words <= {"dataclass", "final", "deprecated", "runtime_checkable"} or self._registers(cls)

    def _registers(self, cls: ClassEntity) -> bool:
        """Whether all decorators of a class are functions at hand that return what they are given."""
        for decorator in cls.node.decorator_list:
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            if dotted(func).rpartition(".")[2] in ("dataclass", "final"):
                continue
            entities = self.names.resolve(func, cls.scope)
            if len(entities) != 1 or not isinstance(entities[0], FunctionEntity):
                return False
            if not _returns_its_argument(entities[0].node, called=isinstance(decorator, ast.Call)):
                return False
        return True

    def _constructor(self, cls: ClassEntity) -> Signature | None:
        for ancestor in self.classes.mro(cls):
            if not isinstance(ancestor, ClassEntity):
                continue
            if self.classes.local(ancestor, "__init__"):
                return self._init(cls, ancestor)
            if self._is_dataclass(ancestor):
                return self._fields(cls, ancestor)
        return Signature(cls.fqn, ())

    def _init(self, cls: ClassEntity, owner: ClassEntity) -> Signature | None:
        members = self.classes.local(owner, "__init__")
        function = members[0].function if len(members) == 1 else None
        if function is None or function.decorator_list:
            return None
        return _arguments(cls.fqn, function.args, skipped=True)

    def _is_dataclass(self, cls: ClassEntity) -> bool:
        """Whether a class statement is decorated so that it gets an ``__init__`` from its fields."""
        for decorator in cls.node.decorator_list:
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            if any(f.endswith(_DATACLASS) for f in self.names.fqns(func, cls.scope)):
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else ()
                return not any(k.arg == "init" for k in keywords)
        return False

    def _fields(self, cls: ClassEntity, owner: ClassEntity) -> Signature | None:
        """The fields of a dataclass and of those it derives from."""
        found: dict[str, bool] = {}
        for ancestor in reversed(self.classes.mro(owner)):
            if not isinstance(ancestor, ClassEntity) or not self._is_dataclass(ancestor):
                continue
            for statement in ancestor.node.body:
                if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
                    return None
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    kind = ast.unparse(statement.annotation)
                    if "ClassVar" in kind or "KW_ONLY" in kind:
                        continue
                    given, needed = _field(statement.value)
                    found.pop(statement.target.id, None)
                    if given:
                        found[statement.target.id] = needed
        return Signature(cls.fqn, tuple(found), frozenset(name for name, needed in found.items() if needed))


def _may_be_made_elsewhere(classes: Classes, cls: ClassEntity) -> bool:
    """Whether an ancestor without source could make the object another way than by ``__init__``."""
    outside = [a for a in classes.mro(cls) if not isinstance(a, ClassEntity)]
    return any(isinstance(a, Unknown) or a.fqn.partition(".")[0] not in ("torch", "transformers") for a in outside)


def _field(value: ast.expr | None) -> tuple[bool, bool]:
    """Whether a field is a parameter at all, and whether it has to be given."""
    if value is None:
        return True, True
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "field":
        words = {k.arg: k.value for k in value.keywords}
        init = words.get("init")
        given = not (isinstance(init, ast.Constant) and init.value is False)
        return given, not {"default", "default_factory", None} & set(words)
    return True, False


def _arguments(fqn: str, arguments: ast.arguments, skipped: bool) -> Signature | None:
    """The names that a signature takes; ``None`` with ``**kwargs``. The first is left out where it is bound."""
    if arguments.kwarg is not None:
        return None
    positional = [a.arg for a in arguments.args]
    if skipped and not arguments.posonlyargs:
        positional = positional[1:]
    names = [*positional, *(a.arg for a in arguments.kwonlyargs)]
    defaults = defaults_of(arguments)
    return Signature(fqn, tuple(names), frozenset(n for n in names if n not in defaults))


def _returns_its_argument(node: ast.FunctionDef | ast.AsyncFunctionDef, called: bool) -> bool:
    """Whether a decorator (or, ``called``, the function inside that it returns) gives back what it is given."""
    if called:
        inner = [s for s in node.body if isinstance(s, FUNCTIONS)]
        return len(inner) == 1 and _returns_its_argument(inner[0], called=False)
    given = node.args.args[0].arg if node.args.args else None
    returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return bool(returned) and all(isinstance(r, ast.Name) and r.id == given for r in returned)
