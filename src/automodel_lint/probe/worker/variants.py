"""The settings of a configuration under which a class behaves differently, as far as the class supports them."""

from __future__ import annotations

from typing import Any

from automodel_lint.probe.worker.tied_pair import SETTINGS


def tie_settings(cls: type) -> tuple[bool | None, ...]:
    """Return the values of ``tie_word_embeddings`` that a class declares support for; ``None``: as it is."""
    declared = getattr(getattr(cls, "tie_word_embeddings_support", None), "value", None)
    return tuple(reversed(SETTINGS.get(declared, (None,))))


def with_tie(config: Any, tied: bool | None) -> Any:
    """Set the tie of a configuration, and of the part that describes its language model; return it."""
    if tied is None:
        return config
    text = getattr(config, "get_text_config", lambda: config)()
    for part in (config, text):
        if part is config or hasattr(part, "tie_word_embeddings"):
            part.tie_word_embeddings = tied
    return config
