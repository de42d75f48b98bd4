"""Configuration of Poplar: Cedar's vision part, its own text part, one around them."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.cedar.config import TINY_VISION_SIZES, CedarVisionConfig
from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig
from acme_automodel.shared.configuration import AcmePretrainedConfig


class PoplarTextConfig(FirConfig):
    """Sizes of the language model, which is a Fir."""

    model_type = "poplar_text"


class PoplarConfig(AcmePretrainedConfig):
    """The outer configuration; its ``tie_word_embeddings`` is the one that counts."""

    model_type = "poplar"

    def __init__(
        self,
        text_config: PoplarTextConfig | dict[str, Any] | None = None,
        vision_config: CedarVisionConfig | dict[str, Any] | None = None,
        image_token_id: int = 10,
        tie_word_embeddings: bool = False,
        **kwargs: Any,
    ):
        self.text_config = (
            text_config if isinstance(text_config, PoplarTextConfig) else PoplarTextConfig(**text_config or {})
        )
        self.vision_config = (
            vision_config if isinstance(vision_config, CedarVisionConfig) else CedarVisionConfig(**vision_config or {})
        )
        self.image_token_id = image_token_id
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


def tiny_config(**overrides: Any) -> PoplarConfig:
    """Return a configuration that a test can build in milliseconds; an image takes four tokens."""
    fields = dict(text_config=dict(TINY_SIZES), vision_config=dict(TINY_VISION_SIZES), image_token_id=3)
    return PoplarConfig(**{**fields, **overrides})
