"""A tiny configuration for a registered model class, derived from the class's own configuration.

The defaults of the configuration class are shrunk by the kind of each name: sizes, counts of layers and experts, token
ids. Of the layers, the first two and one of every kind are kept. Sizes differ from each other, so that a swapped or
transposed weight shows. What a class needs beyond that is a recipe: data, see ``recipes.json``, or its authors'.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from automodel_lint.probe.worker.tiny.config_classes import config_modules, find_config_class, is_config
from automodel_lint.probe.worker.tiny.shrinking import TOKEN, Shrinker

__all__ = ["PROFILES", "TOKEN", "default_dict", "find_config_class", "merge", "resolve", "switch_on", "tiny_config"]

DISTINCT, HEAD_DIM_KEPT, TIES_KEPT = "distinct sizes", "original head dimension", "equal sizes where they were"
PROFILES = (DISTINCT, HEAD_DIM_KEPT, TIES_KEPT)


def merge(target: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return ``target`` with ``changes`` laid over it, dictionary into dictionary; neither is altered."""
    merged = dict(target)
    for name, value in changes.items():
        old = merged.get(name)
        merged[name] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def default_dict(config_class: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults of a configuration class (``given`` laid over them), with its absent parts filled in."""
    whole = config_class(**given).to_dict()
    for name, part in (getattr(config_class, "sub_configs", None) or {}).items():
        if whole.get(name) is None and is_config(part):
            whole[name] = default_dict(part, {})
    return whole


def tiny_config(config_class: type, recipe: dict[str, Any], profile: str = DISTINCT) -> Any:
    """Return a tiny instance of a configuration class.

    The recipe's ``given`` holds before shrinking, its ``set`` afterwards; ``parts`` are recipes for attributes that
    hold a configuration of another class, which ``config_class`` does not make by itself.
    """
    shrinker = Shrinker(keep_head_dim=profile == HEAD_DIM_KEPT, keep_ties=profile == TIES_KEPT)
    tiny = merge(shrinker.shrink(default_dict(config_class, recipe.get("given", {}))), recipe.get("set", {}))
    tiny.pop("transformers_version", None)
    make = getattr(config_class, "from_dict", None)
    config = make(tiny) if make else config_class(**tiny)
    for name, part in recipe.get("parts", {}).items():
        setattr(config, name, tiny_config(resolve(part["config_class"]), part, profile))
    return config


def own_tiny_config(cls: type, config_class: type | None, roots: tuple[str, ...] = ()) -> Any:
    """Return what the function ``tiny_config`` of the model's package returns, ``None`` if there is none that fits.

    It is looked for in the module of ``cls``, in those beside it that are named for configurations, and below each of
    ``roots`` in the tests that lie in a folder of the package's name.
    """
    for module in (*config_modules(cls), *_test_modules(cls, roots)):
        function = vars(module).get("tiny_config")
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            made = function()
            if config_class is None or isinstance(made, config_class):
                return made
    return None


def _test_modules(cls: type, roots: tuple[str, ...]) -> Iterator[ModuleType]:
    package = cls.__module__.split(".")[-2:][0]
    for path in (path for root in roots for path in sorted(Path(root, "tests").rglob(f"{package}/*.py"))):
        if "def tiny_config(" in path.read_text(encoding="utf-8", errors="replace"):
            spec = importlib.util.spec_from_file_location(f"_tests_of_{package}_{path.stem}", path)
            module = importlib.util.module_from_spec(spec)
            with suppress(Exception):  # what else its imports need is no business of the probe
                spec.loader.exec_module(module)
                yield module


def resolve(path: str) -> Any:
    """Return the class or function that ``module:Class`` or ``module:Class.function`` names."""
    module, _, names = path.partition(":")
    return functools.reduce(getattr, names.split("."), sys.modules.get(module) or importlib.import_module(module))


def word_tokenizer(size: int) -> Any:
    """Return a fast tokenizer of ``size`` words, for classes that read the vocabulary while they are constructed."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = {f"w{index}": index for index in range(size)}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, unk_token="w0")), unk_token="w0")


def arguments_of(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments beside the configuration: plain values, or calls with their own arguments."""
    arguments = {}
    for name, value in recipe.get("arguments", {}).items():
        if isinstance(value, dict) and "call" in value:
            value = resolve(value["call"])(**{key: item for key, item in value.items() if key != "call"})
        arguments[name] = value
    return arguments


def switch_on(config: Any, switches: dict[str, Any]) -> bool:
    """Set the fields of ``switches`` that are unset or false in ``config`` or a part of it; tell if there was one."""
    changed = False
    for part in (config, *(v for v in vars(config).values() if hasattr(v, "to_dict") and not isinstance(v, type))):
        for name, value in switches.items():
            if name in vars(part) and not getattr(part, name):
                setattr(part, name, value)
                changed = True
    return changed
