"""One config beside one checkout: what it is, what is there, what is near, what to do."""

from __future__ import annotations

import os
from dataclasses import dataclass

from automodel_lint.domain.project import Project
from automodel_lint.inference.names import Names as SourceNames
from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.config_file import ConfigFile
from automodel_lint.onboarding.naming import Names, names_for
from automodel_lint.onboarding.nearest import Near, nearest
from automodel_lint.onboarding.plan import plan_of
from automodel_lint.onboarding.registered import registered_classes
from automodel_lint.onboarding.step import Step
from automodel_lint.onboarding.surroundings import Surroundings, surroundings_of
from automodel_lint.source import SourceTree


@dataclass(frozen=True)
class Onboarding:
    """All that is told of one config.

    Attributes:
        found: what the config says.
        around: what the checkout and transformers know of it.
        near: the nearest registered architectures; empty without a checkout.
        names: what the model is to be called.
        plan: what there is to do.
        root: the folder of the checkout, ``None`` without one.
    """

    found: Classification
    around: Surroundings
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
        return Onboarding(found, around, (), names, plan_of(found, around, [], names, None), None)
    checkout = project.checkout
    source = os.path.relpath(checkout.source_root, checkout.root).replace(os.sep, "/")
    names = names_for(found, checkout.package, "" if source == "." else source)
    around = surroundings_of(found, project, project.names)
    is_pipeline = found.parts.outer.get("_diffusers_version") is not None
    near = [] if is_pipeline or not most else nearest(found, registered_classes(project), most)
    registry = project.tree.relative(checkout.registry)
    plan = plan_of(found, around, near, names, registry)
    return Onboarding(found, around, tuple(near), names, plan, checkout.root)
