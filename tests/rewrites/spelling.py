"""Rewrites of spelling: names, dtypes, buffers, keep lists, conditions and calls that say the same in other words."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from . import Rewrite
from .syntax import blocks, by_syntax, constructors

_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SECOND_DTYPES = {"float32": "float", "float16": "half", "float64": "double", "int64": "long", "int32": "int"}
_KEEP_LISTS = ("_keep_in_fp32_modules", "_keep_in_fp32_modules_strict")


def _is_attribute_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name


def _methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The methods of classes that get an object."""
    for cls in ast.walk(tree):
        for statement in cls.body if isinstance(cls, ast.ClassDef) else ():
            is_method = isinstance(statement, ast.FunctionDef) and statement.args.args
            if is_method and not any(ast.unparse(d).endswith("staticmethod") for d in statement.decorator_list):
                yield statement


# -- names ----------------------------------------------------------------------------------------------------------


def _self_renamed(tree: ast.Module) -> None:
    """``self`` becomes ``this``."""
    for method in _methods(tree):
        inside = [n for n in ast.walk(method) if isinstance(n, _OWN_SCOPE) and n is not method]
        taken = any(a.arg in ("self", "this") for n in inside for a in ast.walk(n) if isinstance(a, ast.arg))
        if method.args.args[0].arg != "self" or taken:
            continue
        method.args.args[0].arg = "this"
        for node in ast.walk(method):
            if isinstance(node, ast.Name) and node.id == "self":
                node.id = "this"


def _torch_in_full(tree: ast.Module) -> None:
    """``nn.Linear`` becomes ``torch.nn.Linear``, ``F.silu`` ``torch.nn.functional.silu``."""
    imported = {a.asname or a.name for s in tree.body if isinstance(s, ast.Import) for a in s.names}
    full = {"nn": "torch.nn", "F": "torch.nn.functional"}
    short = {n: m for n, m in full.items() if n in imported and "torch" in imported}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    class Named(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in short and node.id not in bound:
                return ast.parse(short[node.id], mode="eval").body
            return node

    Named().visit(tree)


def _second_dtypes(tree: ast.Module) -> None:
    """``torch.float32`` becomes ``torch.float``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_attribute_of(node, "torch"):
            node.attr = _SECOND_DTYPES.get(node.attr, node.attr)


# -- keep lists -----------------------------------------------------------------------------------------------------


def _keep_lists(change: Callable[[ast.List, str], tuple[list[ast.stmt], ast.expr]]) -> Callable[[ast.Module], None]:
    def changed(tree: ast.Module) -> None:
        for parent in list(ast.walk(tree)):
            body = getattr(parent, "body", None)
            for cls in list(body) if isinstance(body, list) else ():
                for statement in cls.body if isinstance(cls, ast.ClassDef) else ():
                    target = _single_target(statement)
                    if isinstance(target, ast.Name) and target.id in _KEEP_LISTS:
                        value = statement.value  # type: ignore[attr-defined]
                        if isinstance(value, ast.List) and value.elts:
                            before, after = change(value, f"_{cls.name}{target.id}")
                            body[body.index(cls) : body.index(cls)] = before
                            statement.value = after  # type: ignore[attr-defined]

    return changed


def _single_target(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0]
    return statement.target if isinstance(statement, ast.AnnAssign) and statement.value is not None else None


def _extended(value: ast.List, name: str) -> tuple[list[ast.stmt], ast.expr]:
    """``["a", "b"]`` becomes ``_FIRST + ["b"]``."""
    first = ast.Assign([ast.Name(name, ast.Store())], ast.List(value.elts[:1], ast.Load()))
    rest = ast.List(value.elts[1:], ast.Load())
    return [first], ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), rest)


def _named(value: ast.List, name: str) -> tuple[list[ast.stmt], ast.expr]:
    """``["a", "b"]`` becomes ``_NAME``, a tuple, spread into a list."""
    first = ast.Assign([ast.Name(name, ast.Store())], ast.Tuple(value.elts, ast.Load()))
    return [first], ast.List([ast.Starred(ast.Name(name, ast.Load()))], ast.Load())


def _copied(value: ast.List, name: str) -> tuple[list[ast.stmt], ast.expr]:
    """``["a", "b"]`` becomes ``list(("a", "b"))``."""
    return [], ast.Call(ast.Name("list", ast.Load()), [ast.Tuple(value.elts, ast.Load())], [])


# -- modules and buffers ----------------------------------------------------------------------------------------------


def _added(tree: ast.Module) -> None:
    """``self.x = nn.Linear(…)`` becomes ``self.add_module("x", nn.Linear(…))``, for parameters their own method."""
    methods = {"Parameter": "register_parameter", "Buffer": ""}
    for _, init in constructors(tree):
        me = init.args.args[0].arg
        for block in blocks(init):
            for index, statement in enumerate(block):
                target = _single_target(statement) if isinstance(statement, ast.Assign) else None
                value = getattr(statement, "value", None)
                if target is None or not _is_attribute_of(target, me) or not isinstance(value, ast.Call):
                    continue
                if _is_attribute_of(value.func, "nn") and value.func.attr[:1].isupper():
                    method = methods.get(value.func.attr, "add_module")
                    if method:
                        called = ast.Attribute(target.value, method, ast.Load())
                        block[index] = ast.Expr(ast.Call(called, [ast.Constant(target.attr), value], []))


def _buffers_by_keyword(tree: ast.Module) -> None:
    """``self.register_buffer("x", t)`` becomes ``self.register_buffer(name="x", tensor=t)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer":
            names = ("name", "tensor", "persistent")
            if not any(isinstance(a, ast.Starred) for a in node.args):
                given = [ast.keyword(n, a) for n, a in zip(names, node.args, strict=False)]
                node.args, node.keywords = [], [*given, *node.keywords]


def _buffers_filled_later(tree: ast.Module) -> None:
    """``self.register_buffer("x", t)`` becomes ``self.register_buffer("x", None)`` and ``self.x = t``."""
    for _, init in constructors(tree):
        for block in blocks(init):
            for index in range(len(block) - 1, -1, -1):
                call = getattr(block[index], "value", None) if isinstance(block[index], ast.Expr) else None
                func = call.func if isinstance(call, ast.Call) else None
                if not isinstance(func, ast.Attribute) or func.attr != "register_buffer" or len(call.args) < 2:
                    continue
                name, tensor = call.args[:2]
                if isinstance(name, ast.Constant) and not isinstance(tensor, ast.Constant):
                    call.args[1] = ast.Constant(None)
                    target = ast.Attribute(func.value, name.value, ast.Store())
                    block.insert(index + 1, ast.Assign([target], tensor))


def _lists_in_place(tree: ast.Module) -> None:
    """``self.x = nn.ModuleList([e for i in s])`` becomes an empty list and a loop that appends to it, or adds."""
    number = 0
    for _, init in constructors(tree):
        for block in blocks(init):
            for index in range(len(block) - 1, -1, -1):
                statement = block[index]
                inner = _comprehension_of_list(statement)
                if inner is None or not isinstance(statement, ast.Assign):
                    continue
                number += 1
                element, generator = _renamed_apart(inner, number)
                owner = copy.deepcopy(statement.targets[0])
                owner.ctx = ast.Load()  # type: ignore[attr-defined]
                if number % 2:
                    call = ast.Call(ast.Attribute(owner, "append", ast.Load()), [element], [])
                    add: list[ast.stmt] = [ast.Expr(call)]
                else:
                    added = ast.List([element], ast.Load())
                    add = [ast.AugAssign(copy.deepcopy(statement.targets[0]), ast.Add(), added)]  # type: ignore[arg-type]
                for test in reversed(generator.ifs):
                    add = [ast.If(test, add, [])]
                statement.value.args = []  # type: ignore[attr-defined]
                block.insert(index + 1, ast.For(generator.target, generator.iter, add, []))


def _comprehension_of_list(statement: ast.stmt) -> ast.ListComp | ast.GeneratorExp | None:
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).endswith("ModuleList") or len(value.args) != 1:
        return None
    inner = value.args[0]
    is_plain = isinstance(inner, (ast.ListComp, ast.GeneratorExp)) and len(inner.generators) == 1
    return inner if is_plain else None  # type: ignore[return-value]


def _renamed_apart(inner: ast.ListComp | ast.GeneratorExp, number: int) -> tuple[ast.expr, ast.comprehension]:
    """Element and loop of a comprehension, its variables renamed so that they can stand in the function itself."""
    generator = inner.generators[0]
    names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
    for part in (inner.elt, generator.target, *generator.ifs):
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and node.id in names:
                node.id = f"{node.id}_{number}"
    return inner.elt, generator


def _loops_as_comprehensions(tree: ast.Module) -> None:
    """``rows = []``, ``for i in s: rows.append(e)`` becomes ``rows = [e for i in s]``; empty module lists, too."""
    for _, init in constructors(tree):
        for block in blocks(init):
            for index in range(len(block) - 1, 0, -1):
                start = _start_of(block, index)
                made = _filled(start, block[index]) if start is not None else None
                if start is None or made is None:
                    continue
                block.remove(start)
                block[index - 1] = start  # in the place of the loop
                if isinstance(start.value, ast.Call):
                    start.value.args = [made]
                else:
                    start.value = made


def _start_of(block: list[ast.stmt], index: int) -> ast.Assign | None:
    """The assignment of an empty list that the loop at ``index`` fills, if nothing in between mentions the list."""
    call = getattr(block[index].body[0], "value", None) if isinstance(block[index], ast.For) else None
    owner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    for statement in reversed(block[:index]) if owner is not None else ():
        target = _single_target(statement) if isinstance(statement, ast.Assign) else None
        if target is not None and ast.unparse(target) == ast.unparse(owner):
            return statement  # type: ignore[return-value]
        if ast.unparse(owner) in ast.unparse(statement):
            return None
    return None


def _filled(start: ast.Assign, loop: ast.stmt) -> ast.ListComp | None:
    """The list that a loop over one ``append`` makes of the empty one that is assigned before it."""
    target, value = start.targets[0], start.value
    is_list = isinstance(value, ast.Call) and ast.unparse(value) == "nn.ModuleList()"
    is_empty = is_list or (isinstance(value, ast.List) and not value.elts)
    if not is_empty or not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
        return None
    only, tests = loop.body[0], []
    if isinstance(only, ast.If) and len(only.body) == 1 and not only.orelse:
        only, tests = only.body[0], [only.test]
    call = only.value if isinstance(only, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return None
    if ast.unparse(call.func) != f"{ast.unparse(target)}.append" or ast.unparse(target) in ast.unparse(call.args[0]):
        return None
    return ast.ListComp(call.args[0], [ast.comprehension(loop.target, loop.iter, tests, 0)])


# -- conditions -----------------------------------------------------------------------------------------------------


def _by_de_morgan(tree: ast.Module) -> None:
    """``if a and b`` becomes ``if not (not a or not b)``; ``x is not None`` becomes ``not x is None``."""
    opposite = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}

    def turned(test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            values = [ast.UnaryOp(ast.Not(), turned(value)) for value in test.values]
            return ast.UnaryOp(ast.Not(), ast.BoolOp(ast.Or() if isinstance(test.op, ast.And) else ast.And(), values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return ast.UnaryOp(ast.Not(), turned(test.operand))
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in opposite:
            return ast.UnaryOp(ast.Not(), ast.Compare(test.left, [opposite[type(test.ops[0])]()], test.comparators))
        return test

    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            node.test = turned(node.test)


# -- assignments and calls --------------------------------------------------------------------------------------------


def _in_pairs(tree: ast.Module) -> None:
    """``self.a = f()``, ``self.b = g()`` becomes ``self.a, self.b = (f(), g())``."""
    for _, init in constructors(tree):
        for block in blocks(init):
            index = 0
            while index + 1 < len(block):
                first, second = block[index : index + 2]
                targets = [_single_target(s) if isinstance(s, ast.Assign) else None for s in (first, second)]
                if all(isinstance(t, ast.Attribute) for t in targets) and _independent(targets[0], first, second):
                    pair = ast.Tuple([t for t in targets if t is not None], ast.Store())
                    values = ast.Tuple([first.value, second.value], ast.Load())  # type: ignore[attr-defined]
                    block[index : index + 2] = [ast.Assign([pair], values)]
                index += 1


def _independent(target: ast.expr | None, first: ast.stmt, second: ast.stmt) -> bool:
    """Whether the second value may be worked out before the first is stored: it names it nowhere, and hides nothing."""
    assert target is not None
    value = second.value  # type: ignore[attr-defined]
    owner = target.value if isinstance(target, ast.Attribute) else target
    whole = [n for n in ast.walk(value) if isinstance(n, ast.Name) and ast.unparse(n) == ast.unparse(owner)]
    read = [n for n in ast.walk(value) if isinstance(n, ast.Attribute)]
    partly = sum(ast.unparse(n.value) == ast.unparse(owner) for n in read)
    calls = any(isinstance(n, ast.Call) and ast.unparse(n.func).startswith(ast.unparse(owner)) for n in ast.walk(value))
    walrus = any(isinstance(n, ast.NamedExpr) for s in (first, second) for n in ast.walk(s))
    named = any(ast.unparse(n) == ast.unparse(target) for n in read)
    return len(whole) == partly and not calls and not named and not walrus


def _through_walrus(tree: ast.Module) -> None:
    """``self.x = f()`` becomes ``self.x = (made := f())``."""
    number = 0
    for _, init in constructors(tree):
        for block in blocks(init):
            for statement in block:
                target = _single_target(statement) if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Attribute) and isinstance(statement.value, ast.Call):  # type: ignore[attr-defined]
                    number += 1
                    made = ast.NamedExpr(ast.Name(f"made_{number}", ast.Store()), statement.value)  # type: ignore[attr-defined]
                    statement.value = made  # type: ignore[attr-defined]


def _arguments_through_locals(tree: ast.Module) -> None:
    """``self.x = f(a, dtype=d)`` becomes ``given = d`` and ``self.x = f(a, dtype=given)``."""
    number = 0
    for _, init in constructors(tree):
        for block in blocks(init):
            for index in range(len(block) - 1, -1, -1):
                statement = block[index]
                value = statement.value if isinstance(statement, ast.Assign) else None
                for word in value.keywords if isinstance(value, ast.Call) else ():
                    if word.arg is None or any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
                        continue
                    number += 1
                    name = f"given_{number}"
                    block.insert(index, ast.Assign([ast.Name(name, ast.Store())], word.value))
                    word.value = ast.Name(name, ast.Load())


def _children_through_locals(tree: ast.Module) -> None:
    """In methods, ``self.a.b.f(…)`` becomes ``child = self.a.b`` and ``child.f(…)``; loops and tests likewise."""
    number = 0
    for method in _methods(tree):
        me = method.args.args[0].arg
        for block in blocks(method) if method.name != "__init__" else ():
            for index in range(len(block) - 1, -1, -1):
                place = _child_of(block[index], me)
                if place is not None:
                    number += 1
                    owner, field = place
                    child = getattr(owner, field)
                    block.insert(index, ast.Assign([ast.Name(f"child_{number}", ast.Store())], child))
                    setattr(owner, field, ast.Name(f"child_{number}", ast.Load()))


def _child_of(statement: ast.stmt, me: str) -> tuple[ast.AST, str] | None:
    """Where a statement reads ``self.a.b`` before all else: as what it calls on, or what it loops over."""
    if isinstance(statement, ast.For):
        return (statement, "iter") if _is_below(statement.iter, me) else None
    value = getattr(statement, "value", None) if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
    func = value.func if isinstance(value, ast.Call) else None
    if isinstance(func, ast.Attribute) and _is_below(func.value, me):
        return func, "value"
    return None


def _is_below(node: ast.expr, me: str) -> bool:
    while isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name):
            return node.value.id == me
        node = node.value
    return False


def _functions_and_methods(tree: ast.Module) -> None:
    """``torch.sigmoid(x)`` becomes ``x.sigmoid()``, ``x.softmax(dim=d)`` becomes ``torch.softmax(x, dim=d)``."""
    owners = ("torch", "F", "torch.nn.functional", "nn.functional")
    has_torch = any(isinstance(s, ast.Import) and s.names[0].name == "torch" for s in tree.body)
    for node in ast.walk(tree):
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr not in ("sigmoid", "softmax"):
            continue
        if ast.unparse(func.value) not in owners:
            if has_torch:
                node.args.insert(0, func.value)
                func.value = ast.Name("torch", ast.Load())
        elif node.args and not isinstance(node.args[0], ast.Starred):
            func.value = node.args.pop(0)


def _casts_by_keyword(tree: ast.Module) -> None:
    """``x.to(torch.float32)`` becomes ``x.to(dtype=torch.float32)``."""
    for node in ast.walk(tree):
        is_cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to"
        if is_cast and len(node.args) == 1 and ast.unparse(node.args[0]).endswith(("dtype", ".float32", ".bfloat16")):
            node.keywords = [ast.keyword("dtype", node.args.pop()), *node.keywords]


REWRITES: list[Rewrite] = [
    by_syntax("self-renamed", _self_renamed),
    by_syntax("torch-in-full", _torch_in_full),
    by_syntax("second-dtypes", _second_dtypes),
    by_syntax("keep-lists-extended", _keep_lists(_extended)),
    by_syntax("keep-lists-named", _keep_lists(_named)),
    by_syntax("keep-lists-copied", _keep_lists(_copied)),
    by_syntax("modules-added", _added),
    by_syntax("buffers-by-keyword", _buffers_by_keyword),
    by_syntax("buffers-filled-later", _buffers_filled_later),
    by_syntax("lists-in-place", _lists_in_place),
    by_syntax("loops-as-comprehensions", _loops_as_comprehensions),
    by_syntax("by-de-morgan", _by_de_morgan),
    by_syntax("in-pairs", _in_pairs),
    by_syntax("through-walrus", _through_walrus),
    by_syntax("arguments-through-locals", _arguments_through_locals),
    by_syntax("children-through-locals", _children_through_locals),
    by_syntax("functions-and-methods", _functions_and_methods),
    by_syntax("casts-by-keyword", _casts_by_keyword),
]
