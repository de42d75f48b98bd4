"""Tiny models of classes of NeMo AutoModel 0.7.0, made as its ``from_config`` makes them, on the CPU.

``tiny_configs.json`` holds a few fields for each class. ``from_config`` constructs a custom model with its parameters
on the meta device, on one GPU as on many (_transformers/auto_model.py:524), but for DDP and Megatron-FSDP; then it
calls ``Checkpointer.initialize_model_weights`` (_transformers/infrastructure.py:764). Nothing else gives a value to a
parameter if no checkpoint is loaded.
"""

import contextlib
import importlib
import inspect
import json
import logging
import os
import sys
import types
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import transformers
from torch import nn
from torch.overrides import TorchFunctionMode

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
CONFIGS = json.loads(Path(__file__).with_name("tiny_configs.json").read_text(encoding="utf-8"))


class Layer(nn.Conv1d):
    """In the place of a layer of a package that needs a GPU; only its parameters matter here."""

    def __init__(self, hidden_size, kernel_size=1, **_):
        super().__init__(hidden_size, hidden_size, kernel_size, groups=hidden_size, bias=False)


def module(name, **content):
    """Put a module into the place of one that is not installed."""
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    made.__path__ = []
    vars(made).update(content)
    sys.modules.setdefault(name, made)


def stand_ins():
    """Let what imports flash-linear-attention or timm be imported."""
    nothing = dict.fromkeys(("chunk_kda", "fused_recurrent_kda", "fused_kda_gate", "set_fused_attn"), lambda *_: None)
    for name in ("fla", "fla.modules", "fla.ops", "fla.ops.kda", "fla.ops.kda.gate", "timm", "timm.layers"):
        module(name, ShortConvolution=Layer, FusedRMSNormGated=Layer, **nothing)
    module("timm.layers.config", **nothing)
    for loader in ("AutoTokenizer", "AutoProcessor", "AutoImageProcessor"):
        getattr(transformers, loader).from_pretrained = lambda *_, **__: None


def smaller(defaults):
    """Replace defaults that no field of a configuration makes smaller."""
    for path, values in defaults.items():
        cls, _, method = path.rpartition(".")
        function = getattr(found(cls), method)
        named = inspect.signature(function).parameters
        early = [p for p in named.values() if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY]
        late = {name: tuple(value) for name, value in values.items() if named[name].kind is named[name].KEYWORD_ONLY}
        function.__defaults__ = tuple(tuple(values[p.name]) if p.name in values else p.default for p in early)
        function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **late} or None


def found(path):
    """The object that ``module:name`` names."""
    where, _, name = path.partition(":")
    return getattr(importlib.import_module(where), name)


class OnCpu(TorchFunctionMode):
    """Where what is asked for on a GPU is made on the CPU."""

    def __torch_function__(self, func, _, args=(), kwargs=None):
        def moved(value):
            return "cpu" if isinstance(value, (str, torch.device)) and str(value).startswith("cuda") else value

        if func is torch.device:
            return func(*args, **(kwargs or {}))
        return func(*map(moved, args), **{name: moved(value) for name, value in (kwargs or {}).items()})


@contextlib.contextmanager
def on_cpu(dtype):
    """On the CPU, under a default dtype."""
    torch.cuda.current_device = lambda: 0
    torch.set_default_dtype(dtype)
    try:
        with OnCpu():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def config(name, dtype=torch.float32):
    """A tiny configuration that asks for a dtype, in all its parts."""
    transformers.PretrainedConfig.pad_token_id = None  # as the framework has it
    entry = CONFIGS[name]
    given = {field: dict(values) for field, (_, values) in entry["parts"].items() if field != "encoder"}
    made = found(entry["config_class"])(**json.loads(json.dumps(entry["config"])), **given)
    for field, (path, values) in entry["parts"].items():
        if f"{type(getattr(made, field)).__module__}:{type(getattr(made, field)).__name__}" != path:
            setattr(made, field, found(path)(**json.loads(json.dumps(values))))
    for part in (made, *(getattr(made, field) for field in entry["parts"])):
        part.torch_dtype = dtype
        part._name_or_path = "no/where"
        part._attn_implementation = "eager"
    return made


def constructed(name, dtype=torch.float32, made=None):
    """As DDP and Megatron-FSDP have it: on a real device."""
    stand_ins()
    entry = CONFIGS[name]
    cls = found(entry["class"])
    smaller(entry.get("defaults", {}))
    arguments = {key: found(path)(**values) for key, (path, values) in entry.get("arguments", {}).items()}
    made = config(name, dtype) if made is None else made
    with on_cpu(dtype):
        return cls(made, **arguments)


def on_meta(name, dtype=torch.float32):
    """As everybody else has it: parameters without memory, buffers with."""
    from nemo_automodel.components.utils.model_utils import init_empty_weights
    from transformers.initialization import no_init_weights

    with no_init_weights(), init_empty_weights():
        return constructed(name, dtype)


def initialised(model):
    """What ``from_config`` does next, with NaN in memory that nobody has written."""
    from nemo_automodel.components.checkpoint.checkpointing import Checkpointer

    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with on_cpu(torch.float32):
            Checkpointer.initialize_model_weights(model, torch.device("cpu"))
    finally:
        torch.use_deterministic_algorithms(False)
    return model


def without_values(model):
    """Names of the parameters that are NaN."""
    return [name for name, parameter in model.named_parameters() if parameter.isnan().any()]


def report(name, marks):
    """Print how many parameters of a class have no value; tell whether each mark is in the name of one."""
    model = initialised(on_meta(name))
    left = without_values(model)
    hit = all(any(mark in one for one in left) for mark in marks)
    print(f"{name}: {len(left)} of {len(list(model.parameters()))} parameters are NaN{'' if hit else ', not as said'}")
    return hit
