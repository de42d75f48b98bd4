"""Three classes built from a config have values in nothing, or in nothing but their experts.

``Gemma4ForConditionalGeneration.initialize_weights`` only casts if the model is dense, and fills only the experts if it
is not (components/models/gemma4_moe/model.py:1635); it takes the place of the one of transformers, which would fill the
rest. ``DiffusionGemmaForBlockDiffusion.initialize_weights`` fills the experts only and relies on transformers'
``post_init`` for the rest (components/models/diffusion_gemma/model.py:473), which ends in the same overridden method.
``LLaVAOneVision1_5_ForConditionalGeneration`` has no initialiser at all (components/models/llava_onevision/
model.py:287); the framework warns and goes on.

Path: ``from_config`` on one GPU or many; not under DDP and Megatron-FSDP.

Measured, parameters that are NaN where ``torch.empty`` gives NaN: 134 of 134, 59 of 65, 71 of 71.
"""

import sys

from tiny_models import report

LEFT = {
    "Gemma4ForConditionalGeneration": ("embed_tokens", "q_proj", "vision_tower"),
    "DiffusionGemmaForBlockDiffusion": ("embed_tokens", "q_proj", "mlp"),
    "LLaVAOneVision1_5_ForConditionalGeneration": ("embed_tokens", "q_proj", "visual"),
}
sys.exit(0 if all([report(name, marks) for name, marks in LEFT.items()]) else 1)
