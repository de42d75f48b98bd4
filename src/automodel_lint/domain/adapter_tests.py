"""Do the tests of a model package run both directions of its state-dict adapter?"""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.adapter import SINGLE, Adapter
from automodel_lint.domain.artefacts import package_of, test_files
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.test_index import OWN, TestFile
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView
from automodel_lint.inference.names import ClassEntity

DIRECTIONS = ("from_hf", "to_hf")
_BASE = "StateDictAdapter"  # of all adapters


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
    names = {view.node.name}
    if view.node.name == "to_hf" and _only_delegates(view):
        names.add(SINGLE)
    return any(_runs(model, file, names) for file in _test_files(model, adapter, view.owner))


def _test_files(model: ModelClass, adapter: Adapter, owner: ClassEntity) -> Iterator[TestFile]:
    """The files that can test an adapter: those that name it, and its package's own that name no other one."""
    assert adapter.entity is not None
    classes = {model.entity, adapter.entity, owner}
    packages = {package_of(model.project, cls.module.path) for cls in classes}
    for package in sorted(p for p in packages if p is not None):
        for file in test_files(model.project, package):
            others = {mark for mark in file.marks if mark.endswith("Adapter")} - {_BASE}
            through_model = file.kind == OWN or model.name in file.marks
            if {adapter.entity.name, owner.name} & file.marks or (through_model and not others):
                yield file


def _runs(model: ModelClass, file: TestFile, names: set[str]) -> bool:
    """Whether a file gets one of the methods, or goes the way of a checkpoint with the model, which runs both."""
    saves_and_loads = {model.name, "save_pretrained", "from_pretrained"} <= file.marks
    return bool(names & file.marks) or saves_and_loads


def _only_delegates(view: MethodView) -> bool:
    """Whether ``to_hf`` does nothing of its own but call ``convert_single_tensor_to_hf`` for each tensor."""
    called = (dotted(call.func) for call in view.calls())
    return {name for name in called if name.startswith(f"{view.self_name}.")} == {f"{view.self_name}.{SINGLE}"}
