"""How patterns, and what sets them, are spelled: expressions that the reader of keep lists recognises by their form."""

from __future__ import annotations

import ast

from automodel_lint.inference.bindings import dotted


def called_name(decorator: ast.expr) -> ast.expr:
    """Return what a decorator names, whether it is called or not."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def only_chooses(expr: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> bool:
    """``[p for p in patterns if …]``: nothing that is not in the other list."""
    element = dotted(expr.elt)
    return len(expr.generators) == 1 and bool(element) and element == dotted(expr.generators[0].target)


def is_text(expr: ast.BinOp) -> bool:
    """Tell whether two literal texts are put together."""
    return bool(text(expr.left) and text(expr.right))


def text(expr: ast.expr) -> str:
    """Return a literal text, an empty one for anything else."""
    return expr.value if isinstance(expr, ast.Constant) and isinstance(expr.value, str) else ""
