"""Constructors and initialisers ask for the current CUDA device without asking whether there is one.

``torch.cuda.current_device()`` raises on a machine without a GPU. It stands bare in the constructors of the backbones
of gpt_oss (model.py:160), glm4_moe (:182), qwen3_moe (:184), qwen3_next (:214) and hy_v3 (:172), which can then not be
built, and in ``initialize_weights`` of many more, for instance deepseek_v3 (model.py:417). Siblings such as step3p5
(model.py:320) ask ``torch.cuda.is_available()`` first.

Measured: of five classes that are built from a small configuration on the CPU, four raise in the constructor and one in
``initialize_weights``, all at such a line. 24 of the 64 registered classes have one.
"""

import importlib
import sys
import traceback

import torch
import transformers

SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "moe_intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
}
CASES = (
    ("gpt_oss", "GptOssForCausalLM", "GptOssConfig", {"num_local_experts": 4}),
    ("glm4_moe", "Glm4MoeForCausalLM", "Glm4MoeConfig", {"n_routed_experts": 4}),
    ("qwen3_moe", "Qwen3MoeForCausalLM", "Qwen3MoeConfig", {"num_experts": 4}),
    ("qwen3_next", "Qwen3NextForCausalLM", "Qwen3NextConfig", {"num_experts": 4}),
    (
        "deepseek_v3",
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        {"n_routed_experts": 4, "n_group": 1, "topk_group": 1},
    ),
)


def asks_at(package: str, name: str, config_class: str, fields: dict) -> str | None:
    """Return the line that asked for a CUDA device, ``None`` if none did."""
    module = importlib.import_module(f"nemo_automodel.components.models.{package}.model")
    config = getattr(transformers, config_class)(**SIZES, **fields)
    config.dtype = torch.float32
    try:
        model = getattr(module, name)(config)
        model.initialize_weights(dtype=torch.float32)
    except (AssertionError, RuntimeError) as error:
        if "CUDA" in str(error) or "NVIDIA" in str(error):
            frame = [f for f in traceback.extract_tb(error.__traceback__) if "nemo_automodel" in f.filename][-1]
            return f"{package}/{frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}: {error}"
        raise
    return None


if torch.cuda.is_available():
    sys.exit("to be run on a machine without a GPU")
found = [asks_at(*case) for case in CASES]
print("\n".join(str(line) for line in found))
print(f"{sum(line is not None for line in found)} of {len(CASES)} raise")
sys.exit(0 if all(found) else 1)
