"""Where a class casts the whole model to another dtype, and what runs after that.

A cast is *raw* (``self.to(dtype)``, ``.half()``, ``.bfloat16()``): it rounds whatever the model holds. The framework's
own ``cast_model_to_dtype`` puts back what the keep lists name; ``yield_fp32_model`` ends in such a cast.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.constructing import constructing
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import FUNCTIONS, Binding, branches, dotted, literal_truth
from automodel_lint.inference.classes import Classes, FunctionView, Member, MethodView, is_super
from automodel_lint.inference.names import (
    ClassEntity,
    External,
    FunctionEntity,
    Module,
    Names,
    Scope,
    Value,
    all_arguments,
)
from automodel_lint.inference.values import Undecided, Values
from automodel_lint.source import remembered

RAW, KEEPING, SCOPED = "raw", "cast_model_to_dtype", "yield_fp32_model"
WIDE = frozenset({"float32", "float", "float64", "double"})
_DTYPES = WIDE | {"bfloat16", "float16", "half"}
_RAW = {"to": "", "type": "", "half": "float16", "bfloat16": "bfloat16"}
_SAME_MODULE = frozenset({*_RAW, "float", "double", "cuda", "cpu", "eval", "train", "to_empty", "requires_grad_"})
_BUILDS = frozenset({"from_config", "_from_config", "from_pretrained"})
_CASTS = re.compile(r"\.(to|type|half|bfloat16)\(|cast_model_to_dtype|yield_fp32_model|(^|[(,=])\s*(self|model)\s*[,)]")
_DEEPEST = 6


@dataclass(frozen=True, eq=False)
class Cast:
    """One cast of the whole model.

    Attributes:
        view: the method it happens in.
        node: the call that an author would edit.
        kind: ``raw``, or the framework's function that is called.
        target: the model, as written.
        given: the dtype, as written; empty if it is the default.
        dtype: the torch dtype that is written down; empty if it is only known at run time.
        skips: the module names that the call leaves alone, ``None`` if that cannot be told.
        tail: the statements that run after it, in order.
        through: the cast in the function that ``node`` calls, if it is no cast itself.
    """

    view: MethodView
    node: ast.Call
    kind: str
    target: str
    given: str
    dtype: str
    skips: frozenset[str] | None
    tail: tuple[ast.stmt, ...]
    through: Cast | None = None

    @property
    def innermost(self) -> Cast:
        """The cast itself, behind whatever functions lead to it."""
        return self.through.innermost if self.through is not None else self

    @property
    def rounds(self) -> bool:
        """Whether it can lose precision."""
        return self.dtype not in WIDE

    def reaches(self, fqn: str) -> bool:
        """Tell whether it casts the tensor of that name."""
        return self.skips is not None and not self.skips & set(fqn.split("."))


def running_methods(classes: Classes, cls: ClassEntity) -> Iterator[MethodView]:
    """Yield the methods that can run for an object of a class: its own, and of its bases what is not replaced.

    A method that is overridden still runs if the one that overrides it calls ``super()``.
    """
    replaced: set[str] = set()
    for ancestor in classes.mro(cls):
        if isinstance(ancestor, ClassEntity):
            functions = [f for f in classes.methods(ancestor) if f.name not in replaced]
            yield from (MethodView(classes, cls, Member(ancestor, Binding("def", f))) for f in functions)
            lines = classes.tree.lines(ancestor.module.path)
            replaced |= {f.name for f in functions if not _asks_base(f, lines)}


def _asks_base(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> bool:
    return any("super(" in line for line in lines[function.lineno - 1 : function.end_lineno])


@remembered
def casts_when_made(project: Project, cls: ClassEntity) -> frozenset[str]:
    """Return the kinds of casts of the whole object that making a ``cls`` runs."""
    casts = whole_model_casts(project.classes, project.values, cls)
    bodies = {view.node for view in constructing(project, cls)} if casts else set()
    return frozenset(cast.kind for cast in casts if cast.view.node in bodies)


@remembered
def whole_model_casts(classes: Classes, values: Values, cls: ClassEntity) -> list[Cast]:
    """Return the casts of the whole model in the methods of a class and of its bases in the checkout."""
    found: list[Cast] = []
    for view in running_methods(classes, cls):
        if classes.is_local(view.owner) and view.node.name not in (*_SAME_MODULE, "_apply"):
            found += _Casts(view, values).found()
    return found


def _lines_of_interest(view: MethodView) -> list[int]:
    """The lines of a method that mention a cast, an alias that its module gave one, or that hand the model on."""
    numbers = _interesting(view.classes, view.module)
    return numbers[bisect_left(numbers, view.node.lineno) : bisect_right(numbers, view.node.end_lineno or 0)]


@remembered
def _interesting(classes: Classes, module: Module) -> list[int]:
    names = module.bindings.names.items()
    aliases = [n for n, bound in names if any(b.kind == "from" and b.name in (KEEPING, SCOPED) for b in bound)]
    lines = enumerate(classes.tree.lines(module.path), 1)
    return [n for n, line in lines if _CASTS.search(line) or any(alias in line for alias in aliases)]


def _calls_on(body: list[ast.stmt], lines: list[int]) -> list[ast.Call]:
    """The calls that reach over one of some lines, in order; far cheaper than a walk over a whole ``forward``."""
    found: list[ast.Call] = []
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        start = getattr(node, "lineno", None)
        if start is None or bisect_left(lines, start) != bisect_right(lines, node.end_lineno):  # type: ignore[attr-defined]
            found += [node] if isinstance(node, ast.Call) else []
            truth = literal_truth(node.test) if isinstance(node, ast.If) else None
            todo.extend(ast.iter_child_nodes(node) if truth is None else node.body if truth else node.orelse)  # type: ignore
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


class _Casts:
    """Looks for casts in one method, or in a helper that it hands the model to."""

    def __init__(self, view: MethodView, values: Values, models: frozenset[str] = frozenset(), depth: int = 0):
        self.view, self.values, self.depth = view, values, depth
        self.names = view.classes.names
        self.dtypes = Dtypes(self.names, view)
        self.models = models | ({view.self_name} - {""} if _takes_object(view.node) else set())

    def found(self) -> Iterator[Cast]:
        for call in _calls_on(self.view.node.body, _lines_of_interest(self.view)):
            cast = self._cast(call)
            if cast is not None:
                yield cast

    def _cast(self, call: ast.Call) -> Cast | None:
        raw = self._raw(call)
        if raw is not None:
            return raw
        target = _argument(call, 0, "model")
        if target is None or not self._is_model(target):
            return self._helped(call)
        for function in (KEEPING, SCOPED):
            if self.names.leads_to(call, self.view.scope, function):
                given = _argument(call, 1, "dtype" if function == KEEPING else "restore_dtype")
                dtype = (self.dtypes.of(given) if given is not None else None) or ""
                return self._made(call, function, target, given, dtype, self._skips(call))
        return self._helped(call)

    def _made(
        self,
        call: ast.Call,
        kind: str,
        target: ast.expr,
        given: ast.expr | str | None,
        dtype: str,
        skips: frozenset[str] | None = frozenset(),
    ) -> Cast:
        written = given if isinstance(given, str) else ast.unparse(given) if given is not None else ""
        tail = tuple(following(self.view.node.body, call)[0])
        return Cast(self.view, call, kind, ast.unparse(target), written, dtype, skips, tail)

    def _skips(self, call: ast.Call) -> frozenset[str] | None:
        given = _argument(call, 2, "skip_modules")
        if given is None:
            return frozenset()
        try:
            value = self.values.single(given, self.view.scope)
        except Undecided:
            return None
        return frozenset(value) if isinstance(value, (list, tuple, set)) else None

    # -- raw casts ----------------------------------------------------------------------------------------------------

    def _raw(self, call: ast.Call) -> Cast | None:
        """The raw cast of the model that a call is, if it is one."""
        func, arguments = call.func, call.args
        if not isinstance(func, ast.Attribute) or func.attr not in _RAW:
            return None
        target = func.value
        if is_super(target) and self.models:
            target = ast.Name(self.view.self_name)
        elif not self._is_model(target):
            if not arguments or not self._is_model(arguments[0]) or not self._is_module_class(target):
                return None
            target, *arguments = arguments  # nn.Module.to(self, dtype)
        if _RAW[func.attr]:
            return self._made(call, RAW, target, f"torch.{_RAW[func.attr]}", _RAW[func.attr])
        named = [k.value for k in call.keywords if k.arg in ("dtype", "dst_type")]
        if named:
            is_none = isinstance(named[0], ast.Constant) and named[0].value is None
            return None if is_none else self._made(call, RAW, target, named[0], self.dtypes.of(named[0]) or "")
        for given in arguments[:2]:
            dtype = self.dtypes.of(given)
            if dtype is not None:
                return self._made(call, RAW, target, given, dtype)
        return None

    def _is_module_class(self, expr: ast.expr) -> bool:
        return any(fqn.endswith(".Module") for fqn in self.names.fqns(expr, self.view.scope))

    def _is_model(self, expr: ast.expr, below: tuple[str, ...] = ()) -> bool:
        """Whether an expression is the model: ``self``, what the class builds, or either under another name."""
        if isinstance(expr, ast.NamedExpr):
            return self._is_model(expr.value, below)
        if isinstance(expr, ast.Name):
            if expr.id in self.models:
                return True
            bound = self.view.scope.frames[0].names.get(expr.id, ()) if expr.id not in below else ()
            values = [b.node for b in bound if b.kind == "value" and isinstance(b.node, ast.expr)]
            return any(self._is_model(value, (*below, expr.id)) for value in values)
        if not isinstance(expr, ast.Call):
            return False
        func = expr.func
        if isinstance(func, ast.Attribute) and func.attr in _SAME_MODULE:
            return self._is_model(func.value, below) or (is_super(func.value) and bool(self.models))
        return self._builds(func)

    def _builds(self, func: ast.expr) -> bool:
        """``cls(config)``, ``cls.from_config(config)``, ``super().from_pretrained(path)``, the class by its name."""
        if isinstance(func, ast.Attribute) and func.attr in _BUILDS:
            if is_super(func.value):
                return True
            func = func.value
        if isinstance(func, ast.Name) and func.id == self.view.self_name and _takes_class(self.view.node):
            return True
        if not isinstance(func, (ast.Name, ast.Attribute)):
            return False
        built = {e for e in self.names.resolve(func, self.view.scope) if isinstance(e, ClassEntity)}
        return bool(built & {self.view.receiver, self.view.owner})

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _helped(self, call: ast.Call) -> Cast | None:
        """A function of the checkout that is handed the model and casts it."""
        given = [*call.args, *(k.value for k in call.keywords)]
        if self.depth > 2 or not any(isinstance(a, ast.Name) and self._is_model(a) for a in given):
            return None
        callee = self.view.callee(call)
        if not isinstance(callee, FunctionEntity) or callee.node.name in (KEEPING, SCOPED):
            return None
        view = FunctionView(self.view, callee)
        parameters = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
        models = {p for p, a in zip(parameters, call.args, strict=False) if self._is_model(a)}
        models |= {k.arg for k in call.keywords if k.arg and self._is_model(k.value)}
        inner = next(_Casts(view, self.values, frozenset(models), self.depth + 1).found(), None)
        if inner is None:
            return None
        tail = (*inner.tail, *following(self.view.node.body, call)[0])
        return Cast(self.view, call, inner.kind, inner.target, inner.given, inner.dtype, inner.skips, tail, inner)


class Dtypes:
    """Tells what dtype an expression of a function is."""

    def __init__(self, names: Names, view: MethodView):
        self.names, self.view = names, view
        self.arguments = {a.arg: a for a in all_arguments(view.node.args)}

    def of(self, expr: ast.expr) -> str | None:
        """Return a torch dtype by its name, empty for a dtype known at run time, ``None`` for what is no dtype."""
        return self._of(expr, self.view.scope, 0)

    def _of(self, expr: ast.expr, scope: Scope, depth: int) -> str | None:
        if depth > _DEEPEST:
            return None
        if isinstance(expr, (ast.IfExp, ast.BoolOp)):
            sides = expr.values if isinstance(expr, ast.BoolOp) else [expr.body, expr.orelse]
            found = {self._of(side, scope, depth + 1) for side in sides}
            return found.pop() if len(found) == 1 else "" if found - {None} else None
        if isinstance(expr, ast.Call):
            return _named_of_torch(expr) or ("" if _speaks_of_dtype(expr) else None)
        if isinstance(expr, ast.Subscript):
            return "" if "dtype" in ast.unparse(expr).lower() else None
        if not isinstance(expr, (ast.Name, ast.Attribute)):
            return None
        found = set()
        for entity in self.names.resolve(expr, scope):
            if isinstance(entity, External) and entity.fqn.startswith("torch."):
                name = entity.fqn.rpartition(".")[2]
                found.add(name if name in _DTYPES or "float" in name else None)
            elif isinstance(entity, Value):
                found.add(self._of(entity.expr, entity.scope, depth + 1))
        if len(found) == 1 and found != {None}:
            return found.pop()
        return "" if found - {None} or self._named(expr) else None

    def _named(self, expr: ast.Name | ast.Attribute) -> bool:
        """Whether the name, or the annotation of the parameter, says that it is a dtype."""
        argument = self.arguments.get(expr.id) if isinstance(expr, ast.Name) else None
        annotation = argument.annotation if argument is not None else None
        if annotation is not None and "dtype" in ast.unparse(annotation):
            return True
        return "dtype" in (expr.id if isinstance(expr, ast.Name) else expr.attr).lower()


def _named_of_torch(call: ast.Call) -> str | None:
    """``getattr(torch, "float32")``."""
    name = call.args[1] if dotted(call.func) == "getattr" and len(call.args) > 1 else None
    known = isinstance(name, ast.Constant) and name.value in _DTYPES and dotted(call.args[0]) == "torch"
    return name.value if known else None  # type: ignore[union-attr, return-value]


def _speaks_of_dtype(call: ast.Call) -> bool:
    """``get_dtype(x)``, ``getattr(config, "torch_dtype", None)``, ``kwargs.pop("dtype")``, ``getattr(torch, name)``."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    if "dtype" in name.lower() or (name == "getattr" and call.args and dotted(call.args[0]) == "torch"):
        return True
    words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any("dtype" in word.lower() for word in words)


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    named = [k.value for k in call.keywords if k.arg == name]
    return named[0] if named else call.args[position] if len(call.args) > position else None


def _decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {dotted(d).rpartition(".")[2] for d in function.decorator_list}


def _takes_object(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return not _decorators(function) & {"classmethod", "staticmethod"}


def _takes_class(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return "classmethod" in _decorators(function)


def following(body: list[ast.stmt], node: ast.AST) -> tuple[list[ast.stmt], bool]:
    """Return the statements of a block that run after ``node`` has run, and whether the block is left on the way."""
    for position, statement in enumerate(body):
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)) or not any(n is node for n in ast.walk(statement)):
            continue
        if isinstance(statement, (ast.Return, ast.Raise)):
            return [], True
        found: list[ast.stmt] = []
        for branch, _ in branches(statement):
            if any(n is node for inner in branch for n in ast.walk(inner)):
                found, left = following(branch, node)
                if left:
                    return found, True
        for later in body[position + 1 :]:
            found.append(later)
            if isinstance(later, (ast.Return, ast.Raise)):
                return found, True
            if isinstance(later, (ast.Continue, ast.Break)):
                break
        return found, False
    return [], False
