"""Which settings of ``tie_word_embeddings`` the tests of a model package build a class with."""

from __future__ import annotations

from automodel_lint.domain.artefacts import package_of, test_files
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.test_index import OWN
from automodel_lint.domain.tie_flag import FLAG

# As a keyword or an attribute; as a key, or through `setattr`, where it stands in a string.
_NAMED = rf"\b{FLAG}\s*=\s*"
_QUOTED = rf"""(?:["']{FLAG}["']\s*(?::|\]\s*=)|setattr\([^,\n]+,\s*["']{FLAG}["']\s*,)\s*"""
_PARAMETRISED = rf"""["']{FLAG}["']\s*,\s*[\[(]"""
_LOOPED = rf"\b{FLAG}\s+in\b"  # a loop that sets it
_COMPUTED = r"(?!True\b|False\b|None\b|bool\b|=)[\w.(]"


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
    given: set[bool] = set()
    for path in _files(model, package):
        tree = model.project.tree
        if not tree.holds(path, FLAG.encode()):
            continue
        if _gives(model, path, _COMPUTED) or tree.matches(path, _PARAMETRISED) or tree.code_matches(path, _LOOPED):
            return []
        given |= {value for value in demanded if _gives(model, path, rf"{value}\b")}
    if policy == "BOTH":
        return [] if given else demanded
    return [value for value in demanded if value not in given]


def _gives(model: ModelClass, path: str, value: str) -> bool:
    tree = model.project.tree
    return tree.code_matches(path, _NAMED + value) or tree.matches(path, _QUOTED + value)


def _files(model: ModelClass, package: str) -> list[str]:
    """The test files that name the class, with the fixtures and helpers beside them."""
    tree, files = model.project.tree, test_files(model.project, package)
    paths = {file: tree.absolute(file.place.path) for file in files}
    naming = [path for path in paths.values() if tree.holds(path, model.name.encode())]
    return naming + [path for file, path in paths.items() if file.kind == OWN and not file.is_module] if naming else []
