"""Cedar: images and text in, text out."""

from acme_automodel.components.models.cedar.config import CedarConfig, CedarTextConfig, CedarVisionConfig
from acme_automodel.components.models.cedar.model import CedarForConditionalGeneration

__all__ = ["CedarConfig", "CedarForConditionalGeneration", "CedarTextConfig", "CedarVisionConfig"]
