"""Configuration of Birch."""

from __future__ import annotations

from typing import Any

from acme_automodel.components.models.fir.config import TINY_SIZES, FirConfig
from acme_automodel.shared.configuration import AcmePretrainedConfig


class BirchConfig(AcmePretrainedConfig):
    """The outer configuration of a speech model; ``text_config`` is a Fir's."""

    model_type = "birch"

    def __init__(
        self,
        text_config: FirConfig | dict[str, Any] | None = None,
        sampling_rate: int = 16000,
        tie_word_embeddings: bool = True,
        **kwargs: Any,
    ):
        self.text_config = text_config if isinstance(text_config, FirConfig) else FirConfig(**text_config or {})
        self.sampling_rate = sampling_rate
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


def tiny_config(**overrides: Any) -> BirchConfig:
    """Return a configuration that a test can build in milliseconds."""
    return BirchConfig(**{"text_config": dict(TINY_SIZES), **overrides})
