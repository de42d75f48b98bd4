"""Steps inside brackets: items, arguments, bases, parameters."""

from __future__ import annotations

import ast
from typing import Any

from automodel_lint import repairs

from .sites import Made, Site, mark
from .trees import FUNCTIONS, expression, new


def add_item(site: Site) -> Made | None:
    def is_read(node: Any) -> bool:
        return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)

    subscripts = {id(n.slice) for n in site.nodes if isinstance(n, ast.Subscript)}
    node = site.some(ast.List, ast.Tuple, ast.Set, ast.Dict, where=lambda n: is_read(n) and id(n) not in subscripts)
    if node is None:
        return None
    is_dict = isinstance(node, ast.Dict)

    def expect() -> None:
        mark(node)
        if is_dict:
            node.keys.append(expression("'new'"))
            node.values.append(expression("[1, 2]"))
        else:
            node.elts.append(expression("'new'"))

    return Made(repairs.add_item(site.span(node), "'new': [1, 2]" if is_dict else "'new'"), expect)


def add_argument(site: Site) -> Made | None:
    node = site.some(ast.Call)
    if node is None:
        return None

    def expect() -> None:
        mark(node)
        node.keywords.append(ast.keyword("new", expression("torch.float32")))

    return Made(repairs.add_argument(site.span(node), "new=torch.float32"), expect)


def add_base(site: Site) -> Made | None:
    node = site.some(ast.ClassDef)
    if node is None:
        return None
    first = site.chance.random() < 0.5

    def expect() -> None:
        node.bases.insert(0 if first else len(node.bases), expression("mixins.New"))

    return Made(repairs.add_base(site.place(node), "mixins.New", first), expect)


def base_to_front(site: Site) -> Made | None:
    node = site.some(ast.ClassDef, where=lambda n: len(n.bases) > 1)
    if node is None:
        return None
    index = site.chance.randint(1, len(node.bases) - 1)

    def expect() -> None:
        node.bases.insert(0, node.bases.pop(index))

    return Made(repairs.base_to_front(site.place(node), index), expect, moves=True)


def add_parameters(site: Site) -> Made | None:
    node = site.some(*FUNCTIONS, where=lambda n: n.args.kwarg is None)
    if node is None:
        return None
    named = bool(node.args.vararg or node.args.kwonlyargs)
    text = "new: int = 0, **rest" if named else "*args, new: int = 0, **rest"
    text = site.chance.choice([text, "**rest"])

    def expect() -> None:
        more = new(f"def f({'*, ' * (named and 'new' in text)}{text}): pass")[0].args
        node.args.vararg = node.args.vararg or more.vararg
        node.args.kwonlyargs += more.kwonlyargs
        node.args.kw_defaults += more.kw_defaults
        node.args.kwarg = more.kwarg

    return Made(repairs.add_parameters(site.place(node), text), expect)


def remove_parameters(site: Site) -> Made | None:
    def all_of(node: Any) -> list[Any]:
        arguments = node.args
        return [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *filter(None, (arguments.vararg, arguments.kwarg)),
        ]

    node = site.some(*FUNCTIONS, where=lambda n: bool(all_of(n)))
    if node is None:
        return None
    chosen = site.chance.sample(all_of(node), site.chance.randint(1, min(2, len(all_of(node)))))
    arguments = node.args
    lone = bool(arguments.kwonlyargs) and arguments.vararg is None
    names = [a.arg for a in chosen]

    def expect() -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
        kept = [(a, d) for a, d in zip(positional, defaults, strict=True) if a not in chosen]
        arguments.defaults = [d for _, d in kept if d is not None]
        arguments.posonlyargs = [a for a in arguments.posonlyargs if a not in chosen]
        arguments.args = [a for a in arguments.args if a not in chosen]
        named = [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if a not in chosen]
        arguments.kwonlyargs, arguments.kw_defaults = [a for a, _ in named], [d for _, d in named]
        arguments.vararg = None if arguments.vararg in chosen else arguments.vararg
        arguments.kwarg = None if arguments.kwarg in chosen else arguments.kwarg

    refuse = ""
    if any("#" in site.text_of(a) for a in chosen):
        refuse = "a comment in it"
    if arguments.vararg in chosen and set(arguments.kwonlyargs) - set(chosen):
        return None  # what follows would be given by place
    needs_star = lone and not set(arguments.kwonlyargs) - set(chosen)
    needs_slash = bool(arguments.posonlyargs) and not set(arguments.posonlyargs) - set(chosen)
    return Made(
        repairs.remove_parameters(
            site.place(node), *names, *(["*"] if needs_star else []), *(["/"] if needs_slash else [])
        ),
        expect,
        moves=True,
        may_refuse=refuse,
    )
