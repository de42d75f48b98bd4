"""Qwen3-Omni can be constructed only while the initialisation of transformers is switched off.

transformers' constructor ends in ``post_init``, and that in ``self.initialize_weights()``: a hook of transformers, and
the name of the framework's own initialiser as well. So the framework's runs, in the middle of construction, on the
parts of transformers, and hands them an argument that they do not take (``qwen3_omni_moe/model.py:589``). The framework
switches initialisation off where it constructs on the meta device; under ``DDPConfig`` and ``MegatronFSDPConfig`` it
does not (``_transformers/auto_model.py:524``), nor does who calls the class.

Measured: TypeError by ``Cls(config)``; none under ``no_init_weights()``.
"""

import contextlib
import sys
from unittest.mock import patch

import torch
from nemo_automodel.components.models.qwen3_omni_moe.model import Qwen3OmniMoeThinkerForConditionalGeneration
from transformers import PretrainedConfig
from transformers.initialization import no_init_weights
from transformers.models.qwen3_omni_moe.configuration_qwen3_omni_moe import Qwen3OmniMoeThinkerConfig

PretrainedConfig.pad_token_id = None  # as the framework does before it constructs anything
torch.set_default_dtype(torch.float32)


def outcome(context: contextlib.AbstractContextManager) -> str:
    """Say what construction gives."""
    config = Qwen3OmniMoeThinkerConfig(
        text_config={
            "vocab_size": 96,
            "hidden_size": 64,
            "moe_intermediate_size": 40,
            "num_hidden_layers": 1,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "num_experts": 4,
            "num_experts_per_tok": 2,
        },
        vision_config={"depth": 1, "hidden_size": 80, "intermediate_size": 104, "num_heads": 4, "out_hidden_size": 64},
        audio_config={"encoder_layers": 1, "d_model": 48, "encoder_attention_heads": 4, "encoder_ffn_dim": 72},
    )
    try:
        with patch.object(torch.cuda, "current_device", lambda: 0), patch.object(torch, "device", _cpu), context:
            Qwen3OmniMoeThinkerForConditionalGeneration(config)
    except TypeError as error:
        return f"TypeError: {error}"
    return "constructed"


class _cpu:  # a machine without a GPU: its devices are the CPU
    def __new__(cls, *_: object) -> torch.device:
        return torch.empty(0).device


print(f"plainly: {(plain := outcome(contextlib.nullcontext()))}")
print(f"without initialisation: {(without := outcome(no_init_weights()))}")
sys.exit(0 if "buffer_device" in plain and without == "constructed" else 1)
