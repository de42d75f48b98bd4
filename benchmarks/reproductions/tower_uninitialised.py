"""Models with a tower, built from a config, have a tower and a projector of garbage.

``initialize_weights`` of these classes fills the language model and leaves the rest; for KimiVL, Kimi-K2.5 and
Qwen3.5-VL it leaves the head as well, for Step-3.7 the large projector:

- ``Mistral3ForConditionalGeneration``, components/models/mistral4/model.py:919
- ``KimiVLForConditionalGeneration``, components/models/kimivl/model.py:798
- ``KimiK25VLForConditionalGeneration``, components/models/kimi_k25_vl/model.py:1105
- ``KimiK3ForConditionalGeneration``, components/models/kimi_k3/multimodal.py:99 and 112
- ``MiniMaxM3SparseForConditionalGeneration``, components/models/minimax_m3_vl/model.py:509
- ``NemotronOmniForConditionalGeneration``, components/models/nemotron_omni/model.py:539, 585, 593
- ``Qwen3VLMoeForConditionalGeneration``, components/models/qwen3_vl_moe/model.py:740
- ``Qwen3OmniMoeThinkerForConditionalGeneration``, components/models/qwen3_omni_moe/model.py:582
- ``Qwen3_5ForConditionalGeneration``, components/models/qwen3_5/model.py:1722
- ``Qwen3_5MoeForConditionalGeneration``, components/models/qwen3_5_moe/model.py:1914
- ``Step3p7ForConditionalGeneration``, components/models/step3p7/model.py:755

Path: ``from_config`` on one GPU or many; DDP and Megatron-FSDP construct on a real device and keep torch's defaults.

Measured, parameters that are NaN where ``torch.empty`` gives NaN: see what it prints, 18 of 98 to 138 of 153.
"""

import sys

from tiny_models import report

LEFT = {
    "Mistral3ForConditionalGeneration": ("vision_tower", "multi_modal_projector"),
    "KimiVLForConditionalGeneration": ("vision_tower", "multi_modal_projector", "lm_head"),
    "KimiK25VLForConditionalGeneration": ("vision_tower", "multi_modal_projector", "lm_head"),
    "KimiK3ForConditionalGeneration": ("vision_tower", "mm_projector"),
    "MiniMaxM3SparseForConditionalGeneration": ("vision_tower",),
    "NemotronOmniForConditionalGeneration": ("vision_model", "vision_projector", "sound_encoder", "sound_projection"),
    "Qwen3VLMoeForConditionalGeneration": ("visual",),
    "Qwen3OmniMoeThinkerForConditionalGeneration": ("audio_tower", "visual"),
    "Qwen3_5ForConditionalGeneration": ("visual", "lm_head"),
    "Qwen3_5MoeForConditionalGeneration": ("visual",),
    "Step3p7ForConditionalGeneration": ("vision_model", "vit_large_projector"),
}
sys.exit(0 if all([report(name, marks) for name, marks in LEFT.items()]) else 1)
