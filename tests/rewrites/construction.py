"""Rewrites of constructors: the same modules, parameters and buffers, built in other words."""

from __future__ import annotations

import ast
import copy

from . import Rewrite, body_after_docstring
from .syntax import add_import, behind_imports, blocks, by_syntax, constructors, parse

# -- branches -------------------------------------------------------------------------------------------------------


def _sides_swapped(tree: ast.Module) -> None:
    """``if c: A else: B`` becomes ``if not c: B else: A``; conditional expressions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) or (isinstance(node, ast.If) and node.orelse):
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body


def _tests_twice_negated(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            node.test = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node.test))


def _tests_named(tree: ast.Module) -> None:
    """``if c:`` becomes ``flag = c`` and ``if flag:``, but where an optional dependency is asked for."""
    number = 0
    for block in blocks(tree):
        for index in range(len(block) - 1, -1, -1):
            statement = block[index]
            if isinstance(statement, ast.If) and not (_has_walrus(statement.test) or _only_raises(statement)):
                number += 1
                block.insert(index, ast.Assign([ast.Name(f"flag_{number}", ast.Store())], statement.test))
                statement.test = ast.Name(f"flag_{number}", ast.Load())


def _conditional_expressions_as_statements(tree: ast.Module) -> None:
    """``x = A if c else B`` becomes an ``if`` with two assignments."""
    for block in blocks(tree):
        for index, statement in enumerate(block):
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.IfExp):
                value = statement.value
                yes, no = (ast.Assign(copy.deepcopy(statement.targets), side) for side in (value.body, value.orelse))
                block[index] = ast.If(value.test, [yes], [no])


def _conditions_in_a_ladder(tree: ast.Module) -> None:
    """``if a and b:`` without an ``else`` becomes two nested ``if``."""
    for node in ast.walk(tree):
        is_and = isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        if is_and and not node.orelse:
            first, *rest = node.test.values
            inner = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
            node.test, node.body = first, [ast.If(inner, node.body, [])]


def _comparisons_turned(tree: ast.Module) -> None:
    """``a == b`` becomes ``b == a``, ``a > b`` becomes ``b < a``."""
    turned = {ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in turned:
            node.left, node.comparators = node.comparators[0], [node.left]
            node.ops = [turned[type(node.ops[0])]()]


def _has_walrus(test: ast.expr) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(test))


def _only_raises(choice: ast.If) -> bool:
    return isinstance(choice.body[0], ast.Raise)


# -- names and places -----------------------------------------------------------------------------------------------


def _locals_renamed(tree: ast.Module) -> None:
    """Locals of methods get other names; parameters keep theirs, as callers may know them."""
    for _, method in constructors(tree):
        nested = {n for f in ast.walk(method) if isinstance(f, ast.Lambda | ast.FunctionDef) and f is not method
                  for a in [*f.args.args, *f.args.kwonlyargs] for n in [a.arg]}  # fmt: skip
        fixed = {a.arg for a in [*method.args.args, *method.args.kwonlyargs]} | nested
        fixed |= {a.arg for a in (method.args.vararg, method.args.kwarg) if a}
        fixed |= {n for s in ast.walk(method) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
        stored = {n.id for n in ast.walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - fixed
        for node in ast.walk(method):
            if isinstance(node, ast.Name) and node.id in stored:
                node.id = f"renamed_{node.id}"


def _through_locals(tree: ast.Module) -> None:
    """``self.x = value`` becomes ``made = value`` and ``self.x = made``."""
    number = 0
    for block in blocks(tree):
        for index in range(len(block) - 1, -1, -1):
            statement = block[index]
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
                number += 1
                block.insert(index, ast.Assign([ast.Name(f"made_{number}", ast.Store())], statement.value))
                statement.value = ast.Name(f"made_{number}", ast.Load())


def _set_by_name(tree: ast.Module) -> None:
    """``self.x = value`` becomes ``setattr(self, "x", value)``."""
    for block in blocks(tree):
        for index, statement in enumerate(block):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Attribute):
                    arguments = [target.value, ast.Constant(target.attr), statement.value]
                    block[index] = ast.Expr(ast.Call(ast.Name("setattr", ast.Load()), arguments, []))


def _read_by_name(tree: ast.Module) -> None:
    """``config.x`` becomes ``getattr(config, "x")``."""

    class Read(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            self.generic_visit(node)
            if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == "config":
                return ast.Call(ast.Name("getattr", ast.Load()), [node.value, ast.Constant(node.attr)], [])
            return node

    Read().visit(tree)


def _rest_in_a_helper(tree: ast.Module) -> None:
    """What follows ``super().__init__(…)`` in a constructor moves into a method that it calls.

    What is about the tie stays: guards must stand in constructors, and configs are not followed into helpers.
    """
    for number, (cls, method) in enumerate(list(constructors(tree))):
        body = body_after_docstring(method)
        first = next((i for i, s in enumerate(body) if "__init__" in ast.unparse(s) and isinstance(s, ast.Expr)), None)
        rest = body[first + 1 :] if first is not None else []
        texts = " ".join(map(ast.unparse, rest))
        unmovable = any(isinstance(s, ast.FunctionDef | ast.ClassDef | ast.Global | ast.Import | ast.ImportFrom)
                        for r in rest for s in ast.walk(r))  # fmt: skip
        if not rest or "super(" in texts or "tie_word_embeddings" in texts or unmovable or method.args.vararg:
            continue
        before = {n.id for s in body[: first + 1] for n in ast.walk(s) if isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)}  # fmt: skip
        me, *given = [a.arg for a in [*method.args.args, *method.args.kwonlyargs]]
        given += [method.args.kwarg.arg] if method.args.kwarg else []
        given += sorted(before - set(given))
        helper = parse(f"def _rest_{number}({', '.join([me, *given])}):\n    pass")[0]
        assert isinstance(helper, ast.FunctionDef)
        annotations = {a.arg: a.annotation for a in [*method.args.args, *method.args.kwonlyargs]}
        for argument in helper.args.args:
            argument.annotation = annotations.get(argument.arg)
        helper.body = rest
        del method.body[len(method.body) - len(rest) :]
        method.body += parse(f"{me}._rest_{number}({', '.join(given)})")
        cls.body.append(helper)


# -- loops ----------------------------------------------------------------------------------------------------------


def _comprehensions_as_loops(tree: ast.Module) -> None:
    """``self.x = f([e for i in s])`` becomes a loop that appends to a list, then ``self.x = f(list)``."""
    number = 0
    for block in blocks(tree):
        for index in range(len(block) - 1, -1, -1):
            statement = block[index]
            value = getattr(statement, "value", None)
            if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Call) or len(value.args) != 1:
                continue
            inner = value.args[0]
            if not isinstance(inner, ast.ListComp | ast.GeneratorExp) or len(inner.generators) != 1:
                continue
            number += 1
            generator = inner.generators[0]
            add: list[ast.stmt] = [ast.Expr(ast.Call(ast.Attribute(ast.Name(f"row_{number}", ast.Load()), "append"),
                                                     [inner.elt], []))]  # fmt: skip
            for test in reversed(generator.ifs):
                add = [ast.If(test, add, [])]
            start = ast.Assign([ast.Name(f"row_{number}", ast.Store())], ast.List([], ast.Load()))
            block[index:index] = [start, ast.For(generator.target, generator.iter, add, [])]
            value.args = [ast.Name(f"row_{number}", ast.Load())]


def _enumerated(tree: ast.Module) -> None:
    """``for x in s:`` becomes ``for _, x in enumerate(s):``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension):
            node.target = ast.Tuple([ast.Name("_position", ast.Store()), node.target], ast.Store())
            node.iter = ast.Call(ast.Name("enumerate", ast.Load()), [node.iter], [])


def _sequences_listed(tree: ast.Module) -> None:
    """``for x in s:`` becomes ``for x in list(s):``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            node.iter = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])


def _makes_module(node: ast.AST) -> bool:
    """``nn.X(…)``."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and ast.unparse(func.value) == "nn" and func.attr[:1].isupper()


# -- calls ----------------------------------------------------------------------------------------------------------


def _classes_through_partial(tree: ast.Module) -> None:
    """``nn.X(…)`` becomes ``functools.partial(nn.X, …)()``."""
    found = [n for n in ast.walk(tree) if _makes_module(n) and not any(isinstance(a, ast.Starred) for a in n.args)]
    for node in found:
        made = ast.Call(ast.Name("_partial", ast.Load()), [node.func, *node.args], node.keywords)
        node.func, node.args, node.keywords = made, [], []
    if found:
        add_import(tree, "from functools import partial as _partial")


def _classes_through_a_function(tree: ast.Module) -> None:
    """``nn.X(…)`` becomes ``_made(nn.X, …)`` with a function that makes it."""
    found = [n for n in ast.walk(tree) if _makes_module(n)]
    for node in found:
        node.args = [node.func, *node.args]
        node.func = ast.Name("_made", ast.Load())
    if found:
        function = parse("def _made(kind, *args, **kwargs):\n    return kind(*args, **kwargs)")
        tree.body[behind_imports(tree) : behind_imports(tree)] = function


def _arguments_spread(tree: ast.Module) -> None:
    """Keyword arguments of constructors are given as ``**{…}``."""
    for node in ast.walk(tree):
        is_made = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("nn.")
        if is_made and node.keywords and all(k.arg for k in node.keywords):
            keys: list[ast.expr | None] = [ast.Constant(k.arg) for k in node.keywords]
            node.keywords = [ast.keyword(None, ast.Dict(keys, [k.value for k in node.keywords]))]


def _base_by_name(tree: ast.Module) -> None:
    """``super().__init__()`` of a direct ``nn.Module`` becomes ``nn.Module.__init__(self)``."""
    for cls, method in constructors(tree):
        if [ast.unparse(b) for b in cls.bases] == ["nn.Module"]:
            for node in ast.walk(method):
                if isinstance(node, ast.Call) and ast.unparse(node) == "super().__init__()":
                    node.func = ast.parse("nn.Module.__init__", mode="eval").body
                    node.args = [ast.Name(method.args.args[0].arg, ast.Load())]


REWRITES: list[Rewrite] = [
    by_syntax("sides-swapped", _sides_swapped),
    by_syntax("tests-twice-negated", _tests_twice_negated),
    by_syntax("tests-named", _tests_named),
    by_syntax("conditional-expressions-as-statements", _conditional_expressions_as_statements),
    by_syntax("conditions-in-a-ladder", _conditions_in_a_ladder),
    by_syntax("comparisons-turned", _comparisons_turned),
    by_syntax("locals-renamed", _locals_renamed),
    by_syntax("through-locals", _through_locals),
    by_syntax("set-by-name", _set_by_name),
    by_syntax("read-by-name", _read_by_name),
    by_syntax("rest-in-a-helper", _rest_in_a_helper, keeps_symbols=False),
    by_syntax("comprehensions-as-loops", _comprehensions_as_loops),
    by_syntax("enumerated", _enumerated),
    by_syntax("sequences-listed", _sequences_listed),
    by_syntax("classes-through-partial", _classes_through_partial),
    by_syntax("classes-through-a-function", _classes_through_a_function),
    by_syntax("arguments-spread", _arguments_spread),
    by_syntax("base-by-name", _base_by_name),
]
