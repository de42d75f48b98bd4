"""The config class of a package: the fields of a ``config.json`` as parameters with its values as defaults."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# What the base class of a config takes care of, whatever a file says.
OF_THE_BASE = frozenset(
    "_name_or_path architectures attn_implementation auto_map bos_token_id dtype eos_token_id id2label is_decoder "
    "is_encoder_decoder label2id model_type num_labels output_attentions output_hidden_states pad_token_id "
    "problem_type quantization_config return_dict rope_parameters rope_scaling rope_theta tie_word_embeddings "
    "torch_dtype torchscript transformers_version use_cache".split()
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a constructor, as it is written."""

    name: str
    type: str
    default: str


@dataclass
class ConfigClass:
    """A config class to write.

    Attributes:
        name, base, model_type, doc: what stands in its head.
        parameters: of its constructor.
        body: the statements of its constructor, before the base is called.
        passed: what the base is handed besides ``**kwargs``.
        sub_configs: the key and class of each config inside it.
        fields: the names that an instance has afterwards.
    """

    name: str
    base: str
    model_type: str
    doc: str
    parameters: list[Parameter] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    passed: str = ""
    sub_configs: list[tuple[str, str]] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)

    def add(self, name: str, annotation: str, default: str, value: str = "") -> None:
        """Add a parameter that is kept; ``value`` is what is kept if it is not the parameter itself."""
        self.parameters.append(Parameter(name, annotation, default))
        self.body.append(f"self.{name} = {value or name}")
        self.fields.add(name)

    def hand_on(self, name: str, annotation: str, default: str) -> None:
        """Add a parameter that the base keeps."""
        self.parameters.append(Parameter(name, annotation, default))
        self.passed += f"{name}={name}, "
        self.fields.add(name)

    def nest(self, key: str, inner: str) -> None:
        """Add a config inside this one, given as a config or as what stands in a file."""
        self.sub_configs.append((key, inner))
        self.parameters.append(Parameter(key, f"{inner} | dict[str, Any] | None", "None"))
        self.body += [
            f"if not isinstance({key}, {inner}):",
            f"    {key} = {inner}(**({key} or {{}}))",
            f"self.{key} = {key}",
        ]
        self.fields.add(key)


def add_plain(cls: ConfigClass, data: dict[str, Any], taken_by_base: Iterable[str]) -> None:
    """Add every field of a config that no other code adds, in the order of the file."""
    for name, value in data.items():
        if name in OF_THE_BASE or name in cls.fields or not name.isidentifier() or keyword.iskeyword(name):
            continue
        if name in taken_by_base:
            cls.hand_on(name, _type(value), literal(value))
        elif isinstance(value, (list, dict)):
            _add_collection(cls, name, value)
        else:
            cls.add(name, _type(value), literal(value))


def add_rotary(cls: ConfigClass, data: dict[str, Any]) -> None:
    """Add the fields of rotary positions, in the old form (two fields) and the new one (a table)."""
    table = data.get("rope_parameters")
    theta = data.get("rope_theta", table.get("rope_theta") if isinstance(table, dict) else None)
    cls.parameters.append(Parameter("rope_theta", "float", literal(theta if theta is not None else 10000.0)))
    cls.parameters.append(Parameter("rope_scaling", "dict[str, Any] | None", "None"))
    cls.parameters.append(Parameter("rope_parameters", "dict[str, Any] | None", "None"))
    cls.body += [
        "if rope_parameters is None:  # a file in the older form",
        "    scaling = rope_scaling or {}",
        '    kind = scaling.get("rope_type", scaling.get("type", "default"))',
        '    rope_parameters = {"rope_theta": rope_theta, **scaling, "rope_type": kind}',
        "self.rope_parameters = rope_parameters",
    ]
    cls.fields.add("rope_parameters")


def literal(value: Any) -> str:
    """Return a JSON value as it is written in Python."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _type(value: Any) -> str:
    if value is None:
        return "Any"
    return type(value).__name__ if not isinstance(value, (list, dict)) else f"{type(value).__name__} | None"


def _add_collection(cls: ConfigClass, name: str, value: list[Any] | dict[str, Any]) -> None:
    """A list or table has no default that is shared; that of the file is made anew where it is short enough to read."""
    kind = "list[Any] | None" if isinstance(value, list) else "dict[str, Any] | None"
    written = _of_every_layer(value) if isinstance(value, list) and "num_hidden_layers" in cls.fields else ""
    if not written and len(repr(value)) < 60:
        written = repr(value).replace("'", '"') if "\\" not in repr(value) and '"' not in repr(value) else repr(value)
    if not written:
        cls.add(name, kind, "None")
        return
    cls.parameters.append(Parameter(name, kind, "None"))
    cls.body += [f"if {name} is None:", f"    {name} = {written}", f"self.{name} = {name}"]
    cls.fields.add(name)


def _of_every_layer(value: list[Any]) -> str:
    """A list with one word for each layer that repeats itself, as an expression over the number of layers."""
    if len(value) < 4 or not all(isinstance(word, str) for word in value):
        return ""
    words = sorted(set(value), key=value.index)
    if len(words) == 1:
        return f"[{literal(words[0])}] * num_hidden_layers"
    if len(words) != 2:
        return ""
    for period in range(2, len(value) // 2 + 1):
        often, rare = words if value[:period].count(words[1]) == 1 else words[::-1]
        at = value.index(rare)
        if at < period and all((word == rare) == (n % period == at) for n, word in enumerate(value)):
            test = f"n % {period} == {at}" if at != period - 1 else f"(n + 1) % {period} == 0"
            return f"[{literal(rare)} if {test} else {literal(often)} for n in range(num_hidden_layers)]"
    return ""
