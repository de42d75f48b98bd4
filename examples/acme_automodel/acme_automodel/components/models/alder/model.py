"""Alder: Fir's decoder, saved without the parts that are frozen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn as nn

from acme_automodel.components.models.alder.config import AlderConfig
from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.fir.model import FirModel


class TrainedWeightsOnly:
    """Saves the parameters that are being trained, and nothing else."""

    def save_pretrained(self, save_directory: str | Path) -> None:
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        trained = {name: tensor for name, tensor in self.named_parameters() if tensor.requires_grad}
        torch.save(trained, folder / "model.pt")


class AlderForCausalLM(TrainedWeightsOnly, HFCheckpointingMixin, nn.Module):
    """The decoder with a head of its own."""

    config_class = AlderConfig
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    @dataclass(frozen=True)
    class ModelCapabilities:
        """No recipe has been run with more than data parallelism."""

        supports_tp: bool = False
        supports_cp: bool = False
        supports_pp: bool = False

    def __init__(self, config: AlderConfig, backend: BackendConfig | None = None):
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig()
        self.model = FirModel(config)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""
        hidden = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)
        return self.lm_head(hidden)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)


ModelClass = AlderForCausalLM
