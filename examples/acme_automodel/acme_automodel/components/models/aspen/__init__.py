"""Aspen: a bidirectional encoder for retrieval, with a choice of poolings."""

from acme_automodel.components.models.aspen.config import AspenConfig
from acme_automodel.components.models.aspen.model import (
    AspenBidirectionalModel,
    AspenForRerank,
    AspenForSequenceClassification,
)

__all__ = ["AspenBidirectionalModel", "AspenConfig", "AspenForRerank", "AspenForSequenceClassification"]
