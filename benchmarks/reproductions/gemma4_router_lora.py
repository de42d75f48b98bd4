"""LoRA of Gemma 4's router is created and never used (rule NAM705).

``Gemma4Gate.forward`` multiplies by ``self.proj.weight`` instead of calling ``self.proj``
(components/models/gemma4_moe/model.py:262, 0.7.0). The recipe examples/vlm_finetune/gemma4/gemma4_26b_a4b_moe_peft.yaml
gives LoRA to every linear layer that it does not exclude, and the router is not among those.

Measured: the router gets both LoRA matrices, and its output does not change with them.
"""

import logging
import sys

import torch
from nemo_automodel.components._peft.lora import PeftConfig, apply_lora_to_linear_modules
from nemo_automodel.components.models.gemma4_moe.model import Gemma4Gate
from transformers import Gemma4TextConfig

logging.disable(logging.CRITICAL)
torch.manual_seed(0)


class Block(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.gate = config, Gemma4Gate(config)


block = Block(Gemma4TextConfig(hidden_size=16, num_experts=4, top_k_experts=2, enable_moe_block=True))
torch.nn.init.normal_(block.gate.proj.weight)
excluded = ["*vision_tower*", "*vision*", "*visual*", "*image_encoder*", "*lm_head*", "*audio*"]
apply_lora_to_linear_modules(block, PeftConfig(exclude_modules=excluded, dim=2, alpha=4))
lora = [name for name, _ in block.named_parameters() if "lora_" in name]
hidden = torch.randn(3, 16)
before = block.gate(hidden)[0]
with torch.no_grad():
    for name, parameter in block.named_parameters():
        if "lora_" in name:
            parameter.fill_(3.0)
unused = bool(lora) and torch.equal(before, block.gate(hidden)[0])
print(f"{lora}: the output of the router {'stays the same' if unused else 'changes'} with them")
sys.exit(0 if unused else 1)
