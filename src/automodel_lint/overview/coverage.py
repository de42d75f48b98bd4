"""Which tests, documentation and recipes speak of a class: the one place that asks the domain for them."""

from __future__ import annotations

from collections.abc import Iterable

from automodel_lint.engine import Place
from automodel_lint.overview.model import Coverage
from automodel_lint.session import Session


def covered(session: Session, places: Iterable[Place]) -> dict[Place, Coverage]:
    """Return what there is in the checkout about each class."""
    return {place: Coverage() for place in places}
