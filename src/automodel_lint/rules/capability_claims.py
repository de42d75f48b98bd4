"""NAM306-NAM308, NAM816: what a class claims about parallelism, against what its recipes and its constructor do."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.artefacts import recipe_uses, trained_by
from automodel_lint.domain.capability_claims import Claim, conditional_experts, recipes_of, static_claims
from automodel_lint.domain.model_class import ModelClass, registered_classes
from automodel_lint.domain.recipe import Recipe
from automodel_lint.domain.recipe_index import BY_TARGET
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM306")
def capability_understated(model: ModelClass) -> Iterator[Finding]:
    uses = recipes_of(model)
    for flag, claim in static_claims(model).items() if uses else ():
        axis = flag.removeprefix("supports_")
        sets = [use for use in uses if use.sets(axis)]
        if sets and not claim.value:
            recipes = "a recipe sets" if len(sets) == 1 else f"{len(sets)} recipes set"
            yield _at(model, claim, flag=flag, axis=axis, recipes=recipes, recipe=sets[0].place.path)


@rule("NAM307")
def capability_overstated(model: ModelClass) -> Iterator[Finding]:
    known = recipe_uses(model.project, model.architectures, sure=False)
    uses = recipe_uses(model.project, model.architectures, sure=False, alike=True)
    for flag, claim in static_claims(model).items() if known else ():
        axis = flag.removeprefix("supports_")
        if claim.value and not claim.is_shared and not any(use.sets(axis) for use in uses):
            yield _at(model, claim, flag=flag, axis=axis)


@rule("NAM816")
def recipe_capability(recipe: Recipe) -> Iterator[Finding]:
    architectures, how = trained_by(recipe.project, recipe.relative)
    for model in registered_classes(recipe.project, architectures) if architectures else ():
        if how != BY_TARGET and not recipes_of(model):
            continue
        for flag, claim in static_claims(model).items():
            axis = flag.removeprefix("supports_")
            size = recipe.axis(axis)
            if size is not None and size[0] > 1 and not claim.value:
                place = f"{recipe.project.tree.relative(claim.path)}:{claim.node.lineno}"
                yield recipe.finding(size[1], axis=axis, size=size[0], cls=model.name, flag=flag, place=place)


@rule("NAM308")
def capability_variants(model: ModelClass) -> Iterator[Finding]:
    claim = static_claims(model).get("supports_ep")
    found = conditional_experts(model) if claim is not None and claim.value else None
    if claim is not None and found is not None:
        layer, condition = found
        yield _at(model, claim, layer=layer.fqn, condition=str(condition))


def _at(model: ModelClass, claim: Claim, **fields: str) -> Finding:
    """A finding at the claim; its owner is the registered class."""
    tree = model.project.tree
    named = (("cls", model.name), *fields.items())
    span = tree.span(claim.path, claim.node)
    return Finding(tree.relative(claim.path), span, model.name, model.architectures, named)
