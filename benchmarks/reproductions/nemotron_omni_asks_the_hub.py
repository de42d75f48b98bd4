"""NemotronOmniForConditionalGeneration looks for code on the hub while it is constructed.

The constructor resolves the class of its vision tower as remote code of ``config.name_or_path``
(components/models/nemotron_omni/model.py:477), which is the name of the repository after ``from_pretrained`` of a name.
No revision is handed on, although the framework pins one for the configuration and the weights
(_transformers/auto_config.py:100): every process of a job asks the hub for the newest state of the branch, also where
the file lies in the cache, and runs what comes back, whether remote code was trusted or not.

Measured: one host is asked for, ``huggingface.co``, with an empty cache and with the file in the cache.
"""

import os
import shutil
import socket
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="0", TRANSFORMERS_OFFLINE="0", HF_HOME=tempfile.mkdtemp())

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
omni.NemotronV3ForCausalLM = lambda config, **named: nn.Module()  # the language model, replaced by nothing


def asked_for() -> list[tuple[str, str]]:
    """Construct, and return which hosts were asked for at which line."""
    asked.clear()
    config = omni.NemotronOmniConfig(llm_config=NemotronHConfig(), vision_config=RadioConfig())
    config.name_or_path = "nowhere/at-all"
    try:
        omni.NemotronOmniForConditionalGeneration(config)
    except Exception as error:
        print(f"then: {type(error).__name__}")
    return sorted(set(asked))


empty = asked_for()
cache = Path(os.environ["HF_HOME"])
repository = Path(cache, "hub", "models--nowhere--at-all")
commit = "0" * 40
for path, text in (
    (repository / "refs" / "main", commit),
    (repository / "snapshots" / commit / "config.json", "{}"),
    (repository / "snapshots" / commit / "modeling_radio.py", "class RadioModel:\n    pass\n"),
):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
cached = asked_for()
shutil.rmtree(cache)
print("asked for with an empty cache:", empty)
print("asked for with the file in it:", cached)
sys.exit(0 if empty and cached else 1)
