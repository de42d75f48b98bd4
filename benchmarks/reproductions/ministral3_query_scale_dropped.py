"""Ministral 3 never scales its queries by position: its configuration drops ``llama_4_scaling_beta``.

Released checkpoints carry ``llama_4_scaling_beta: 0.1`` in ``rope_parameters``; transformers multiplies the queries by
``1 + beta * log(1 + floor(position / original_max_position_embeddings))``, and the framework's attention has the code
(``mistral3/model.py:326``). But ``Ministral3Config.__init__`` assigns ``self.rope_scaling`` (line 133), which in
transformers 5 is another name of ``rope_parameters``: the dictionary of eleven chosen keys replaces the one that was
given, the beta is gone, and the branch is never taken. Every position from 16384 on is wrong.

Measured with an original length of 8 instead of 16384, in two layers on 12 tokens: logits differ from transformers' by
0.2 of 3.6, from position 8 on only; with the beta put back into ``rope_parameters`` by 2e-6.
"""

import sys

import torch
from nemo_automodel.components.models.mistral3.model import Ministral3Config, Ministral3ForCausalLM
from transformers.models.ministral3 import configuration_ministral3, modeling_ministral3

ROPE = {
    "rope_type": "yarn",
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "original_max_position_embeddings": 8,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}
SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "max_position_embeddings": 128,
}

torch.manual_seed(0)
ours = Ministral3Config(**SIZES, rope_parameters=dict(ROPE))
theirs = configuration_ministral3.Ministral3Config(**SIZES, rope_parameters=dict(ROPE))
print("beta given 0.1, kept:", ours.rope_parameters.get("llama_4_scaling_beta"))
ours._attn_implementation = theirs._attn_implementation = "eager"
reference = modeling_ministral3.Ministral3ForCausalLM(theirs).float().eval()
with torch.no_grad():
    for parameter in reference.parameters():
        if parameter.dim() == 2:
            parameter.normal_(0, parameter.shape[-1] ** -0.5)
model = Ministral3ForCausalLM(ours).float().eval()
model.load_state_dict(reference.state_dict())
ids = torch.randint(96, (2, 12))


def largest() -> tuple[float, int]:
    """Return the largest difference of the logits and the first position that has one."""
    with torch.no_grad():
        difference = (model(input_ids=ids).logits - reference(input_ids=ids).logits).abs().amax((0, 2))
    return difference.max().item(), int((difference > 1e-4).float().argmax())


dropped, first = largest()
model.config.rope_parameters["llama_4_scaling_beta"] = 0.1
restored, _ = largest()
print(f"largest difference {dropped:.2g} from position {first} on; with the beta put back {restored:.1g}")
sys.exit(0 if dropped > 1e-3 > restored else 1)
