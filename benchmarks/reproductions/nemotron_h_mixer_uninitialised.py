"""A Nemotron-H built from a config has garbage in every mixer; Nemotron-Omni, whose language model it is, too.

``NemotronV3Mamba2Mixer.init_weights`` writes ``dt_bias`` and zeros the biases, and divides ``out_proj`` by a constant;
``NemotronV3Attention.init_weights`` writes nothing and divides ``o_proj`` (components/models/nemotron_v3/layers.py:155
and 592; the tensors: lines 257 and 682). Both rely on values of the constructor, which the meta device does not keep:
``A_log``, ``D``, ``in_proj``, ``conv1d``, the gated norm and all projections stay what ``torch.empty`` found.

Path: ``from_config`` on one GPU or many; not under DDP and Megatron-FSDP.

Measured: 11 of 26 parameters of a model with one layer of each kind are NaN where ``torch.empty`` gives NaN.
"""

import sys

from tiny_models import report

MARKS = ("A_log", "mixer.in_proj", "mixer.q_proj")
NAMES = ("NemotronHForCausalLM", "NemotronOmniForConditionalGeneration")
sys.exit(0 if all([report(name, MARKS) for name in NAMES]) else 1)
