"""Do the tests of a model package run both directions of its state-dict adapter?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from automodel_lint.domain.adapter import SINGLE, Adapter
from automodel_lint.domain.artefacts import package_of, test_files
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.test_index import OWN
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity

DIRECTIONS = ("from_hf", "to_hf")
_ANY_ADAPTER = r"Adapter\b(?<=\wAdapter)(?<!\bStateDictAdapter)"  # but for the base class of all of them
_HELPER = re.compile(rb"(?m)^[ \t]*from[ \t]+(?=\.|tests\b)(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)")


def untested_directions(model: ModelClass, adapter: Adapter) -> dict[ClassEntity, list[str]]:
    """Return the directions that no test of the package runs, by the class that defines them.

    A direction that an adapter inherits from another package's is tested where that package tests it.
    """
    found: dict[ClassEntity, list[str]] = {}
    for name in DIRECTIONS:
        view = adapter.method(name)
        if view is None or adapter.entity is None or package_of(model.project, view.owner.module.path) is None:
            continue
        if not _is_run(model, adapter, view):
            found.setdefault(view.owner, []).append(name)
    return found


def _is_run(model: ModelClass, adapter: Adapter, view: MethodView) -> bool:
    names = [view.node.name]
    if view.node.name == "to_hf" and _only_delegates(view):
        names.append(SINGLE)
    return any(_runs(model, path, names) for path in _test_files(model, adapter, view.owner))


def _test_files(model: ModelClass, adapter: Adapter, owner: ClassEntity) -> Iterator[str]:
    """The files that can test an adapter: those that name it, and its package's own that name no other one."""
    tree, project = model.project.tree, model.project
    assert adapter.entity is not None
    classes = {model.entity, adapter.entity, owner}
    packages = {package_of(project, cls.module.path) for cls in classes} - {None}
    own = (adapter.entity.name.encode(), owner.name.encode())
    for package in sorted(p for p in packages if p is not None):
        for file in test_files(project, package):
            path = tree.absolute(file.place.path)
            through_model = file.kind == OWN or tree.holds(path, model.name.encode())
            if any(tree.holds(path, name) for name in own) or (through_model and not tree.matches(path, _ANY_ADAPTER)):
                yield path


def _runs(model: ModelClass, path: str, names: list[str], depth: int = 0) -> bool:
    """Whether a file's code gets one of the methods from something, or hands that to a helper of the tests."""
    tree = model.project.tree
    for name in names:
        if not tree.holds(path, name.encode()):
            continue
        # neither `adapter.from_hf = fake` nor `adapter.from_hf.assert_called()`
        if tree.code_matches(path, rf"\.\s*{name}\b(?!\s*=[^=]|\s*\.)"):
            return True
        if tree.holds(path, b"getattr(") and tree.matches(path, rf"[\"']{name}[\"']"):
            return True
    if _saves_and_loads(model, path):
        return True
    return depth == 0 and any(_runs(model, helper, names, 1) for helper in _helpers(model, path))


def _saves_and_loads(model: ModelClass, path: str) -> bool:
    """Whether a test goes the way of a checkpoint with the model, which runs the adapter both ways."""
    tree = model.project.tree
    return (
        tree.holds(path, model.name.encode())
        and tree.holds(path, b".save_pretrained(")
        and tree.code_matches(path, r"\.save_pretrained\(")
        and tree.code_matches(path, r"\.from_pretrained\(")
    )


def _helpers(model: ModelClass, path: str) -> Iterator[str]:
    """The files of the tests that a test imports from."""
    tree = model.project.tree
    if not tree.holds(path, b"from .") and not tree.holds(path, b"from tests"):
        return
    for match in _HELPER.finditer(tree.read(path) or b"") if tree.matches(path, _HELPER.pattern.decode()) else ():
        dots, module, listed = (part.decode(errors="replace") for part in match.groups(b""))
        folder = model.project.checkout.root
        if dots:
            folder = os.path.dirname(path)
            for _ in dots[1:]:
                folder = os.path.dirname(folder)
        base = os.path.join(folder, *module.split("."))
        for candidate in (base.rstrip(os.sep), *(os.path.join(base, name) for name in re.findall(r"\w+", listed))):
            if tree.exists(f"{candidate}.py"):
                yield f"{candidate}.py"


def _only_delegates(view: MethodView) -> bool:
    """Whether ``to_hf`` does nothing of its own but call ``convert_single_tensor_to_hf`` for each tensor."""
    called = (dotted(call.func) for call in view.calls())
    return {name for name in called if name.startswith(f"{view.self_name}.")} == {f"{view.self_name}.{SINGLE}"}
