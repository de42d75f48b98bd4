"""Configuration of Cedar: one part for the images, one for the text, one around them."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig
from acme_automodel.shared.configuration import AcmePretrainedConfig


class CedarTextConfig(FirConfig):
    """Sizes of the language model, which is a Fir."""

    model_type = "cedar_text"


class CedarVisionConfig(AcmePretrainedConfig):
    """Sizes of the vision tower."""

    model_type = "cedar_vision"

    def __init__(
        self,
        image_size: int = 224,
        patch_size: int = 14,
        num_channels: int = 3,
        hidden_size: int = 768,
        intermediate_size: int = 3072,
        num_hidden_layers: int = 12,
        num_attention_heads: int = 12,
        **kwargs: Any,
    ):
        self.image_size = image_size
        self.patch_size = patch_size
        self.num_channels = num_channels
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        super().__init__(**kwargs)


class CedarConfig(AcmePretrainedConfig):
    """The outer configuration; its ``tie_word_embeddings`` is the one that counts."""

    model_type = "cedar"

    def __init__(
        self,
        text_config: CedarTextConfig | dict[str, Any] | None = None,
        vision_config: CedarVisionConfig | dict[str, Any] | None = None,
        image_token_id: int = 10,
        tie_word_embeddings: bool = True,
        **kwargs: Any,
    ):
        self.text_config = (
            text_config if isinstance(text_config, CedarTextConfig) else CedarTextConfig(**text_config or {})
        )
        self.vision_config = (
            vision_config if isinstance(vision_config, CedarVisionConfig) else CedarVisionConfig(**vision_config or {})
        )
        self.image_token_id = image_token_id
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


TINY_VISION_SIZES = dict(
    image_size=16, patch_size=8, hidden_size=36, intermediate_size=52, num_hidden_layers=1, num_attention_heads=3
)


def tiny_config(**overrides: Any) -> CedarConfig:
    """Return a configuration that a test can build in milliseconds; an image takes four tokens."""
    fields = dict(text_config=dict(TINY_SIZES), vision_config=dict(TINY_VISION_SIZES), image_token_id=3)
    return CedarConfig(**{**fields, **overrides})
