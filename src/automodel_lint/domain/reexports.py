"""What the ``__init__`` of a model package makes known: what it binds, serves on demand, and names in ``__all__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import branches, dotted, parts_of, statements_here
from automodel_lint.inference.names import ClassEntity, Module, Scope
from automodel_lint.inference.values import Undecided


def binds_class(model: ModelClass, package: Module) -> bool:
    """Whether importing the package binds the class's name (an import for type checkers alone does not)."""
    if model.names.in_module(package, model.name) is None:
        return False
    if package.bindings.live(model.name) and not package.bindings.real(model.name):
        return False
    entities = model.names.in_module(package, model.name) or []
    others = bool(entities) and all(isinstance(e, ClassEntity) and e is not model.entity for e in entities)
    return not others  # a class of the same name from elsewhere is not the registered one


def serves_lazily(package: Module, name: str) -> bool:
    """A module-level ``__getattr__``, or a stand-in for the module, that can serve the name.

    Where there is a table of names, it must hold this one; without a table any name may be served.
    """
    replaced = "sys.modules[__name__]" in {ast.unparse(t) for s in package.syntax.body for t in _targets(s)}
    if not package.bindings.live("__getattr__") and not replaced:
        return False
    tables = [n for n in ast.walk(package.syntax) if isinstance(n, (ast.Dict, ast.List, ast.Tuple, ast.Set))]
    words = {n.value for table in tables for n in ast.walk(table) if isinstance(n, ast.Constant)}
    classes = {w for w in words if isinstance(w, str) and w[:1].isupper()}
    return name in classes or not classes


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


def all_statement(package: Module) -> ast.stmt | None:
    """Return the last statement that binds ``__all__``, in whatever branch."""
    found = None
    for statement in statements_here(package.syntax.body):
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in _targets(statement)):
            found = statement
    return found


def misses(model: ModelClass, package: Module) -> bool:
    """Whether ``__all__`` surely lacks the class (one that is computed or changed by a call may have it)."""
    names: set[str] = set()
    for statement in _run(package.syntax.body):
        value, adds = _given_to_all(statement)
        if value is None:
            if "__all__" in ast.unparse(statement):
                return False
            continue
        try:
            possible = model.values.possible(value, Scope(package))
        except Undecided:
            return False
        if not all(isinstance(v, (list, tuple, set)) for v in possible):
            return False
        names = (names if adds else set()) | {name for v in possible for name in v}
    return model.name not in names


def display_of_all(package: Module) -> ast.expr | None:
    """Return the list or tuple at the end of ``__all__`` that a name can be written into; ``None`` if there is none."""
    found = None
    for statement in package.syntax.body:
        value, _ = _given_to_all(statement)
        found = found if value is None else _display(value)
    return found


def _given_to_all(statement: ast.stmt) -> tuple[ast.expr | None, bool]:
    """What a statement gives to ``__all__``, if anything, and whether it adds that to what is there."""
    if isinstance(statement, ast.AugAssign) and dotted(statement.target) == "__all__":
        return statement.value, True
    return dict(parts_of(statement)).get("__all__"), False


def _display(value: ast.expr) -> ast.expr | None:
    if isinstance(value, ast.BinOp):
        return _display(value.left) or _display(value.right)
    return value if isinstance(value, (ast.List, ast.Tuple)) else None


def _run(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that surely run; a compound statement stands for what may not."""
    for statement in body:
        inner = list(branches(statement))
        if inner and all(sure for _, sure in inner):
            for block, _ in inner:
                yield from _run(block)
        else:
            yield statement
