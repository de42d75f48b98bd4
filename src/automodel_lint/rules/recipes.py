"""NAM804, NAM811-NAM815: what a recipe says must be what the code can do."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.domain.recipe import Recipe
from automodel_lint.domain.recipe_arguments import refused, unsupplied
from automodel_lint.domain.recipe_classes import named_recipe, nearest_recipe
from automodel_lint.domain.recipe_training import lacks_fp32_weights, undivided
from automodel_lint.domain.recipe_yaml import faults
from automodel_lint.findings import Finding
from automodel_lint.rules import rule


@rule("NAM804")
def recipe_master_dtype(recipe: Recipe) -> Iterator[Finding]:
    found = lacks_fp32_weights(recipe)
    if found is not None:
        span, optimizer, model, dtype = found
        problem = f"keeps them in `{dtype}`" if dtype else f"gives `{model}` no dtype for them"
        yield recipe.finding(span, optimizer=optimizer, problem=problem)


@rule("NAM811")
def recipe_target_missing(recipe: Recipe) -> Iterator[Finding]:
    entry = recipe.entry
    for target in recipe.targets:
        if entry is not None and target.span == entry.span:
            continue  # NAM815's
        leads = recipe.project.recipe_targets.leads(target.text)
        if leads.status == "missing" and recipe.loads(target):
            advice = f"did you mean `{leads.near}`?" if leads.near else "name what is there"
            yield recipe.finding(
                target.span, target=target.text, owner=leads.owner, missing=leads.missing, advice=advice
            )


@rule("NAM812")
def recipe_argument_unknown(recipe: Recipe) -> Iterator[Finding]:
    for target in recipe.targets:
        for setting, near, takes in refused(recipe, target):
            advice = f"did you mean `{near}`?" if near else f"it takes {takes}" if takes else "it takes nothing by name"
            yield recipe.finding(
                setting.key_span, problem=f"`{target.text}` takes no `{setting.path[-1]}`", advice=advice
            )
        for name in unsupplied(recipe, target):
            yield recipe.finding(
                target.span, problem=f"`{target.text}` must be given `{name}`", advice="write it, it has no default"
            )


@rule("NAM813")
def recipe_batch_arithmetic(recipe: Recipe) -> Iterator[Finding]:
    found = undivided(recipe)
    if found is not None:
        span, batch, local, size, product = found
        by = f"`local_batch_size` {local}" + (f" × data-parallel size {size}" if size > 1 else "")
        near = [n for n in (batch // product * product, (batch // product + 1) * product) if n]
        yield recipe.finding(span, batch=batch, by=by, advice=" or ".join(f"`global_batch_size: {n}`" for n in near))


@rule("NAM814")
def recipe_yaml(recipe: Recipe) -> Iterator[Finding]:
    yield from faults(recipe.relative, recipe.document)


@rule("NAM815")
def recipe_class_unknown(recipe: Recipe) -> Iterator[Finding]:
    entry = recipe.entry
    name = entry.node.text.strip() if entry is not None and entry.node.text else ""
    if entry is not None and name and "$" not in name and named_recipe(recipe.project, name) is False:
        near = nearest_recipe(recipe.project, name)
        advice = f"did you mean `{near}`?" if near else "name a class of the package's `recipes`"
        yield recipe.finding(entry.span, name=name, advice=advice)
