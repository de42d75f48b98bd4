"""Willow: a bidirectional encoder for retrieval."""

from acme_automodel.components.models.willow.config import WillowConfig
from acme_automodel.components.models.willow.model import (
    WillowBidirectionalModel,
    WillowForSequenceClassification,
)

__all__ = ["WillowBidirectionalModel", "WillowConfig", "WillowForSequenceClassification"]
