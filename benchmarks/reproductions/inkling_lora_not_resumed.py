"""LoRA of InklingForConditionalGeneration is lost when a run is resumed from its own checkpoint.

``to_hf`` replaces ``model.language_model.layers.`` wherever it stands in a name, also behind PEFT's
``base_model.model.``; ``from_hf`` replaces it back only in names that begin with ``model.llm.``
(components/models/inkling/state_dict_adapter.py:80 and :233, 0.7.0). What comes back matches no parameter, and the
load is not strict, so the run goes on with freshly initialised adapters.

Measured: 10 of 10 LoRA tensors, saved as 3.0, are 0.0 after the reload.
"""

import logging
import sys
import tempfile

import torch
from nemo_automodel.components._peft.lora import PeftConfig, apply_lora_to_linear_modules
from nemo_automodel.components.checkpoint.config import CheckpointingConfig
from nemo_automodel.components.models.inkling.configuration import InklingConfig
from nemo_automodel.components.models.inkling.model import InklingForConditionalGeneration

logging.disable(logging.CRITICAL)
torch.cuda.current_device = lambda: "cpu"

config = InklingConfig(
    text_config={
        "vocab_size": 96,
        "hidden_size": 64,
        "intermediate_size": 88,
        "moe_intermediate_size": 40,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 24,
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 2,
        "swa_head_dim": 24,
        "sliding_window_size": 8,
        "rel_extent": 16,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_shared_experts": 2,
        "mlp_layer_types": ["sparse"],
        "layer_types": ["hybrid"],
        "max_position_embeddings": 64,
    },
    audio_config={"decoder_dmodel": 64, "mel_vocab_size": 32},
    vision_config={"decoder_dmodel": 64, "hidden_size": 88, "n_layers": 1, "num_attention_heads": 4},
    architectures=["InklingForConditionalGeneration"],
)
peft = PeftConfig(target_modules=["*.self_attn.*_proj"], dim=4, use_memory_efficient_lora=False)
models = []
for value in (3.0, 0.0):
    model = InklingForConditionalGeneration(config)
    apply_lora_to_linear_modules(model, peft)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.fill_(value)
    models.append(model)
saved, resumed = models

with tempfile.TemporaryDirectory() as folder:
    checkpointer = CheckpointingConfig(
        checkpoint_dir=folder, model_save_format="safetensors", model_cache_dir=folder, is_peft=True
    ).build(0, 0, 0)
    checkpointer.save_model(saved, folder, peft_config=peft)
    checkpointer.load_model(resumed, f"{folder}/model")

lora = {name: parameter for name, parameter in resumed.named_parameters() if "lora_" in name}
lost = [name for name, parameter in lora.items() if not (parameter == 3).all()]
print(f"{len(lost)} of {len(lora)} LoRA tensors are not what was saved: {lost[:2]}")
sys.exit(0 if lost else 1)
