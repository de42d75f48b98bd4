"""Save a model to a folder and read it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from acme_automodel.components.models.common.tie_word_embeddings import reject_tie_word_embeddings_flip

WEIGHTS_FILE = "model.pt"


class HFCheckpointingMixin:
    """To be listed before any base with a ``save_pretrained`` of its own, or that one is called instead."""

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write config and weights; of two names for one tensor only the embedding's is written."""
        self.config.save_pretrained(save_directory)
        tensors = self.state_dict()
        for alias in self._aliased_keys():
            del tensors[alias]
        adapter = getattr(self, "state_dict_adapter", None)
        if adapter is not None:
            tensors = adapter.to_hf(tensors)
        torch.save(tensors, Path(save_directory) / WEIGHTS_FILE)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, config: Any = None, **model_kwargs: Any):
        """Build the model of a folder; another config may be given, but not one with another tie."""
        checkpoint_config = cls.config_class.from_pretrained(pretrained_model_name_or_path)
        requested_config = checkpoint_config if config is None else config
        reject_tie_word_embeddings_flip(checkpoint_config, requested_config, cls.__name__)
        model = cls(requested_config, **model_kwargs)
        model.load_checkpoint(pretrained_model_name_or_path)
        return model

    def load_checkpoint(self, folder: str | Path) -> None:
        """Copy the weights of ``folder`` into this model; every name has to be accounted for."""
        tensors = torch.load(Path(folder) / WEIGHTS_FILE, map_location="cpu", weights_only=True)
        adapter = getattr(self, "state_dict_adapter", None)
        if adapter is not None:
            tensors = adapter.from_hf(tensors)
        missing, unexpected = self.load_state_dict(tensors, strict=False)
        missing = set(missing) - self._aliased_keys()
        if missing or unexpected:
            raise RuntimeError(f"missing in the checkpoint: {sorted(missing)}; unknown in it: {sorted(unexpected)}")

    def _aliased_keys(self) -> set[str]:
        """The declared aliases that are, at this moment, the same parameter as their source."""
        parameters = dict(self.named_parameters(remove_duplicate=False))
        declared = getattr(self, "_tied_weights_keys", None) or {}
        return {alias for alias, source in declared.items() if parameters[alias] is parameters[source]}
