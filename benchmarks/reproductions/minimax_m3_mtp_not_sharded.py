"""By default MiniMaxM3SparseForConditionalGeneration cannot be trained in bf16 with expert parallelism.

Expert parallelism and the grouping by dtype reach the blocks of the backbone and of ``mtp`` on the *outer* model
(components/moe/parallelizer.py:347-366, ``_iter_moe_blocks``). MiniMax M3 has its one prediction module
(``num_mtp_modules=1`` by default) on the *inner* one, ``model.mtp`` (components/models/minimax_m3_vl/model.py:186).
So the fp32 router of that module lands in the root group among bf16 parameters, which FSDP2 refuses at the first
forward; and its experts are not spread. The shipped recipes set ``num_mtp_modules: 0``.

Measured, two ranks with gloo: the forward raises; 2 of 4 expert tensors are spread over the ranks.
"""

import logging
import sys

import torch
from nemo_automodel.components.distributed.config import FSDP2Config
from nemo_automodel.components.distributed.mesh import MeshContext, ParallelismSizes
from nemo_automodel.components.distributed.model_parallelizer import parallelize_model
from nemo_automodel.components.models.minimax_m3_vl.config import MiniMaxM3VLConfig
from nemo_automodel.components.models.minimax_m3_vl.model import MiniMaxM3SparseForConditionalGeneration
from torch.distributed.tensor import DTensor
from two_ranks import answer_of_two_ranks

logging.disable(logging.CRITICAL)
torch.cuda.current_device = lambda: "cpu"

TEXT = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "dense_intermediate_size": 92,
    "shared_intermediate_size": 56,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "rotary_dim": 12,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 64,
    "torch_dtype": torch.bfloat16,
}
VISION = {
    "hidden_size": 80,
    "intermediate_size": 104,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "image_size": 56,
    "projection_dim": 64,
    "torch_dtype": torch.bfloat16,
}


def sharded() -> tuple[str, int, int]:
    """What the forward raises, and how many expert tensors are spread, of how many."""
    torch.set_default_dtype(torch.bfloat16)
    config = MiniMaxM3VLConfig(text_config=TEXT, vision_config=VISION, projector_hidden_size=84)
    config.image_token_index, config.video_token_index = 90, 91
    config.torch_dtype = torch.bfloat16
    model = MiniMaxM3SparseForConditionalGeneration(config).eval()
    torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.05 * torch.randn(parameter.shape))
        model(torch.arange(12)[None])  # runs before it is sharded
    model = parallelize_model(model, MeshContext.build(FSDP2Config(), ParallelismSizes(ep_size=2), world_size=2))
    experts = [p for name, p in model.named_parameters() if ".mlp.experts." in name]
    spread = [p for p in experts if isinstance(p, DTensor) and "ep" in (p.device_mesh.mesh_dim_names or ())]
    try:
        with torch.no_grad():
            model(torch.arange(12)[None])
        raised = ""
    except AssertionError as error:
        raised = str(error)
    return raised, len(spread), len(experts)


if __name__ == "__main__":
    raised, spread, experts = answer_of_two_ranks(sharded)
    print(f"{spread} of {experts} expert tensors are spread; the sharded forward: {raised or 'runs'}")
    sys.exit(0 if raised else 1)
