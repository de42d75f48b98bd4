"""Maple: a decoder whose feed-forward blocks are mixtures of experts, without shared experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn

from acme_automodel.components.models.common.backend import BackendConfig, initialize_linear_module
from acme_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from acme_automodel.components.models.common.initialization import initialize_module_tree
from acme_automodel.components.models.common.language_model_head import project_to_vocabulary
from acme_automodel.components.models.common.precision import cast_model_to_dtype, dtype_of
from acme_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_unsupported_tie_word_embeddings,
)
from acme_automodel.components.models.maple.config import MapleConfig
from acme_automodel.components.models.spruce.model import SpruceModel
from acme_automodel.components.moe.fsdp_mixin import MoEFSDPSyncMixin


class MapleForCausalLM(HFCheckpointingMixin, MoEFSDPSyncMixin, nn.Module):
    """Spruce's decoder with a head of its own."""

    config_class = MapleConfig
    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}
    _keep_in_fp32_modules_strict = ["mlp.gate.e_score_correction_bias", "rotary_emb.inv_freq"]

    @dataclass
    class ModelCapabilities:
        """What is said to work."""

        supports_tp: bool = False
        supports_cp: bool = True
        supports_pp: bool = False
        supports_ep: bool = False
        supports_sp: bool = False

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str, config: MapleConfig | None = None, **model_kwargs: Any
    ) -> MapleForCausalLM:
        """Load a folder, optionally with another config than the one it holds."""
        if config is None:
            config = MapleConfig.from_pretrained(pretrained_model_name_or_path)
        model = cls(config, **model_kwargs)
        model.load_checkpoint(pretrained_model_name_or_path)
        return model

    def __init__(
        self,
        config: MapleConfig,
        backend: BackendConfig | None = None,
        moe_overrides: dict[str, Any] | None = None,
    ):
        config.num_experts_per_tok = min(config.num_experts_per_tok, config.n_routed_experts)
        reject_unsupported_tie_word_embeddings(type(self), config)
        super().__init__()
        self.config = config
        self.backend = backend or BackendConfig(gate_precision=torch.float32)
        self.model = SpruceModel(config, self.backend, moe_overrides)
        self.lm_head = initialize_linear_module(
            self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
        )

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def update_moe_gate_bias(self) -> None:
        """Rebalance the experts; to be called once an optimiser step."""
        for layer in self.model.layers:
            layer.mlp.gate.update_bias()

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""
        hidden = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)
        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)

    @torch.no_grad()
    def initialize_weights(
        self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        """Fill a model that has no checkpoint, and bring it to ``dtype``."""
        initialize_module_tree(self, self.config.initializer_range, buffer_device)
        cast_model_to_dtype(self, dtype)
