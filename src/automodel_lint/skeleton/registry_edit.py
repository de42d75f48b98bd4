"""The entries of a new package in the registry, as lossless edits of its file."""

from __future__ import annotations

import ast
import datetime
import re

from automodel_lint.domain.registry import CONFIGS, MAPPING
from automodel_lint.findings import Span
from automodel_lint.fixes.brackets import WIDEST
from automodel_lint.fixes.draft import Draft, NotEditable
from automodel_lint.fixes.edits import applied, changes_of
from automodel_lint.repairs import Step, add_item, append_line, repair
from automodel_lint.request import UsageError
from automodel_lint.skeleton.design import Design


def with_entries(design: Design) -> tuple[str, bytes, bytes]:
    """Return the registry's path, what is in it, and what is in it with the entries of a package.

    Raises:
        UsageError: if an entry cannot be added.
    """
    project = design.project
    path = project.checkout.registry
    old = project.tree.read(path) or b""
    module = f"{project.checkout.package}.components.models.{design.name}"
    try:
        draft = Draft(old)
        new = _added(draft, _architecture(draft, f"{module}.model", design.arch))
        for cls in design.configs:
            new = _added(new, _config(new, cls.model_type, f"{module}.config", cls.name))
        new.check_like(draft)
    except NotEditable as error:
        raise UsageError(f"{path}: no entry can be added: {error}") from error
    return path, old, new.data


def _added(draft: Draft, step: Step) -> Draft:
    return Draft(draft.encoded(applied(draft.text, changes_of(draft, repair("Register", step)))))


def header_of(design: Design) -> str:
    """Return the notice of copyright that the files of the checkout begin with, as of this year; empty if none do."""
    text = (design.project.tree.read(design.project.checkout.registry) or b"").decode("utf-8", "replace")
    match = re.match(r"(?:#[^\n]*\n)+", text)
    if match is None or "copyright" not in match[0].lower():
        return ""
    return re.sub(r"\b20\d\d\b", str(datetime.date.today().year), match[0], count=1) + "\n"


def _architecture(draft: Draft, module: str, arch: str) -> Step:
    key, value = f'"{arch}"', f'("{module}", "{arch}")'
    table = _table(draft, MAPPING)
    if isinstance(table, ast.Dict):
        return add_item(_span(draft, table), f"{key}: {value}")
    if isinstance(table, (ast.List, ast.Tuple)):
        return add_item(_span(draft, table), _pair(draft, table, key, value))
    return append_line(f"{MAPPING}[{key}] = {value}")


def _config(draft: Draft, model_type: str, module: str, cls: str) -> Step:
    table = _table(draft, CONFIGS)
    if not isinstance(table, ast.Dict):
        raise NotEditable(f"no {CONFIGS} that is a dict")
    return add_item(_span(draft, table), f'"{model_type}": ("{module}", "{cls}")')


def _table(draft: Draft, name: str) -> ast.expr | None:
    """The list or dict in which a mapping's entries stand; ``None`` where it is put together in another way."""
    for statement in draft.syntax.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and any(getattr(t, "id", "") == name for t in targets):
            value = statement.value
            if isinstance(value, ast.Call) and value.args:
                value = value.args[0]
            return value if isinstance(value, (ast.Dict, ast.List, ast.Tuple)) else None
    return None


def _span(draft: Draft, node: ast.AST) -> Span:
    start, end = draft.node_offset(node), draft.node_end(node)
    first, last = draft.line_of(start), draft.line_of(end)
    return Span(first, start - draft.starts[first - 1] + 1, last, end - draft.starts[last - 1] + 1)


def _pair(draft: Draft, table: ast.List | ast.Tuple, key: str, value: str) -> str:
    indent = draft.indent_at(draft.node_offset(table.elts[-1])) if table.elts else ""
    line = f"({key}, {value})"
    if len(indent) + len(line) < WIDEST:
        return line
    return draft.laid_out(f"(\n    {key},\n    {value},\n)", indent).lstrip()
