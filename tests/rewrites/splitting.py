"""Rewrites that move code: into methods, functions, closures and bases, and back where it is called from."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from . import Files, Rewrite, Source, body_after_docstring, first_line, parsed
from .structure import MODEL_ENDINGS
from .syntax import blocks, by_syntax, constructors, parse

_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IMMOVABLE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


# -- what a stretch of code needs -----------------------------------------------------------------------------------


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function that are not in a scope of their own."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        inner = todo.pop()
        yield inner
        if not isinstance(inner, (*_OWN_SCOPE, *_COMPREHENSIONS)):
            todo += ast.iter_child_nodes(inner)


def _locals(function: ast.FunctionDef) -> set[str]:
    """The names that a function binds."""
    found = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for node in _outside(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names}
    return found


def _bound_inside(node: ast.AST) -> set[str]:
    """The names that comprehensions and lambdas in an expression bind."""
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}


def _needed(value: ast.expr, function: ast.FunctionDef) -> list[str]:
    """The local names of a function that an expression in it reads."""
    known = _locals(function) - _bound_inside(value)
    read = [n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [name for name in dict.fromkeys(read) if name in known]


def _can_move(value: ast.expr) -> bool:
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return not names & {"super", "__class__"} and not any(isinstance(n, _IMMOVABLE) for n in ast.walk(value))


def _made(function: ast.FunctionDef) -> Iterator[ast.Assign]:
    """The assignments ``self.x = f(…)`` of a constructor whose value can be worked out elsewhere."""
    me = function.args.args[0].arg if function.args.args else ""
    for node in _outside(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _can_move(node.value):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me:
                yield node


def _returns(value: ast.expr) -> ast.Return:
    return ast.Return(value)


def _defined(name: str, parameters: list[str], value: ast.expr) -> ast.FunctionDef:
    made = parse(f"def {name}({', '.join(parameters)}):\n    pass")[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [_returns(value)]
    return made


def _call(function: str, names: list[str]) -> ast.expr:
    return ast.parse(f"{function}({', '.join(names)})", mode="eval").body


# -- away -----------------------------------------------------------------------------------------------------------


def _from_methods(tree: ast.Module) -> None:
    """``self.x = f(a)`` becomes ``self.x = self._made_1(a)``, with a method, a static one where it needs no object."""
    number = 0
    for cls, init in list(constructors(tree)):
        me = init.args.args[0].arg
        for statement in _made(init):
            number += 1
            names = _needed(statement.value, init)
            others = [n for n in names if n != me]
            name = f"_made_{cls.name}_{statement.lineno}_{number}"  # no heir has another one of that name
            method = _defined(name, [me, *others] if me in names else others, statement.value)
            if me not in names:
                method.decorator_list = [ast.Name("staticmethod", ast.Load())]
            cls.body.append(method)
            statement.value = _call(f"{me}.{method.name}", others)


def _from_functions(tree: ast.Module) -> None:
    """``self.x = f(a)`` becomes ``self.x = _made_1(a)``, with a function at the end of the module."""
    number = 0
    for _, init in list(constructors(tree)):
        if any(init in ast.walk(node) for node in tree.body if isinstance(node, ast.FunctionDef)):
            continue  # what it reads of the function around it would be out of reach
        for statement in _made(init):
            number += 1
            names = _needed(statement.value, init)
            tree.body.append(_defined(f"_made_{number}", names, statement.value))
            statement.value = _call(f"_made_{number}", names)


def _from_closures(tree: ast.Module) -> None:
    """``self.x = f(a)`` becomes ``def made(): return f(a)`` and ``self.x = made()``; every second time a lambda."""
    number = 0
    for _, init in list(constructors(tree)):
        chosen = {id(statement) for statement in _made(init)}
        for block in blocks(init):
            for index in range(len(block) - 1, -1, -1):
                statement = block[index]
                if id(statement) not in chosen or not isinstance(statement, ast.Assign):
                    continue
                number += 1
                chosen.discard(id(statement))
                if number % 2:
                    block.insert(index, _defined(f"made_{number}", [], statement.value))
                    statement.value = _call(f"made_{number}", [])
                else:
                    statement.value = ast.Call(ast.Lambda(parse("def f(): pass")[0].args, statement.value), [], [])


def _through_a_base(tree: ast.Module) -> None:
    """``class A(nn.Module): …`` becomes ``class _BaseOfA(nn.Module): …`` and ``class A(_BaseOfA)``."""
    for index in range(len(tree.body) - 1, -1, -1):
        cls = tree.body[index]
        if not isinstance(cls, ast.ClassDef) or [ast.unparse(b) for b in cls.bases] != ["nn.Module"]:
            continue
        by_name = any(isinstance(n, ast.Name) and n.id == cls.name for n in ast.walk(cls))
        if by_name or cls.decorator_list or any(isinstance(n, ast.Attribute) and n.attr[:2] == "__" for n in cls.body):
            continue
        heir = parse(f"class {cls.name}(_BaseOf{cls.name}):\n    pass")[0]
        cls.name = f"_BaseOf{cls.name}"
        tree.body.insert(index + 1, heir)


# -- and back -------------------------------------------------------------------------------------------------------


def _inlined(files: Files, paths: list[str]) -> Files:
    """``self._build(config)`` in a constructor becomes what that method does."""
    trees = [parsed(text) for path, text in files.items() if path.endswith(".py")]
    bases = {ast.unparse(b).rpartition(".")[2] for t in trees for c in ast.walk(t) if isinstance(c, ast.ClassDef)
             for b in c.bases}  # fmt: skip

    def change(tree: ast.Module) -> None:
        for cls, init in [(c, i) for c, i in constructors(tree) if c.name not in bases]:  # nobody has another method
            methods = {s.name: s for s in cls.body if isinstance(s, ast.FunctionDef)}
            for block in blocks(init):
                for index in range(len(block) - 1, -1, -1):
                    method = _helper(block[index], init, methods)
                    if method is not None:
                        block[index : index + 1] = _body_for(block[index], method, init, index)

    return by_syntax("", change).apply(files, paths)


def _helper(statement: ast.stmt, init: ast.FunctionDef, methods: dict[str, ast.FunctionDef]) -> ast.FunctionDef | None:
    """The method that a statement ``self.m(a, b)`` calls, if its body can stand in its place."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not init.args.args:
        return None
    method = methods.get(call.func.attr)
    is_own = isinstance(call.func.value, ast.Name) and call.func.value.id == init.args.args[0].arg
    if method is None or not is_own or method.decorator_list or method.name == init.name:
        return None
    signature, body = method.args, list(_outside(method))
    rest = {a.arg for a in (signature.vararg, signature.kwarg) if a is not None}
    plain = not (signature.kwonlyargs or signature.defaults) and not any(
        isinstance(n, ast.Name) and n.id in rest for n in body
    )
    given = len(call.args) + len(call.keywords) == len(signature.args) - 1
    simple = not any(isinstance(n, (ast.Return, ast.Global, ast.Nonlocal, *_IMMOVABLE, *_OWN_SCOPE)) for n in body)
    known = all(k.arg for k in call.keywords) and not any(isinstance(a, ast.Starred) for a in call.args)
    return method if plain and given and simple and known and "super" not in ast.unparse(method) else None


def _body_for(statement: ast.stmt, method: ast.FunctionDef, init: ast.FunctionDef, number: int) -> list[ast.stmt]:
    """The body of a method with its own names changed, behind assignments of what it is given."""
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    me, *parameters = [a.arg for a in method.args.args]
    renamed = {name: f"{name}_{method.name}_{number}" for name in _locals(method)} | {me: init.args.args[0].arg}
    given = dict(zip(parameters, statement.value.args, strict=False))
    given |= {str(k.arg): k.value for k in statement.value.keywords}
    made: list[ast.stmt] = [ast.Assign([ast.Name(renamed[p], ast.Store())], given[p]) for p in parameters]
    for inner in copy.deepcopy(body_after_docstring(method)):
        bound = {id(n) for c in ast.walk(inner) if isinstance(c, _COMPREHENSIONS) for n in ast.walk(c)
                 if isinstance(n, ast.Name) and n.id in _bound_inside(c)}  # fmt: skip
        for node in ast.walk(inner):
            if isinstance(node, ast.Name) and id(node) not in bound:
                node.id = renamed.get(node.id, node.id)
        made.append(inner)
    return made


# -- early exits ----------------------------------------------------------------------------------------------------


def _early_returns(tree: ast.Module) -> None:
    """A last ``if c: A`` becomes ``if not c: return`` and ``A``."""
    for function in ast.walk(tree):
        last = function.body[-1] if isinstance(function, ast.FunctionDef) else None
        if isinstance(last, ast.If) and not last.orelse:
            leave = ast.If(ast.UnaryOp(ast.Not(), last.test), [ast.Return()], [])
            function.body[-1:] = [leave, *last.body]


def _rest_in_else(tree: ast.Module) -> None:
    """``if c: return`` and what follows becomes ``if not c:`` around it; with a value, ``else:`` around it."""
    for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        for index in range(len(function.body) - 2, -1, -1):
            choice = function.body[index]
            if not isinstance(choice, ast.If) or choice.orelse or not isinstance(choice.body[-1], ast.Return):
                continue
            if choice.body[-1].value is None and len(choice.body) == 1:
                choice.test, choice.body = ast.UnaryOp(ast.Not(), choice.test), function.body[index + 1 :]
            else:
                choice.orelse = function.body[index + 1 :]
            del function.body[index + 1 :]


def _moved_layers(files: Files, paths: list[str]) -> Files:
    """Plain ``nn.Module`` classes of a model module move to a module beside it, which it imports them from."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        plain = [s for s in source.tree.body if isinstance(s, ast.ClassDef) and not s.decorator_list]
        movable = [s for s in plain if [ast.unparse(b) for b in s.bases] == ["nn.Module"]]
        movable = [s for s in movable if not s.name.endswith(MODEL_ENDINGS)]
        others = {n for s in source.tree.body if s not in movable for n in _top_level(s)}
        if not path.endswith("/model.py") or not movable:
            continue
        if any(n.id in others for s in movable for n in ast.walk(s) if isinstance(n, ast.Name)):
            continue
        imports = [s for s in source.tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]
        head = "".join(source.block(s.lineno, s.end_lineno) for s in imports)
        other = f"{path.removesuffix('.py')}_layers.py"
        result[other] = head + "\n\n" + "\n\n".join(source.block(first_line(s), s.end_lineno) for s in movable)
        for statement in movable:
            source.cut(source.line_start(first_line(statement)), source.line_start(statement.end_lineno + 1))
        names = ", ".join(s.name for s in movable)
        module = other.removesuffix(".py").replace("/", ".")
        source.insert(source.line_start(imports[-1].end_lineno + 1), f"from {module} import {names}\n")
        result[path] = source.edited()
    return result


def _top_level(statement: ast.stmt) -> set[str]:
    """What a statement of a module binds, imports aside."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set()
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


REWRITES: list[Rewrite] = [
    by_syntax("modules-from-methods", _from_methods, keeps_symbols=False),
    by_syntax("modules-from-functions", _from_functions, keeps_symbols=False),
    by_syntax("modules-from-closures", _from_closures, keeps_symbols=False),
    by_syntax("layers-through-a-base", _through_a_base, keeps_symbols=False),
    Rewrite("helpers-inlined", _inlined, keeps_symbols=False),
    by_syntax("early-returns", _early_returns),
    by_syntax("rest-in-else", _rest_in_else),
    Rewrite("moved-layers", _moved_layers, keeps_paths=False),
]
