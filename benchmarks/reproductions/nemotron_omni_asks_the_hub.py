"""NemotronOmniForConditionalGeneration looks for code on the hub while it is constructed.

The constructor resolves the class of its vision tower as remote code of ``config.name_or_path``
(components/models/nemotron_omni/model.py:477). With the name of a repository there, as after ``from_pretrained`` of a
name, every process of a job opens a connection from within its constructor, and what comes back is run.

Measured: one host is asked for, ``huggingface.co``, once the language model (replaced here by nothing) is built.
"""

import os
import socket
import sys
import time
import traceback
import types

os.environ.update(HF_HUB_OFFLINE="0", TRANSFORMERS_OFFLINE="0")

from nemo_automodel.components.models.nemotron_omni import model as omni
from torch import nn
from transformers import NemotronHConfig, RadioConfig

for name in ("timm", "timm.layers", "timm.layers.config"):  # not needed to show it
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
sys.modules["timm.layers.config"].set_fused_attn = lambda on: None
asked: list[tuple[str, str]] = []


def refuse(host, *arguments, **named):
    frame = [f for f in traceback.extract_stack() if f.filename.endswith("nemotron_omni/model.py")][-1]
    asked.append((str(host), f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"))
    raise OSError("no network")


socket.getaddrinfo = refuse
time.sleep = lambda seconds: None  # the retries of the client
omni.NemotronV3ForCausalLM = lambda config, **named: nn.Module()
config = omni.NemotronOmniConfig(llm_config=NemotronHConfig(), vision_config=RadioConfig())
config.name_or_path = "nowhere/at-all"
try:
    omni.NemotronOmniForConditionalGeneration(config)
except Exception as error:
    print(f"then: {type(error).__name__}")
print("asked for:", sorted(set(asked)))
sys.exit(0 if asked else 1)
