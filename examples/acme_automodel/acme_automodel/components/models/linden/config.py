"""Configuration of Linden."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig
from acme_automodel.shared.configuration import AcmePretrainedConfig


class LindenConfig(AcmePretrainedConfig):
    """The outer configuration of an image model; ``text_config`` is a Fir's."""

    model_type = "linden"

    def __init__(
        self,
        text_config: FirConfig | dict[str, Any] | None = None,
        image_token_id: int = 10,
        tie_word_embeddings: bool = True,
        **kwargs: Any,
    ):
        self.text_config = text_config if isinstance(text_config, FirConfig) else FirConfig(**text_config or {})
        self.image_token_id = image_token_id
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


def tiny_config(**overrides: Any) -> LindenConfig:
    """Return a configuration that a test can build in milliseconds."""
    return LindenConfig(**{"text_config": {**TINY_SIZES, "tie_word_embeddings": True}, **overrides})
