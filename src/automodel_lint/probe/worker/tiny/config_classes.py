"""Which configuration class a model class is made for."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import typing
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any


def is_config(thing: Any) -> bool:
    """Tell whether ``thing`` is a configuration class, but not the root of all of them."""
    if not isinstance(thing, type) or not (hasattr(thing, "to_dict") and hasattr(thing, "from_pretrained")):
        return False
    return any(hasattr(base, "to_dict") for base in thing.__bases__)


def find_config_class(cls: type, architectures: tuple[str, ...], package: str, registry: str = "") -> type | None:
    """Return the configuration class of a model class: by annotation, attribute, transformers, or its package.

    ``package`` holds the model class; ``registry`` is the framework's module that may prefer another configuration
    class for a model type.
    """
    annotated, declared = _annotated(cls, package), getattr(cls, "config_class", None)
    declared = declared if is_config(declared) else None
    found = annotated or declared
    if annotated and declared and issubclass(declared, annotated):
        found = declared
    found = found or _of_transformers(architectures) or _of_package(cls)
    return _preferred(found, cls, registry) if found else None


def _annotated(cls: type, package: str) -> type | None:
    """What the first constructor of the package among the bases says of its configuration."""
    for owner in cls.__mro__:
        if "__init__" in vars(owner) and owner.__module__.partition(".")[0] == package:
            annotation = inspect.unwrap(vars(owner)["__init__"]).__annotations__.get("config")
            if isinstance(annotation, str):
                try:
                    annotation = eval(annotation, vars(sys.modules[owner.__module__]))
                except Exception:
                    return None
            choices = (annotation,) if isinstance(annotation, type) else typing.get_args(annotation)
            return next((choice for choice in choices if is_config(choice)), None)
    return None


def _of_transformers(architectures: tuple[str, ...]) -> type | None:
    try:
        import transformers
    except ImportError:
        return None
    for name in architectures:
        config_class = getattr(getattr(transformers, name, None), "config_class", None)
        if is_config(config_class):
            return config_class
    return None


def config_modules(cls: type) -> Iterator[ModuleType]:
    """Yield the module of a model class and those beside it that are named for configurations."""
    yield sys.modules[cls.__module__]
    package = None
    with suppress(Exception):  # a module can have been imported though its package cannot
        package = importlib.import_module(cls.__module__.rpartition(".")[0])
    if package is None:
        return
    for module in pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."):
        if "config" in module.name.rpartition(".")[2]:
            with suppress(Exception):
                yield importlib.import_module(module.name)


def _of_package(cls: type) -> type | None:
    """The configuration class of the model's own package whose name is most like the model's."""
    configs = [thing for module in config_modules(cls) for thing in vars(module).values() if is_config(thing)]
    inside = cls.__module__.rpartition(".")[0] + "."
    found = [config for config in configs if config.__module__.startswith(inside)]

    def likeness(config_class: type) -> int:
        pairs = zip(config_class.__name__, cls.__name__, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), len(cls.__name__))

    return max(found, key=likeness, default=None)


def _preferred(found: type, cls: type, registry: str) -> type:
    """The class that reads the configuration of a checkpoint of this model type.

    The framework's registry names it where it lies in the model's package. Where it names none, transformers' own is
    read though the model's package holds a copy of the same name.
    """
    model_type = getattr(found, "model_type", "") or ""
    ask = getattr(sys.modules.get(registry), "resolve_custom_config_cls", None)
    custom = ask(model_type) if callable(ask) else None
    if custom is not None:
        inside = cls.__module__.rpartition(".")[0] + "."
        return custom if custom.__module__.startswith(inside) else found
    read = _read_by_transformers(model_type)
    return read if read is not None and read.__name__ == found.__name__ else found


def _read_by_transformers(model_type: str) -> type | None:
    """The class that ``AutoConfig`` makes of a model type."""
    try:
        from transformers import CONFIG_MAPPING

        return CONFIG_MAPPING[model_type]
    except Exception:  # no transformers, no such type, or a class that cannot be imported
        return None
