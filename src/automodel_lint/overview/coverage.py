"""Which tests, documentation and recipes speak of a class: the one place that asks the domain for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from automodel_lint.engine import Place
from automodel_lint.overview.model import AxisUse, Coverage, Evidence
from automodel_lint.session import Session

_AXES = ("tp", "cp", "pp", "ep")


def covered(session: Session, places: Iterable[Place]) -> dict[Place, Coverage]:
    """Return what there is in the checkout about each class of a session that has run."""
    engine = session.engine
    return {
        place: engine.cache.get(
            f"coverage:{place}:{engine.classes[place]}", lambda p=place: _found(session, p), _coverage
        )
        for place in places
    }


def _found(session: Session, place: Place) -> dict[str, Any]:
    """The evidence about one class as JSON data; what the checkout has no folder for is ``None``."""
    from automodel_lint.domain import artefacts
    from automodel_lint.domain.capability_claims import recipes_of

    model = session.engine.about_class(place)
    if model is None:  # the file changed under our hands
        return {}
    project, found = model.project, {}
    package = artefacts.package_of(project, model.path)
    if artefacts.tests_root(project) is not None:
        modules = artefacts.test_modules(project, package) if package is not None else []
        found["tests"] = [[m.path, m.line] for m in modules]
    if artefacts.has_coverage_pages(project):
        found["docs"] = [[m.path, m.line] for m in artefacts.documented_at(project, model.architectures)]
    if artefacts.has_recipes(project):
        sure = artefacts.recipe_uses(project, model.architectures)
        may = [use for use in artefacts.recipe_uses(project, model.architectures, sure=False) if use not in sure]
        found["recipes"] = [[use.place.path, use.place.line] for use in sure]
        found["possible"] = [[use.place.path, use.place.line] for use in may]
        sets = {axis: [use for use in recipes_of(model) if use.sets(axis)] for axis in _AXES}
        found["axes"] = {
            axis: [max(use.sets(axis) for use in uses), [[use.place.path, use.place.line] for use in uses]]  # type: ignore[type-var]
            for axis, uses in sets.items()
            if uses
        }
    return found


def _coverage(data: dict[str, Any]) -> Coverage:
    axes = {axis: AxisUse(largest, _evidence(places)) for axis, (largest, places) in data.get("axes", {}).items()}
    kinds = {kind: _evidence(data[kind]) for kind in ("tests", "docs", "recipes", "possible") if kind in data}
    return Coverage(**kinds, axes=axes)


def _evidence(places: list[list[Any]]) -> tuple[Evidence, ...]:
    """The places, each file once."""
    first: dict[str, int] = {}
    for path, line in places:
        first.setdefault(path, line)
    return tuple(Evidence(path, line) for path, line in sorted(first.items()))
