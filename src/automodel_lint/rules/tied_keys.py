"""NAM210: the names in ``_tied_weights_keys``."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from typing import Any

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.findings import Finding
from automodel_lint.inference.classes import Member
from automodel_lint.inference.module_tree import ModuleTree
from automodel_lint.rules import rule

KEYS = "_tied_weights_keys"
_PLAIN = re.compile(r"[\w.]+")  # anything else is a pattern over names


@rule("NAM210")
def tied_keys_unknown(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    members, opaque = model.inherited(KEYS)
    for member in members if not opaque else ():
        names = _names(model.member_values(member)) if model.classes.in_checkout(member.owner) else []
        for name in names if names and model.module_tree.complete else ():
            if _PLAIN.fullmatch(name) and not _is_known(model.module_tree, name):
                yield model.finding(
                    _place(member, name), owner=member.owner, tied=name, advice=_advice(model.module_tree, name)
                )


def _names(values: list[Any] | None) -> list[str]:
    """The keys and values of a mapping, or the items of the older list."""
    found: list[str] = []
    for value in values or ():
        items = [*value, *value.values()] if isinstance(value, dict) else value
        found += [i for i in items if isinstance(i, str)] if isinstance(items, (list, tuple, set)) else []
    return list(dict.fromkeys(found))


def _is_known(tree: ModuleTree, name: str) -> bool:
    """A parameter or buffer, or a module that has some (transformers 5 takes all names that begin so)."""
    return bool(tree.find(name)) or any(fqn.startswith(f"{name}.") for fqn in tree.by_fqn)


def _place(member: Member, name: str) -> ast.AST | None:
    """The text itself where it is written out."""
    texts = (n for n in ast.walk(member.binding.node) if isinstance(n, ast.Constant) and n.value == name)
    return next(texts, member.value)


def _advice(tree: ModuleTree, name: str) -> str:
    """The nearest name of the tree: the same parameter elsewhere, else one that is spelled alike."""
    names = [fqn for fqn in tree.by_fqn if "*" not in fqn]
    tail = ".".join(name.split(".")[-2:])
    close = [fqn for fqn in names if fqn == tail or fqn.endswith(f".{tail}")]
    close = close or difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"write `{close[0]}`" if close else "write a name that `automodel-lint tree` shows"
