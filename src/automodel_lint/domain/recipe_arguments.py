"""The keys beside a ``_target_`` against what the target takes when it is called."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from automodel_lint.domain.recipe import Recipe, Setting, Target, recipes
from automodel_lint.inference.names import ClassEntity, FunctionEntity
from automodel_lint.inference.signatures import Signature

_META = frozenset({"_recursive_", "_convert_", "_partial_", "_args_"})  # words of Hydra, which some loaders drop
_SHOWN = 8  # parameters that a message lists


def refused(recipe: Recipe, target: Target) -> Iterator[tuple[Setting, str, str]]:
    """Yield the settings beside a target that it does not take, each with the closest parameter and a list of all."""
    signatures = _signatures(recipe, target)
    if not signatures:
        return
    names = frozenset(name for signature in signatures for name in signature.names)
    unknown = [s for key, s in target.arguments.items() if key not in names | _META]
    if not unknown or _is_read_by_key(recipe, target, names):
        return
    for setting in unknown:
        key = str(setting.path[-1])
        if not _has_config_for(recipe, target, key):
            near = difflib.get_close_matches(key, sorted(names), 1)
            listed = ", ".join(f"`{n}`" for n in list(names_in_order(signatures))[:_SHOWN])
            more = " …" if len(names) > _SHOWN else ""
            yield setting, near[0] if near else "", listed + more


def names_in_order(signatures: tuple[Signature, ...]) -> dict[str, None]:
    """Return the parameters of several signatures in the order of their definition."""
    return {name: None for signature in signatures for name in signature.names}


def unsupplied(recipe: Recipe, target: Target) -> Iterator[str]:
    """Yield the parameters that a target must be given, and that neither the recipe nor a recipe class gives.

    What a recipe class adds when it makes the object cannot be told in general. So a parameter is missing only where a
    section is made of what it says and nothing else; or where no recipe class has the parameter's name at all, and
    other recipes with this target give it.
    """
    signatures = _signatures(recipe, target)
    if not signatures or any(isinstance(part, str) and part.endswith("_fn") for part in target.path):
        return
    needed = frozenset.intersection(*(s.required for s in signatures)) - target.arguments.keys()
    if not needed:
        return
    names = frozenset(name for signature in signatures for name in signature.names)
    if _is_read_by_key(recipe, target, names):
        return
    reads = recipe.project.recipe_reads
    plain = len(target.path) == 1 and reads.makes_plainly(target.section)
    for name in sorted(needed):
        if plain or (not reads.mentions(name) and _given_elsewhere(recipe, target, name)):
            yield name


def _signatures(recipe: Recipe, target: Target) -> tuple[Signature, ...]:
    """What a target takes; empty if it is not called, if that cannot be told, or if it is what runs the recipe."""
    entry = recipe.entry
    if not target.is_called or (entry is not None and entry.span == target.span):
        return ()
    return recipe.project.recipe_targets.signatures(target.text) or ()


def _is_read_by_key(recipe: Recipe, target: Target, names: frozenset[str]) -> bool:
    """Whether the mapping that holds a target is read key by key: a recipe class reads one that it does not take."""
    others = (key for key in target.arguments if key not in names)
    return any(recipe.project.recipe_reads.by_name(target.path, key) for key in others)


def _has_config_for(recipe: Recipe, target: Target, key: str) -> bool:
    """Whether a config class beside the target has a field of this name: the framework may put that in its place."""
    targets = recipe.project.recipe_targets
    for entity, owner in targets.leads(target.text).entities:
        definition = owner or entity
        if not isinstance(definition, (ClassEntity, FunctionEntity)):
            continue
        bindings = definition.scope.module.bindings
        for name in bindings.names:
            if name.endswith("Config") and any(b.kind == "class" for b in bindings.live(name)):
                found = targets.signatures(f"{definition.scope.module.name}.{name}")
                if found is None or any(key in signature.names for signature in found):
                    return True
    return False


def _given_elsewhere(recipe: Recipe, target: Target, name: str) -> bool:
    """Whether other recipes give a target this argument, and none leaves it out."""
    given = False
    for other in recipes(recipe.project):
        if other.path == recipe.path or not recipe.project.tree.holds(other.path, target.text.encode()):
            continue
        uses = [t for t in other.targets if t.text == target.text and t.is_called]
        if any(name not in use.arguments for use in uses):
            return False
        given = given or bool(uses)
    return given
