"""Whether the output head and the input embedding are one tensor."""

from __future__ import annotations

from enum import Enum


class TieSupport(Enum):
    """The settings of ``tie_word_embeddings`` that a model class can honour."""

    BOTH = "both"
    TIED_ONLY = "tied_only"
    UNTIED_ONLY = "untied_only"


def get_controlling_tie_word_embeddings(config: object) -> bool:
    """Return the flag that decides: the outermost one; a text config is asked only where there is no other."""
    if hasattr(config, "tie_word_embeddings"):
        return bool(config.tie_word_embeddings)
    return bool(getattr(getattr(config, "text_config", None), "tie_word_embeddings", False))
