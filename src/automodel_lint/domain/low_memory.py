"""Adapters that say a checkpoint can be read straight into the model's memory: do they keep to it, and who tests it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, code_of, lines_of, module_path, nodes_with
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted, parts_of, walk_here
from automodel_lint.inference.classes import Member, MethodView, asked

FLAG = "_supports_low_memory_dcp_load"
ASKED = FLAG.strip("_")
_JOINS = re.compile(r"\b(?:stack|cat|concat|concatenate|vstack|hstack)\(")
_NAMES = ("stack", "cat", "concat", "concatenate", "vstack", "hstack")
_EXPERT = re.compile(r"expert", re.I)
# A function that tells the two ways of loading apart knows what it is doing.
_BOTH_WAYS = re.compile(r"low_memory|for_checkpoint_load|view_loaded|inplace_loaded|into_model")
_TEST_FILES = re.compile(r"checkpoint|adapter|state_dict|memory|load|dcp")


def claim(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Member | None:
    """Return where an adapter class says ``True``, unless code of its own decides when that holds."""
    if adapter.entity is None:
        return None
    members, opaque = model.classes.find(adapter.entity, FLAG)
    says = len(members) == 1 and isinstance(members[0].value, ast.Constant) and members[0].value.value is True
    asked, _ = model.classes.find(adapter.entity, ASKED)
    decides = any(model.project.model_package(member.owner.module.path) is not None for member in asked)
    return members[0] if says and not opaque and not decides else None


def rebuilt(
    model: ModelClass | LooseAdapter, adapter: Adapter | Alone, said: Member
) -> tuple[MethodView, ast.Call] | None:
    """Return where loading puts all experts of a layer together in fresh memory.

    Looked at is code beside the claim. What it inherits from another model may not run for this one's checkpoints.
    """
    folder = os.path.dirname(said.owner.module.path)
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
    tree, root = model.project.tree, os.path.join(model.project.checkout.root, "tests")
    if tree.entries(root) is None or adapter.entity is None:
        return True
    name, folder = adapter.entity.name.encode(), os.path.basename(os.path.dirname(adapter.entity.module.path))
    return any(tree.holds(path, name) and tree.holds(path, ASKED.encode()) for path in _test_files(tree, root, folder))


def _test_files(tree, root: str, folder: str) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """The files where such a test can be, by what they are called: a checkout has a thousand others."""
    for path in tree.python_files(root):
        if folder in path[len(root) :] or _TEST_FILES.search(path[len(root) :]):
            yield path
