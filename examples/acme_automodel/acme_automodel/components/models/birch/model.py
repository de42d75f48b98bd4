"""Birch: the language model out of a speech checkpoint, on the shared language-model base."""

from __future__ import annotations

import torch.nn as nn

from acme_automodel.components.models.birch.config import BirchConfig
from acme_automodel.components.models.common.backend import BackendConfig
from acme_automodel.components.models.common.causal_lm import CausalLMBase
from acme_automodel.components.models.fir.model import FirModel


class BirchForCausalLM(CausalLMBase):
    """Fir's decoder; the audio half of the checkpoint is left behind."""

    config_class = BirchConfig
    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]

    def __init__(self, config: BirchConfig, backend: BackendConfig | None = None):
        super().__init__(config.text_config, backend)
        self.model = FirModel(config.text_config)
        self.tie_weights()

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embed_tokens


ModelClass = BirchForCausalLM
