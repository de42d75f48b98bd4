"""Yew: Fir's decoder, with the attention kernel chosen by torch's own switch."""

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
from acme_automodel.components.models.fir.model import FirModel
from acme_automodel.components.models.yew.config import YewConfig

try:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    _KERNEL_SWITCH_AVAILABLE = True
except ImportError:
    _KERNEL_SWITCH_AVAILABLE = False


if _KERNEL_SWITCH_AVAILABLE:

    class YewForCausalLM(HFCheckpointingMixin, nn.Module):
        """The decoder with a head that shares the embedding's weight."""

        config_class = YewConfig
        tie_word_embeddings_support: TieSupport = TieSupport.TIED_ONLY
        _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}
        _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

        @dataclass(frozen=True)
        class ModelCapabilities:
            """No recipe has been run with more than data parallelism."""

            supports_tp: bool = False
            supports_cp: bool = False
            supports_pp: bool = None
            supports_ep: bool = False

        def __init__(self, config: YewConfig, backend: BackendConfig | None = None, skip_tie_check: bool = False):
            if not skip_tie_check:
                reject_unsupported_tie_word_embeddings(type(self), config)
            super().__init__()
            self.config = config
            self.backend = backend or BackendConfig()
            self.kernels = [SDPBackend.MATH]
            if getattr(backend, "linear", None) != "torch":
                self.kernels.insert(0, SDPBackend.FLASH_ATTENTION)
            self.model = FirModel(config)
            self.lm_head = initialize_linear_module(
                self.backend.linear, config.hidden_size, config.vocab_size, dtype=dtype_of(config)
            )
            self.lm_head.weight = self.model.embed_tokens.weight

        def get_input_embeddings(self) -> nn.Module:
            return self.model.embed_tokens

        def get_output_embeddings(self) -> nn.Module:
            return self.lm_head

        def forward(
            self,
            input_ids: torch.Tensor,
            attention_mask: torch.Tensor | None = None,
            position_ids: torch.Tensor | None = None,
            logits_to_keep: int = 0,
            **kwargs: Any,
        ) -> torch.Tensor:
            """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""
            with sdpa_kernel(self.kernels):
                hidden = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)
            return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)

        @torch.no_grad()
        def initialize_weights(
            self, buffer_device: torch.device | None = None, dtype: torch.dtype = torch.bfloat16
        ) -> None:
            """Fill a model that has no checkpoint, and bring it to ``dtype``."""
            initialize_module_tree(self, self.config.initializer_range, buffer_device)
            cast_model_to_dtype(self, dtype)

    ModelClass = YewForCausalLM

else:

    class YewForCausalLM:
        """Stands in where torch has no kernel switch, so that the package still imports."""

        def __init__(self, *args: Any, **kwargs: Any):
            raise ImportError("YewForCausalLM needs torch.nn.attention.sdpa_kernel: upgrade torch")
