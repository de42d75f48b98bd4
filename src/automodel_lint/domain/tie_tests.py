"""Which settings of ``tie_word_embeddings`` the tests of a model package build a class with."""

from __future__ import annotations

from automodel_lint.domain.artefacts import package_of, test_files
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.test_index import OWN, TestFile
from automodel_lint.domain.test_marks import COMPUTED, TIED, UNTIED


def unbuilt_settings(model: ModelClass) -> list[bool]:
    """Return the settings that the policy is about and no test of the package gives to the class.

    Of the two that ``BOTH`` allows, the one that a config has by default needs not be given; what the others accept is
    what every test builds. A setting that the tests compute is taken for the one that is missing.
    """
    policy = model.tie_policy
    package = package_of(model.project, model.path)
    if policy is None or package is None:
        return []
    demanded = {"BOTH": [True, False], "TIED_ONLY": [False], "UNTIED_ONLY": [True]}[policy]
    marks = {mark for file in _files(model, package) for mark in file.marks}
    if COMPUTED in marks:
        return []
    given = {value for value in demanded if (TIED if value else UNTIED) in marks}
    if policy == "BOTH":
        return [] if given else demanded
    return [value for value in demanded if value not in given]


def _files(model: ModelClass, package: str) -> list[TestFile]:
    """The test files that name the class, with the fixtures and helpers beside them."""
    files = test_files(model.project, package)
    naming = [file for file in files if model.name in file.marks]
    return naming + [file for file in files if file.kind == OWN and not file.is_module] if naming else []
