"""Fifteen real classes of nemo-automodel 0.7.0, chosen so that no two are written alike."""

from __future__ import annotations

from . import Target

VERSION = "0.7.0"
TARGETS = (
    Target("llama", "LlamaForCausalLM", "dense, BOTH, derived from PreTrainedModel"),
    Target("qwen2", "Qwen2ForCausalLM", "dense, BOTH, re-exported by its package"),
    Target("qwen3_vl", "Qwen3VLForConditionalGeneration", "VLM, BOTH, derived from transformers, a docstring first"),
    Target("qwen3_5", "Qwen3_5ForCausalLM", "hybrid linear attention, BOTH, two registered classes in one module"),
    Target("mistral3_vlm", "Mistral3FP8VLMForConditionalGeneration", "VLM, BOTH, no mixin, no ModelClass"),
    Target("gemma4_drafter", "Gemma4DrafterForCausalLM", "TIED_ONLY, inside `try`, a stand-in of the same name"),
    Target("diffusion_gemma", "DiffusionGemmaForBlockDiffusion", "MoE, TIED_ONLY, get_capabilities, mixins in front"),
    Target("ernie4_5", "Ernie4_5_MoeForCausalLM", "MoE, TIED_ONLY, both keep lists, keys under the old name"),
    Target(
        "deepseek_v41", "DeepseekV41ForCausalLM", "MoE, a long keep list, derived from PreTrainedModel", "layers.py"
    ),
    Target("nemotron_v3", "NemotronHForCausalLM", "hybrid mamba MoE, get_capabilities, GenerationMixin", "layers.py"),
    Target("kimi_linear", "KimiLinear48BForCausalLM", "linear attention MoE, both keep lists alike", "model.py"),
    Target("qwen3_8_flash_next", "Qwen3_8_FlashNextForConditionalGeneration", "MoE, UNTIED_ONLY, the guard first"),
    Target("qwen2_5_omni", "Qwen2_5OmniThinkerForConditionalGeneration", "audio, bases over lines, a comment first"),
    Target("muse_glimmer", "MuseGlimmerForConditionalGeneration", "VLM, UNTIED_ONLY, an empty `_tied_weights_keys`"),
    Target("ling_v2", "BailingMoeV2ForCausalLM", "MoE, get_capabilities, a guard behind two statements"),
)
