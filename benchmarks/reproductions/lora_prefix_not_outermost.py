"""LoRA of Mistral4ForCausalLM and MiniMaxM3SparseForConditionalGeneration is exported under names that PEFT ignores.

Adapters get the LoRA tensors with ``base_model.model.`` in front, which PEFT and vLLM expect outermost in
``adapter_model.safetensors``. ``to_hf`` of these two puts ``language_model.`` before it
(components/models/mistral4/state_dict_adapter.py:268-276, components/models/minimax_m3_vl/state_dict_adapter.py:422,
0.7.0), while other adapters of the package keep it outermost. Resuming in the framework itself works, since
``from_hf`` takes the same prefix off.

Measured: 16 of 16 names in each saved file begin otherwise.
"""

import logging
import sys
import tempfile
from pathlib import Path

import torch
from nemo_automodel.components._peft.lora import PeftConfig, apply_lora_to_linear_modules
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from nemo_automodel.components.models.minimax_m3_vl.config import MiniMaxM3VLConfig
from nemo_automodel.components.models.minimax_m3_vl.model import MiniMaxM3SparseForConditionalGeneration
from nemo_automodel.components.models.mistral4.model import Mistral4ForCausalLM
from safetensors import safe_open
from transformers import Mistral4Config

logging.disable(logging.CRITICAL)
torch.cuda.current_device = lambda: "cpu"

SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 64,
}
mistral4 = Mistral4Config(
    **SIZES,
    moe_intermediate_size=40,
    num_key_value_heads=4,
    n_routed_experts=4,
    kv_lora_rank=28,
    q_lora_rank=36,
    qk_rope_head_dim=8,
    qk_nope_head_dim=16,
    v_head_dim=20,
)
minimax = MiniMaxM3VLConfig(
    text_config={
        **SIZES,
        "num_key_value_heads": 2,
        "head_dim": 24,
        "rotary_dim": 12,
        "num_local_experts": 4,
        "dense_intermediate_size": 92,
        "shared_intermediate_size": 56,
        "moe_layer_freq": [1, 1],
        "num_mtp_modules": 0,
    },
    vision_config={
        "hidden_size": 80,
        "intermediate_size": 104,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "image_size": 56,
        "projection_dim": 64,
    },
    projector_hidden_size=84,
)


def saved_names(model: torch.nn.Module) -> list[str]:
    """Put LoRA on the attention of the language model, save as a recipe does, return the names in the file."""
    peft = PeftConfig(target_modules=["model.layers.*.self_attn.*_proj"], dim=4, use_memory_efficient_lora=False)
    apply_lora_to_linear_modules(model, peft)
    with tempfile.TemporaryDirectory() as folder:
        settings = CheckpointingConfig(
            checkpoint_dir=folder, model_save_format="safetensors", model_cache_dir=folder, is_peft=True
        )
        settings.build(0, 0, 0).save_model(model, folder, peft_config=peft)
        path = next(Path(folder).rglob("adapter_model.safetensors"))
        with safe_open(path, "pt") as file:
            return list(file.keys())


shows = True
for cls, config in ((Mistral4ForCausalLM, mistral4), (MiniMaxM3SparseForConditionalGeneration, minimax)):
    config.architectures = [cls.__name__]
    names = saved_names(cls(config))
    wrong = [name for name in names if not name.startswith("base_model.model.")]
    print(f"{cls.__name__}: {len(wrong)} of {len(names)} names, e.g. {wrong[:1] or names[:1]}")
    shows &= bool(wrong)
sys.exit(0 if shows else 1)
