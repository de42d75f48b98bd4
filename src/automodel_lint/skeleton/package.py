"""A whole model package with all that goes with it: which files, and what in them is left to a person."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass

from automodel_lint.onboarding.component import EXPERTS
from automodel_lint.skeleton.config_class import OF_THE_BASE
from automodel_lint.skeleton.design import Design
from automodel_lint.skeleton.registry_edit import header_of, with_entries
from automodel_lint.skeleton.rendering import package_files, test_file
from automodel_lint.skeleton.repository import repository_files
from automodel_lint.skeleton.writing import Planned
from automodel_lint.source import encoded


@dataclass(frozen=True)
class Open:
    """A place that raises ``NotImplementedError``: file, line, and what to think about there."""

    path: str
    line: int
    sentence: str


def files_of(design: Design, hf_id: str) -> list[Planned]:
    """Return the files of a package, those of the model first and the registry last.

    Raises:
        UsageError: if the registry cannot be edited.
    """
    checkout, header = design.project.checkout, header_of(design)
    folder = os.path.join(checkout.models_dir, design.name)
    new = {os.path.join(folder, name): text for name, text in package_files(design, header).items()}
    tests = os.path.join(checkout.root, "tests", "unit_tests", "models")
    if any(os.path.exists(os.path.join(checkout.root, name)) for name in ("tests", "pyproject.toml")):
        if os.path.isfile(os.path.join(tests, "__init__.py")):
            new[os.path.join(tests, design.name, "__init__.py")] = header.rstrip("\n") + "\n" * bool(header)
        new[os.path.join(tests, design.name, f"test_{design.name}_model.py")] = test_file(design, header)
    else:
        design.remarks.append("no tests: an installed package has no place for them")
    planned = [Planned(path, None, encoded(text)) for path, text in new.items()]
    for path, (old, text) in repository_files(design, header, hf_id).items():
        planned.append(Planned(os.path.join(checkout.root, path), old, encoded(text)))
    registry, before, after = with_entries(design)
    return [*sorted(planned, key=lambda file: file.old is not None), Planned(registry, before, after)]


def left_open(files: list[Planned]) -> list[Open]:
    """Return the places in new files that a person must write."""
    found = []
    for file in files:
        if file.path.endswith(".py") and file.old is None:
            for node in ast.walk(ast.parse(file.new)):
                call = node.exc if isinstance(node, ast.Raise) else None
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "NotImplementedError":
                    found.append(Open(file.path, node.lineno, str(getattr(call.args[0], "value", ""))))
    return found


def unread_fields(design: Design, files: list[Planned]) -> list[str]:
    """Return the fields of the language model's config that the new package neither reads nor is shaped by."""
    package = os.path.join(design.project.checkout.models_dir, design.name)
    ours = (f for f in files if os.path.dirname(f.path) == package and not f.path.endswith("config.py"))
    code = "\n".join(file.new.decode() for file in ours)
    data = design.found.parts.backbone.data
    left = (name for name in data if name not in OF_THE_BASE and name not in _shaping(design))
    return [name for name in left if not re.search(rf"\b{re.escape(name)}\b", code)]


def _shaping(design: Design) -> set[str]:
    """The fields that decided what was written, so that nothing need read them."""
    components = [c for c in design.found.components if c.group != EXPERTS]
    fields = [field for component in components for field in component.fields]
    experts, config = design.found.experts, design.shared.pieces.get("moe_config")
    if experts is not None and config is not None:
        fields += [experts.router_field] if experts.router_field and "score_func" in config.parameters else []
        fields += [experts.correction_bias] if experts.correction_bias is not None else []
    fields += [design.found.draft_layers] if design.found.draft_layers is not None else []
    return {field.path.rpartition(".")[2] for field in fields}
