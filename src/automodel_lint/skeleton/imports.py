"""The imports of a generated module: just those that its body uses, in the order that isort and ruff give them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping

from automodel_lint.fixes.brackets import WIDEST

_FUTURE = "from __future__ import annotations"
# Names whose home is no matter of the checkout: how each is imported.
KNOWN = {
    "ACT2FN": "transformers.activations",
    "Any": "typing",
    "AutoConfig": "transformers",
    "AutoModel": "transformers",
    "DeviceMesh": "torch.distributed.device_mesh",
    "F": "import torch.nn.functional as F",
    "PreTrainedModel": "transformers",
    "ROPE_INIT_FUNCTIONS": "transformers.modeling_rope_utils",
    "dataclass": "dataclasses",
    "nn": "import torch.nn as nn",
    "pytest": "import pytest",
    "re": "import re",
    "replace": "dataclasses",
    "torch": "import torch",
}


def with_imports(body: str, sources: Mapping[str, str], package: str, future: bool = True) -> str:
    """Return a module's body with the imports that it needs above it.

    ``sources`` gives the module of each name, or the whole statement. ``package`` is what counts as first-party.

    Raises:
        KeyError: for a name that comes from nowhere: a template is wrong.
    """
    needed = _unbound(ast.parse(body))
    homes = {name: {**KNOWN, **sources}[name] for name in needed}
    plain = {home for home in homes.values() if home.startswith("import ")}
    froms: dict[str, set[str]] = {}
    for name, home in homes.items():
        if home not in plain:
            froms.setdefault(home, set()).add(name)
    sections: dict[int, list[str]] = {}
    for statement in sorted(plain, key=lambda s: s.split()[1].lower()):
        sections.setdefault(_section(statement.split()[1], package), []).append(statement)
    for home in sorted(froms, key=str.lower):
        sections.setdefault(_section(home, package), []).append(_from(home, froms[home]))
    blocks = ["\n".join(sections[section]) for section in sorted(sections)]
    return "\n\n".join([_FUTURE, *blocks] if future else blocks) + "\n\n" + _gap(body) + body


def _gap(body: str) -> str:
    """One more empty line before a class or function."""
    first = ast.parse(body).body[0]
    return "\n" if isinstance(first, (ast.ClassDef, ast.FunctionDef)) and not body.startswith("#") else ""


def _unbound(module: ast.Module) -> set[str]:
    """The names that a module uses and binds nowhere."""
    used, bound = set(), set(dir(builtins))
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    exported = {"__all__"}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") in exported:
            used |= {n.value for n in ast.walk(statement.value) if isinstance(n, ast.Constant)}
    return used - bound


def _section(module: str, package: str) -> int:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return 0
    return 2 if top == package else 1


def _from(home: str, names: set[str]) -> str:
    ordered = sorted(names, key=_rank)
    line = f"from {home} import {', '.join(ordered)}"
    if len(line) <= WIDEST:
        return line
    return "\n".join([f"from {home} import (", *(f"    {name}," for name in ordered), ")"])


def _rank(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as isort's order by type has it."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name
