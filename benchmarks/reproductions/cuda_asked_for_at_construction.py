"""Constructors and initialisers ask for the current CUDA device without asking whether there is one.

``torch.cuda.current_device()`` raises on a machine without a GPU. It stands bare in the constructors of the backbones
of five classes, which can then not be built, and in ``initialize_weights`` (or what that calls) of all twenty-four
below. Siblings, such as step3p5 (model.py:320, :389), minimax_m2 and kimi_linear, ask ``torch.cuda.is_available()``
first; the framework's own unit tests replace ``torch.cuda.current_device`` to construct the classes on a CPU.

Measured on tiny models without a GPU: 24 of the 64 registered classes raise, at 26 lines.
"""

import importlib
import sys
import traceback

import torch
import transformers
from tiny_models import CONFIGS, config, found, on_cpu, stand_ins

SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "moe_intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 64,
}
GROUPED = {"num_key_value_heads": 2, "head_dim": 16}
LATENT = {
    "num_key_value_heads": 4,
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "kv_lora_rank": 28,
    "q_lora_rank": 36,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 20,
}
INDEXED = {**LATENT, "qk_head_dim": 24, "index_n_heads": 2, "index_head_dim": 32, "index_topk": 8}
MODELS = "nemo_automodel.components.models"
OTHERS = {
    "BailingMoeV2ForCausalLM": (
        "ling_v2",
        f"{MODELS}.ling_v2.config:BailingMoeV2Config",
        {**GROUPED, "num_experts": 4},
    ),
    "DeepseekV3ForCausalLM": ("deepseek_v3", "transformers:DeepseekV3Config", LATENT),
    "DeepseekV32ForCausalLM": ("deepseek_v32", f"{MODELS}.deepseek_v32.config:DeepseekV32Config", INDEXED),
    "Glm4MoeForCausalLM": ("glm4_moe", "transformers:Glm4MoeConfig", {**GROUPED, "n_routed_experts": 4}),
    "Glm4MoeLiteForCausalLM": ("glm4_moe_lite", "transformers:Glm4MoeLiteConfig", LATENT),
    "GlmMoeDsaForCausalLM": ("glm_moe_dsa", f"{MODELS}.glm_moe_dsa.config:GlmMoeDsaConfig", INDEXED),
    "GptOssForCausalLM": ("gpt_oss", "transformers:GptOssConfig", {**GROUPED, "num_local_experts": 4}),
    "Mistral4ForCausalLM": ("mistral4", "transformers:Mistral4Config", LATENT),
    "Qwen3MoeForCausalLM": ("qwen3_moe", "transformers:Qwen3MoeConfig", {**GROUPED, "num_experts": 4}),
}
TINY = (
    "DeepseekV4ForCausalLM",
    "DiffusionGemmaForBlockDiffusion",
    "HYV3ForCausalLM",
    "KimiK25VLForConditionalGeneration",
    "KimiVLForConditionalGeneration",
    "LagunaForCausalLM",
    "MiMoV2FlashForCausalLM",
    "MiMoV2ForCausalLM",
    "MiMoV2ForCausalLM.v25",
    "Mistral3ForConditionalGeneration",
    "NemotronHForCausalLM",
    "NemotronOmniForConditionalGeneration",
    "Qwen3NextForCausalLM",
    "Qwen3OmniMoeThinkerForConditionalGeneration",
    "Qwen3VLMoeForConditionalGeneration",
)


def class_and_config(name: str) -> tuple[type, object]:
    """Return a class and a tiny configuration for it."""
    if name in CONFIGS:
        return found(CONFIGS[name]["class"]), config(name)
    package, path, fields = OTHERS[name]
    made = found(path)(**SIZES, **fields)
    made.torch_dtype = torch.float32
    return getattr(importlib.import_module(f"{MODELS}.{package}.model"), name), made


def asks_at(call) -> tuple[str | None, object]:
    """Return the line that asked for a CUDA device, if one did, and what the call returned."""
    try:
        return None, call()
    except (AssertionError, RuntimeError) as error:
        if "CUDA" not in str(error) and "NVIDIA" not in str(error):
            raise
        frame = [f for f in traceback.extract_tb(error.__traceback__) if "nemo_automodel" in f.filename][-1]
        return f"{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno} in {frame.name}", None


def lines_of(name: str) -> list[str]:
    """Return the lines at which construction and, once that is let pass, initialisation raise."""
    cls, made = class_and_config(name)
    first, model = asks_at(lambda: cls(made))
    ask = torch.cuda.current_device
    if model is None:
        with on_cpu(torch.float32):
            model = cls(made)
        torch.cuda.current_device = ask
    second, _ = asks_at(lambda: model.initialize_weights(dtype=torch.float32))
    return [line for line in (first, second) if line]


if torch.cuda.is_available():
    sys.exit("to be run on a machine without a GPU")
stand_ins()
transformers.PretrainedConfig.pad_token_id = None  # as the framework has it
lines = {}
for name in (*OTHERS, *TINY):
    with transformers.initialization.no_init_weights():
        lines[name] = lines_of(name)
    print(f"{name}: {'; '.join(lines[name]) or 'asks for none'}", flush=True)
distinct = {line for found_here in lines.values() for line in found_here}
print(f"{sum(map(bool, lines.values()))} of {len(lines)} classes raise, at {len(distinct)} lines")
sys.exit(0 if all(lines.values()) else 1)
