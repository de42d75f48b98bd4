"""How source code fills a keep list: the class body, its module, and the constructor, statement by statement.

Nothing is run. A list is followed through names, ``getattr``, ``append``, ``extend``, ``+=``, ``setattr`` and helpers
that get the object; what is done in a branch counts as possible. What cannot be followed leaves the list *incomplete*.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from automodel_lint.domain.keep_list import (
    A_DICT,
    A_GENERATOR,
    A_VIEW,
    LISTS,
    PLAIN,
    WRONG,
    Listed,
    Pattern,
    Problem,
    Store,
    joined,
    only_elements,
    supplies_lists,
)
from automodel_lint.domain.keep_list_forms import called_name, is_text, only_chooses, text
from automodel_lint.domain.keep_list_frame import Frame, reaches
from automodel_lint.inference.bindings import FUNCTIONS, branches, dotted
from automodel_lint.inference.classes import Classes, FunctionView, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Scope, Value
from automodel_lint.inference.values import Undecided, Values

MARK = PLAIN  # in the text of everything that touches either list
_COPIES = ("list", "set", "tuple", "sorted")
_ADDS_ONE = ("append", "add", "insert")
_ADDS_MANY = ("extend", "update")
_DEEPEST = 4


class Reader:
    """Reads the keep lists of classes; ``receiver`` is the class whose object is constructed."""

    def __init__(self, classes: Classes, values: Values, receiver: ClassEntity):
        self.classes, self.names, self.values, self.receiver = classes, classes.names, values, receiver
        self._bodies: dict[ClassEntity, Store] = {}

    # -- class level ----------------------------------------------------------------------------------------------

    def class_level(self, cls: ClassEntity, attribute: str) -> Listed:
        """Return the list as a class attribute: the first one along the method resolution order."""
        return self._first(self.classes.mro(cls), attribute)

    def _first(self, order: Iterable, attribute: str) -> Listed:
        complete = True
        for ancestor in order:
            if isinstance(ancestor, ClassEntity):
                own = self._body(ancestor)
                if attribute in own.lists:
                    found = joined([own.lists[attribute]])
                    found.complete = found.complete and complete
                    if not (self.classes.is_local(ancestor) and self.classes.in_checkout(ancestor)):
                        found.declared = None  # nobody can extend that
                    return found
            elif self.classes.is_opaque(ancestor) or supplies_lists(ancestor.fqn):
                complete = False
        return Listed(complete=complete)

    def _body(self, cls: ClassEntity) -> Store:
        store = self._bodies.get(cls)
        if store is None:
            store = self._bodies[cls] = Store(lambda attribute: self._first(self.classes.mro(cls)[1:], attribute))
            path = cls.module.path
            if self.classes.tree.holds(path, MARK.encode()):
                self._run_body(cls, store, self.classes.tree.lines_with(path, MARK))
            if self.classes.is_local(cls) and self._set_from_outside(cls):
                _give_up(store)
        return store

    def _run_body(self, cls: ClassEntity, store: Store, lines: set[int]) -> None:
        if reaches(cls.node, lines):
            scope = Scope(cls.module, (self.names.body(cls), *cls.scope.frames))
            Run(self, store, Frame(cls, scope, in_body=True)).run(cls.node.body)
            if any(reaches(s, lines) for s in cls.node.body if getattr(s, "name", "") in LISTS):
                _give_up(store)  # a property computes it
        later = [
            s for s in cls.module.syntax.body if reaches(s, lines) and not isinstance(s, (*FUNCTIONS, ast.ClassDef))
        ]
        if later:
            Run(self, store, Frame(cls, Scope(cls.module), frozenset((cls.name,)))).run(later)

    def _set_from_outside(self, cls: ClassEntity) -> bool:
        """Whether a decorator, or ``__init_subclass__`` of a base, mentions the lists."""
        makers = [self.names.resolve(called_name(d), cls.scope) for d in cls.node.decorator_list]
        functions = [(e.scope.module.path, e.node) for found in makers for e in found if isinstance(e, FunctionEntity)]
        members, _ = self.classes.find(cls, "__init_subclass__")
        for member in members:
            if member.function is not None and member.owner is not cls and self.classes.is_local(member.owner):
                functions.append((member.owner.module.path, member.function))
        tree = self.classes.tree
        return any(
            tree.holds(path, MARK.encode()) and reaches(node, tree.lines_with(path, MARK)) for path, node in functions
        )

    # -- object level ---------------------------------------------------------------------------------------------

    def object_level(self) -> Store:
        """Return the lists as the constructor leaves them."""
        store = Store(lambda attribute: self.class_level(self.receiver, attribute))
        members, opaque = self.classes.find(self.receiver, "__init__")
        for member in members if not opaque else ():
            if member.function is not None and self.classes.is_local(member.owner):
                view = MethodView(self.classes, self.receiver, member)
                Run(self, store, Frame.of(view)).run(view.node.body)
        return store


class Run:
    """One block of code, as far as keep lists are concerned."""

    def __init__(self, reader: Reader, store: Store, frame: Frame):
        self.reader, self.store, self.frame = reader, store, frame
        self.locals: dict[str, list[ast.expr | Listed]] = {}  # an expression is evaluated when it is first asked for

    # -- statements -----------------------------------------------------------------------------------------------

    def run(self, body: list[ast.stmt], conditional: bool = False) -> None:
        """Follow every statement; those in branches as possible ones."""
        for statement in body:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            self._bind_inside(statement, conditional)
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self._bind(target, statement.value, statement, conditional)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._bind(statement.target, statement.value, statement, conditional)
            elif isinstance(statement, ast.AugAssign):
                self._augment(statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._act(statement.value, statement, conditional)
            else:
                if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                    self.locals[statement.target.id] = [statement.iter]  # every element of it in turn
                for branch, sure in branches(statement):
                    self.run(branch, conditional or not sure)

    def _bind(self, target: ast.expr, value: ast.expr, statement: ast.stmt, conditional: bool) -> None:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for part, its_value in zip(target.elts, value.elts, strict=False):
                self._bind(part, its_value, statement, conditional)
            return
        attribute = self._attribute(target)
        if attribute is not None:
            self.store.write(attribute, self.listed(value), self.frame.place(statement), conditional)
        elif isinstance(target, ast.Subscript) and self._is_list(target.value):
            added = self.listed if isinstance(target.slice, ast.Slice) else self._element
            self._add(target.value, added(value), statement)
        elif isinstance(target, ast.Name):
            self.locals[target.id] = [*(self.locals.get(target.id, ()) if conditional else ()), value]

    def _bind_inside(self, statement: ast.stmt, conditional: bool) -> None:
        """Follow ``:=`` in a simple statement."""
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) and self.frame.in_body:
            for node in ast.walk(statement):
                if isinstance(node, ast.NamedExpr):
                    self._bind(node.target, node.value, statement, conditional)

    def _augment(self, statement: ast.AugAssign) -> None:
        if self._is_list(statement.target):
            self._add(statement.target, self.listed(statement.value), statement)

    def _is_list(self, expr: ast.expr) -> bool:
        known = isinstance(expr, ast.Name) and expr.id in self.locals
        return known or self._attribute(expr) is not None

    def _add(self, expr: ast.expr, added: Listed, statement: ast.stmt) -> None:
        listed = self.listed(expr)
        listed.take(only_elements(added))
        if self._attribute(expr) is not None:
            listed.declared = listed.declared or self.frame.place(statement)

    def _act(self, call: ast.Call, statement: ast.stmt, conditional: bool) -> None:
        func = call.func
        if dotted(func) in ("setattr", "object.__setattr__") and len(call.args) == 3:
            if self._is_self(call.args[0]) and text(call.args[1]) in LISTS:
                self.store.write(
                    text(call.args[1]), self.listed(call.args[2]), self.frame.place(statement), conditional
                )
            return
        if isinstance(func, ast.Attribute) and func.attr == "update" and self._is_namespace(func.value):
            for keyword in call.keywords:
                if keyword.arg in LISTS:
                    self.store.write(keyword.arg, self.listed(keyword.value), self.frame.place(statement), conditional)
            return
        if isinstance(func, ast.Attribute) and func.attr in (*_ADDS_ONE, *_ADDS_MANY) and call.args:
            if self._is_list(func.value):
                added = self._element if func.attr in _ADDS_ONE else self.listed
                self._add(func.value, added(call.args[-1]), statement)
            return
        if self.frame.view is not None:
            self._call(call, self.frame.view)

    def _call(self, call: ast.Call, view: MethodView) -> None:
        """Follow a call that may do something to the object: a method of it, a base's, a function that gets it."""
        func = call.func
        on_self = isinstance(func, ast.Attribute) and (self._is_self(func.value) or is_super(func.value))
        handed = [index for index, argument in enumerate(call.args) if self._is_self(argument)]
        if self.frame.depth >= _DEEPEST or not (on_self or handed):
            return
        callee = view.callee(call)
        if isinstance(callee, FunctionEntity):
            arguments = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
            selves = frozenset(arguments[i] for i in handed if i < len(arguments))
            function = FunctionView(view, callee)
            if self._touches(function):
                frame = replace(Frame.of(function, self.frame.depth + 1), selves=selves, at=self.frame.place(call))
                Run(self.reader, self.store, frame).run(callee.node.body)
        elif callee is not None and self._may_touch(callee, view):
            Run(self.reader, self.store, Frame.of(callee, self.frame.depth + 1)).run(callee.node.body)

    def _may_touch(self, callee: MethodView, caller: MethodView) -> bool:
        if callee.node is caller.node or not self.reader.classes.is_local(callee.owner):
            return False
        return callee.node.name == "__init__" or self._touches(callee)  # a constructor calls others in turn

    def _touches(self, view: MethodView) -> bool:
        path = view.module.path
        tree = self.reader.classes.tree
        return tree.holds(path, MARK.encode()) and reaches(view.node, tree.lines_with(path, MARK))

    # -- expressions ----------------------------------------------------------------------------------------------

    def _is_self(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Name):
            return expr.id in self.frame.selves or (expr.id == "__class__" and self.frame.view is not None)
        if isinstance(expr, ast.Call) and dotted(expr.func) == "type":
            return len(expr.args) == 1 and self._is_self(expr.args[0])
        return isinstance(expr, ast.Attribute) and expr.attr == "__class__" and self._is_self(expr.value)

    def _is_namespace(self, expr: ast.expr) -> bool:
        """``self.__dict__`` or ``vars(self)``."""
        if isinstance(expr, ast.Call):
            return dotted(expr.func) == "vars" and len(expr.args) == 1 and self._is_self(expr.args[0])
        return isinstance(expr, ast.Attribute) and expr.attr == "__dict__" and self._is_self(expr.value)

    def _attribute(self, expr: ast.expr) -> str | None:
        """Return which list of the object or class an expression is, if it is one."""
        if isinstance(expr, ast.Subscript) and self._is_namespace(expr.value):
            return text(expr.slice) if text(expr.slice) in LISTS else None
        if isinstance(expr, ast.Name):
            return expr.id if self.frame.in_body and expr.id in LISTS else None
        if isinstance(expr, ast.Attribute) and expr.attr in LISTS:
            return expr.attr if self._is_self(expr.value) or is_super(expr.value) else None
        return None

    def listed(self, expr: ast.expr) -> Listed:
        """Return what an expression can hold if it is to be a keep list."""
        attribute = self._attribute(expr)
        if attribute is not None:
            return self.store.read(attribute)
        if isinstance(expr, ast.Name) and expr.id in self.locals:
            return self._local(expr.id)
        if isinstance(expr, ast.Constant):
            return self._constant(expr)
        if isinstance(expr, (ast.List, ast.Tuple, ast.Set)):
            return joined(map(self._element, expr.elts))
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, (ast.Add, ast.BitOr)) and not is_text(expr):
            return joined((self.listed(expr.left), self.listed(expr.right)))
        if isinstance(expr, ast.BoolOp):
            return joined(self.listed(value) for value in expr.values)
        if isinstance(expr, ast.IfExp):
            return joined((self.listed(expr.body), self.listed(expr.orelse)))
        if isinstance(expr, (ast.Dict, ast.DictComp)):
            return Listed(problems=[Problem(A_DICT, self.frame.place(expr))], complete=False)
        if isinstance(expr, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            found = self.listed(expr.generators[0].iter) if only_chooses(expr) else self._outside(expr)
            if isinstance(expr, ast.GeneratorExp):
                found = joined([found, Listed(problems=[Problem(A_GENERATOR, self.frame.place(expr))])])
            return found
        known = self._called(expr) if isinstance(expr, ast.Call) else None
        return known if known is not None else self._outside(expr)

    def _local(self, name: str) -> Listed:
        parts = self.locals[name]
        self.locals[name] = []  # a name that is built from itself
        lists = [part if isinstance(part, Listed) else self.listed(part) for part in parts]
        found = lists[0] if len(lists) == 1 else joined(lists)
        self.locals[name] = [found]
        return found

    def _constant(self, expr: ast.Constant) -> Listed:
        if expr.value is None:
            return Listed()
        if isinstance(expr.value, str):  # what was meant is plain enough not to report its tensors as well
            problem = Problem(f"the bare string {expr.value!r}", self.frame.place(expr))
            return Listed([Pattern(expr.value, self.frame.place(expr))], [problem])
        return Listed(problems=[Problem(f"`{ast.unparse(expr)}`", self.frame.place(expr))], complete=False)

    def _element(self, expr: ast.expr) -> Listed:
        """Return a list of the patterns that one element can be, or that are spread in its place."""
        if isinstance(expr, ast.Starred):
            return only_elements(self.listed(expr.value))
        if isinstance(expr, ast.Name) and expr.id in self.locals:
            looped = self._local(expr.id)
            return Listed(list(looped.patterns), complete=looped.complete)
        try:
            possible = self.reader.values.possible(expr, self.frame.scope)
        except Undecided:
            return Listed(complete=False)
        return self._of_values([possible], expr)

    def _called(self, call: ast.Call) -> Listed | None:
        name, func = dotted(call.func), call.func
        if name in (*_COPIES, *WRONG) and not call.keywords and (len(call.args) < 2 or name in ("map", "filter")):
            found = joined(self.listed(argument) for argument in call.args[-1:])
            found.complete = found.complete and name != "map"
            found.problems = [p for p in found.problems if p.kind.startswith("the bare")]
            if name in WRONG:
                found.problems.append(Problem(WRONG[name], self.frame.place(call)))
            return found
        if name == "getattr" and len(call.args) in (2, 3) and text(call.args[1]) in LISTS:
            if self._is_self(call.args[0]) or is_super(call.args[0]):
                return joined((self.store.read(text(call.args[1])), *map(self.listed, call.args[2:])))
            owner = ast.Attribute(call.args[0], text(call.args[1]), ast.Load())
            return joined((self._outside(owner), *map(self.listed, call.args[2:])))
        if isinstance(func, ast.Attribute) and func.attr in ("copy", "union"):
            return joined((self.listed(func.value), *(only_elements(self.listed(a)) for a in call.args)))
        if isinstance(func, ast.Attribute) and func.attr == "keys" and not call.args:
            return Listed(problems=[Problem(A_VIEW, self.frame.place(call))], complete=False)
        return None

    def _outside(self, expr: ast.expr) -> Listed:
        """What another class, a module-level name or a computation gives; written, for our purposes, here."""
        if isinstance(expr, ast.Attribute) and expr.attr in LISTS:
            owners = self.reader.names.resolve(expr.value, self.frame.scope)
            if not owners or not all(isinstance(o, ClassEntity) for o in owners):
                return Listed(complete=False)
            found = joined(self.reader.class_level(o, expr.attr) for o in owners if isinstance(o, ClassEntity))
            found.declared = None  # that is another class's
            return found
        entities = (
            self.reader.names.resolve(expr, self.frame.scope) if isinstance(expr, (ast.Name, ast.Attribute)) else []
        )
        values = [e for e in entities if isinstance(e, Value)]
        if values and len(values) == len(entities):
            return joined(self._elsewhere(value, expr) for value in values)
        try:
            return self._of_values(self.reader.values.possible(expr, self.frame.scope), expr)
        except Undecided:
            return Listed(complete=False)

    def _elsewhere(self, value: Value, expr: ast.expr) -> Listed:
        here = self.frame.place(expr)
        at = self.frame.at if value.scope.module is self.frame.scope.module else here
        found = Run(self.reader, self.store, Frame(self.frame.owner, value.scope, at=at)).listed(value.expr)
        found.problems = [replace(problem, place=here) for problem in found.problems]
        return found

    def _of_values(self, possible: list, expr: ast.expr) -> Listed:
        """A list of all that the elements of evaluated lists can be."""
        place, found = self.frame.place(expr), Listed()
        for value in possible:
            if value is None:
                continue
            if isinstance(value, str):
                found.problems.append(Problem(f"the bare string {value!r}", place))
            elif not isinstance(value, (list, tuple, set)):
                found.problems.append(Problem(f"`{ast.unparse(expr)}`", place))
            for element in value if isinstance(value, (list, tuple, set)) else (value,):
                if isinstance(element, str):
                    found.patterns.append(Pattern(element, place))
                else:
                    found.complete = False  # something was meant to be pinned
                if not isinstance(element, str) or not element.strip():
                    found.problems.append(Problem(f"the element `{ast.unparse(expr)}`", place))
        return found


def _give_up(store: Store) -> None:
    """The lists are set where they cannot be followed."""
    for attribute in LISTS:
        store.read(attribute).complete = False
