"""What the source says of each registered class beside findings; kept in the verdict cache like a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from automodel_lint.engine import Place
from automodel_lint.session import Session


@dataclass(frozen=True)
class Surveyed:
    """One class: its facts (:mod:`automodel_lint.domain.class_facts`), its capabilities, what was not followed."""

    facts: dict[str, str]
    flags: dict[str, str]
    declared: str
    untraced: tuple[str, ...]

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Surveyed:
        """Read what :func:`_survey` gives."""
        return cls(data["facts"], data["flags"], data["declared"], tuple(data["untraced"]))


def surveyed(session: Session, places: Iterable[Place]) -> dict[Place, Surveyed]:
    """Return what is known of classes of a session that has run."""
    engine = session.engine
    return {
        place: engine.cache.get(
            f"survey:{place}:{engine.classes[place]}", lambda p=place: _survey(session, p), Surveyed.from_json
        )
        for place in places
    }


def _survey(session: Session, place: Place) -> dict[str, Any]:
    """What one class is, as JSON data; nothing is known of one that the linter fails on."""
    from automodel_lint.domain.class_facts import facts
    from automodel_lint.domain.declared_axes import declared_flags, how_declared

    try:
        model = session.engine.about_class(place)
        if model is None:  # the file changed under our hands
            return _UNKNOWN
        tree = model.module_tree
        return {
            "facts": facts(model),
            "flags": declared_flags(model),
            "declared": how_declared(model),
            "untraced": sorted({node.fqn or model.name for node in tree.opaque}),
        }
    except Exception:  # a rule that fails so has said it as NAM000
        return _UNKNOWN


_UNKNOWN: dict[str, Any] = {"facts": {}, "flags": {}, "declared": "open", "untraced": []}
