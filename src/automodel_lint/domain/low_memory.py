"""Adapters that say a checkpoint can be read straight into the model's memory: do they keep to it, and who tests it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, code_of, lines_of, module_path, nodes_with
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import Member, MethodView, asked

# What the framework has called the claim, the newest last; the loader asks for it without the first underscore.
FLAGS = ("_supports_low_memory_dcp_load", "_supports_write_through_checkpoint_load")
_JOINS = re.compile(r"\b(?:stack|cat|concat|concatenate|vstack|hstack)\(")
_NAMES = ("stack", "cat", "concat", "concatenate", "vstack", "hstack")
_EXPERT = re.compile(r"expert", re.I)
# A function that tells the two ways of loading apart knows what it is doing.
_BOTH_WAYS = re.compile(r"low_memory|write_through|for_checkpoint_load|view_loaded|inplace_loaded|into_model")
_TEST_FILES = re.compile(r"checkpoint|adapter|state_dict|memory|load|dcp")


class Claim(NamedTuple):
    """That an adapter class says it: by which name the loader asks, and where it is said."""

    asked: str
    member: Member


def claim(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Claim | None:
    """Return where an adapter class says ``True``, unless code of its own decides when that holds."""
    for flag in FLAGS if adapter.entity is not None else ():
        members, opaque = model.classes.find(adapter.entity, flag)  # type: ignore[arg-type]
        says = len(members) == 1 and isinstance(members[0].value, ast.Constant) and members[0].value.value is True
        if says and not opaque and not any(m.function is not None for m in decisions(model, adapter)):
            return Claim(flag.strip("_"), members[0])
    return None


def is_asked_about(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> bool:
    """Tell whether the framework, or what an adapter derives from, knows the claim at all; what is not seen may."""
    checkout = model.project.checkout
    base = os.path.join(checkout.package_dir, "components", "checkpoint", "state_dict_adapter.py")
    known = [model.project.tree.holds(base, flag.encode()) for flag in FLAGS if model.project.tree.exists(base)]
    return any(known) or not known or bool(decisions(model, adapter))


def decisions(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> list[Member]:
    """Return what the code of models says about the claim: a flag, or a property that decides it."""
    names = [name for flag in FLAGS for name in (flag, flag.strip("_"))] if adapter.entity is not None else []
    found = [m for name in names for m in model.classes.find(adapter.entity, name)[0][:1]]  # type: ignore[arg-type]
    return [member for member in found if model.project.model_package(member.owner.module.path) is not None]


def rebuilt(
    model: ModelClass | LooseAdapter, adapter: Adapter | Alone, said: Claim
) -> tuple[MethodView, ast.Call] | None:
    """Return where loading puts all experts of a layer together in fresh memory.

    Looked at is code beside the claim. What it inherits from another model may not run for this one's checkpoints.
    """
    folder = os.path.dirname(said.member.owner.module.path)
    for view in code_of(model, adapter, LOADING):
        if os.path.dirname(module_path(view)) == folder:
            joined = asked(view, _joined)
            if joined is not None:
                return view, joined
    return None


def _joined(view: MethodView) -> ast.Call | None:
    """The first join of as many tensors as there are experts, in a function that knows of one way to load."""
    lines = lines_of(view)
    if not any(_EXPERT.search(line) for line in lines) or any(_BOTH_WAYS.search(line) for line in lines):
        return None
    for node in nodes_with(view, _JOINS):
        joins = isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _NAMES and bool(node.args)
        if joins and _is_many(node.args[0], view):  # type: ignore[attr-defined]
            return node  # type: ignore[return-value]
    return None


def _is_many(expr: ast.expr, view: MethodView) -> bool:
    """Whether an expression is a list with as many elements as a loop has rounds."""
    if isinstance(expr, (ast.ListComp, ast.GeneratorExp)):
        return True
    if isinstance(expr, ast.Call):
        return dotted(expr.func) in ("list", "tuple") and bool(expr.args) and _is_many(expr.args[0], view)
    if not isinstance(expr, ast.Name):
        return False
    nodes = list(walk_here(view.node))
    values = [value for node in nodes for target, value in parts_of(node) if target == expr.id and value is not None]
    if any(_is_many(value, view) for value in values if not isinstance(value, ast.Name)):
        return True
    grown = (n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return any(n.func.attr == "append" and dotted(n.func.value) == expr.id for n in grown)  # type: ignore[attr-defined]


def is_tested(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> bool:
    """Tell whether some test names the adapter together with its claim; true where a checkout has no tests."""
    root = os.path.join(model.project.checkout.root, "tests")
    untold = model.project.tree.entries(root) is None or adapter.entity is None
    return untold or next(claim_tests(model, adapter), None) is not None


def claim_tests(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[str]:
    """Yield the test files (absolute) that name an adapter together with what it can claim."""
    tree, root = model.project.tree, os.path.join(model.project.checkout.root, "tests")
    if adapter.entity is None:
        return
    name, folder = adapter.entity.name.encode(), os.path.basename(os.path.dirname(adapter.entity.module.path))
    for path in _test_files(tree, root, folder):
        if tree.holds(path, name) and any(tree.holds(path, flag.strip("_").encode()) for flag in FLAGS):
            yield path


def _test_files(tree, root: str, folder: str) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """The files where such a test can be, by what they are called: a checkout has a thousand others."""
    for path in tree.python_files(root):
        if folder in path[len(root) :] or _TEST_FILES.search(path[len(root) :]):
            yield path
