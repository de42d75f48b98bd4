"""What the config parameter of a constructor is, and which names still mean the object that was handed in."""

from __future__ import annotations

import ast
import re

from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.names import all_arguments

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OTHER_CONFIGS = re.compile(r"backend|moe|quant|generation|train|peft|lora|vision|audio|rope|mesh|parallel", re.I)
_NAMED = re.compile(r"(^|_)(config|cfg)$")


class ConfigUse:
    """Which names still mean the config object that the caller handed in."""

    def __init__(self, parameter: str | None, self_name: str):
        self.parameter, self.self_name = parameter, self_name
        self.names = frozenset((parameter,)) if parameter else frozenset()

    def is_original(self, expr: ast.expr | None) -> bool | None:
        """Tell whether an expression is that object; ``None`` if there is no config parameter to compare with."""
        if self.parameter is None:
            return None
        if expr is None:
            return False
        expr = uncast(expr)
        if isinstance(expr, ast.IfExp):
            return bool(self.is_original(expr.body) and self.is_original(expr.orelse))
        return dotted(expr) in self.names

    def assigned(self, name: str, value: ast.expr) -> bool:
        """Follow an assignment to a dotted name; returns whether it takes the object away from its own parameter."""
        if not name or self.parameter is None:
            return False
        if self.is_original(value):
            self.names |= {name}
            return False
        lost = name in self.names and name == self.parameter
        self.names -= {name}
        return lost


def uncast(expr: ast.expr) -> ast.expr:
    """Look through ``cast(T, x)`` and ``(y := x)``, which are ``x``."""
    while True:
        if isinstance(expr, ast.NamedExpr):
            expr = expr.value
        elif isinstance(expr, ast.Call) and dotted(expr.func).rpartition(".")[2] == "cast" and len(expr.args) == 2:
            expr = expr.args[1]
        else:
            return expr


def config_parameter(function: Function) -> str | None:
    """Return the name of a constructor's config parameter; ``None`` if several could be it, or none.

    It is called ``config``; else it is the one that is annotated as, else called, a config (a backend's or an expert
    layer's is not the model's); else the only positional one.
    """
    arguments = [a for a in all_arguments(function.args)[1:] if a is not function.args.vararg]
    arguments = [a for a in arguments if a is not function.args.kwarg]
    if any(a.arg == "config" for a in arguments):
        return "config"
    annotated = [a.arg for a in arguments if a.annotation is not None and is_config_type(a.annotation)]
    named = [a.arg for a in arguments if _NAMED.search(a.arg) and not _OTHER_CONFIGS.search(a.arg)]
    for found in (annotated, named):
        if len(found) == 1:
            return found[0]
        if found:
            return None
    positional = [*function.args.posonlyargs, *function.args.args][1:]
    return positional[0].arg if len(positional) == 1 else None


def is_config_type(annotation: ast.expr) -> bool:
    """Tell whether an annotation names a model's config class (not a backend's, an expert layer's, …)."""
    names = re.findall(r"\w*Config\b", ast.unparse(annotation))
    return any(not _OTHER_CONFIGS.search(name) for name in names)


def passed_config(call: ast.Call, function: Function, bound: bool) -> ast.expr | None:
    """Return the expression that a call hands to the config parameter of ``function``; ``None`` if that is unclear.

    ``bound`` says that the first parameter (``self``) is not among the arguments.
    """
    parameter = config_parameter(function)
    for keyword in call.keywords:
        if keyword.arg == parameter and parameter is not None:
            return keyword.value
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1 if bound else 0 :]
    if parameter not in positional:
        return None
    index = positional.index(parameter)
    if index >= len(call.args) or any(isinstance(a, ast.Starred) for a in call.args[: index + 1]):
        return None
    return call.args[index]
