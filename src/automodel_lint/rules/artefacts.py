"""NAM801-NAM803, NAM805, NAM806: what a registered model has beside its code."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.adapter_tests import untested_directions
from automodel_lint.domain.artefacts import (
    documented_at,
    has_coverage_pages,
    has_recipes,
    package_of,
    recipe_uses,
    test_modules,
    tests_root,
)
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.things import ModelPackage
from automodel_lint.domain.tie_tests import unbuilt_settings
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM801")
def tests_missing(package: ModelPackage) -> Iterator[Finding]:
    root = tests_root(package.project)
    if root is None or test_modules(package.project, package.name):
        return
    cls = next(iter(package.classes()), None)
    if cls is not None:
        folder = f"{root}/models/{package.name}"
        yield package.finding_at_class(cls, folder=folder)


@rule("NAM802")
def docs_row_missing(model: ModelClass) -> Iterator[Finding]:
    if has_coverage_pages(model.project) and not documented_at(model.project, model.architectures):
        named = " or ".join(f"`{name}`" for name in model.architectures)
        yield model.finding(named=named)


@rule("NAM803")
def recipe_missing(model: ModelClass) -> Iterator[Finding]:
    if has_recipes(model.project) and not recipe_uses(model.project, model.architectures, sure=False):
        yield model.finding()


@rule("NAM805")
def tie_tests_missing(model: ModelClass) -> Iterator[Finding]:
    if tests_root(model.project) is None or not model.owns_causal_head:
        return
    settings = unbuilt_settings(model)
    if settings:
        shown = " or ".join(f"`tie_word_embeddings={setting}`" for setting in settings)
        expected = "shares its weights or keeps them apart" if model.tie_policy == "BOTH" else "is refused"
        package = package_of(model.project, model.path)
        yield model.finding(package=package, settings=shown, policy=model.tie_policy, expected=expected)


@rule("NAM806")
def adapter_test_missing(model: ModelClass) -> Iterator[Finding]:
    if tests_root(model.project) is None:
        return
    for adapter in model.adapters:
        for owner, directions in untested_directions(model, adapter).items():
            yield model.finding(owner=owner, directions=" or ".join(f"`{name}`" for name in directions))
