"""One config beside one checkout: what it is, what is there, what is near, what to do."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from automodel_lint.domain.project import Project
from automodel_lint.inference.names import Names as SourceNames
from automodel_lint.onboarding.built import Key
from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.config_file import ConfigFile
from automodel_lint.onboarding.naming import Names, names_for
from automodel_lint.onboarding.nearest import Near, nearest, not_built
from automodel_lint.onboarding.plan import plan_of
from automodel_lint.onboarding.registered import Registered, registered_classes
from automodel_lint.onboarding.step import Step
from automodel_lint.onboarding.surroundings import Surroundings, surroundings_of
from automodel_lint.source import SourceTree

# What a release must know for a rule to hold there.
_NEWER = {
    "NAM201": "TieSupport",
    "NAM208": "TieSupport",
    "NAM805": "TieSupport",
    "NAM301": "query_capabilities",
    "NAM401": "_keep_in_fp32_modules_strict",
    "NAM703": "_pp_keep_self_forward",
}


@dataclass(frozen=True)
class Onboarding:
    """All that is told of one config.

    Attributes:
        found: what the config says.
        around: what the checkout and transformers know of it.
        lacking: where its architecture is registered, what the config says and the class seems not to have.
        near: the nearest registered architectures; empty without a checkout.
        names: what the model is to be called.
        plan: what there is to do; empty where the architecture is registered already.
        root: the folder of the checkout, ``None`` without one.
    """

    found: Classification
    around: Surroundings
    lacking: tuple[Key, ...]
    near: tuple[Near, ...]
    names: Names
    plan: tuple[Step, ...]
    root: str | None


def onboard(file: ConfigFile, project: Project | None, libraries: list[str], most: int = 5) -> Onboarding:
    """Classify a config and compare it with a checkout, if there is one.

    ``libraries`` are the folders in which transformers may lie, asked where there is no checkout; ``most`` how many
    architectures are named as near.

    Raises:
        ConfigProblem: if a field that is needed has a value of a wrong type.
    """
    found = classify(file)
    if project is None:
        names = names_for(found)
        around = surroundings_of(found, None, SourceNames(SourceTree("."), [], libraries, ("transformers",), ""))
        return Onboarding(found, around, (), (), names, plan_of(found, around, [], names, None), None)
    checkout = project.checkout
    source = os.path.relpath(checkout.source_root, checkout.root).replace(os.sep, "/")
    names = names_for(found, checkout.package, "" if source == "." else source)
    around = surroundings_of(found, project, project.names)
    is_pipeline = found.parts.outer.get("_diffusers_version") is not None
    classes = list(registered_classes(project))
    near = [] if is_pipeline or not most else nearest(found, classes, most)
    if around.registration is not None:
        own = next((c for c in classes if around.registration.key in c.model.architectures), None)
        names = replace(names, **_places(own, checkout.root)) if own is not None else names
        lacking = not_built(found, own) if own is not None else ()
        return Onboarding(found, around, lacking, tuple(near), names, (), checkout.root)
    plan = plan_of(found, around, near, names, project.tree.relative(checkout.registry))
    plan = tuple(step for step in plan if step.rule not in _NEWER or project.knows(_NEWER[step.rule]))
    return Onboarding(found, around, (), tuple(near), names, plan, checkout.root)


def _places(own: Registered, root: str) -> dict[str, str]:
    """Where a registered class really lies."""
    folder = own.model.project.model_package(own.model.path)
    if folder is None:
        return {}
    module = own.model.entity.module.name.partition(f".{own.package}")[0]
    return {
        "package": own.package,
        "folder": os.path.relpath(folder, root).replace(os.sep, "/"),
        "module": f"{module}.{own.package}",
        "cls": own.model.name,
        "tests": f"tests/unit_tests/models/{own.package}",
    }
