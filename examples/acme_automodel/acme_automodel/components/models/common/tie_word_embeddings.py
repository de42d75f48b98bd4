"""The guards that stop a model from being built, or loaded, with a tie it cannot honour."""

from __future__ import annotations

from acme_automodel.shared.tied_weights import TieSupport, get_controlling_tie_word_embeddings

__all__ = ["TieSupport", "reject_tie_word_embeddings_flip", "reject_unsupported_tie_word_embeddings"]


def reject_unsupported_tie_word_embeddings(model_cls: type, config: object) -> None:
    """Raise if ``config`` asks for a tie that the policy of ``model_cls`` excludes.

    To be called first in a constructor and with the config as it came in: after an unwrapping the
    flag that is read is another one.
    """
    policy = getattr(model_cls, "tie_word_embeddings_support", TieSupport.BOTH)
    tied = get_controlling_tie_word_embeddings(config)
    if policy is TieSupport.TIED_ONLY and not tied:
        raise NotImplementedError(f"{model_cls.__name__} has no head of its own: set tie_word_embeddings=True")
    if policy is TieSupport.UNTIED_ONLY and tied:
        raise NotImplementedError(f"{model_cls.__name__} keeps its head separate: set tie_word_embeddings=False")


def reject_tie_word_embeddings_flip(checkpoint_config: object, requested_config: object, model_class_name: str) -> None:
    """Raise if a checkpoint is to be loaded with the opposite of the tie it was saved with."""
    saved = get_controlling_tie_word_embeddings(checkpoint_config)
    requested = get_controlling_tie_word_embeddings(requested_config)
    if saved != requested:
        raise NotImplementedError(
            f"{model_class_name}: the checkpoint was saved with tie_word_embeddings={saved} and cannot be loaded "
            f"with {requested}; its head would be random or thrown away"
        )
