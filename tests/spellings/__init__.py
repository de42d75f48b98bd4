"""Many spellings of one meaning: small checkouts that a rule must understand, however they are written.

Each is a few files over the minimal checkout of the rule pages, most often its one model file. A comment ``# NAM204``
at the end of a line announces a finding on that line, ``# NAM208 (warning)`` one whose severity is not its page's own;
what is announced must come, and nothing besides. A spelling that announces nothing must be left alone.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from automodel_lint.pages import pages

from ..page_checkout import Announced
from ..page_framework import CHECKOUT, MODEL

REGISTRY = "nemo_automodel/_transformers/registry.py"
ACME = "nemo_automodel/components/models/acme"
PACKAGE = f"{ACME}/__init__.py"
CONFIG = f"{ACME}/config.py"
OTHER = f"{ACME}/other.py"  # a file beside the model's
ACME_MODULE = "nemo_automodel.components.models.acme.model"

GUARD = "reject_unsupported_tie_word_embeddings(type(self), config)"
ALIAS = "self.lm_head.weight = self.model.embed_tokens.weight"
GATED = f"if self.config.tie_word_embeddings:\n    {ALIAS}"
BOTH, TIED, UNTIED = "TieSupport.BOTH", "TieSupport.TIED_ONLY", "TieSupport.UNTIED_ONLY"
KEYS = '_tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}'
PLAIN = "HFCheckpointingMixin, nn.Module"
SIGNATURE = "self, config: AcmeConfig"

SUPER = "super().__init__()"
PARTS = """\
self.config = config
self.model = AcmeModel(config)
self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
"""
BUILD = f"{SUPER}\n{PARTS}"

AXES = """\
supports_tp: bool = False
supports_cp: bool = False
supports_pp: bool = False
supports_ep: bool = False
"""

IMPORTS = """\
import contextlib
import copy
import functools
import warnings
from dataclasses import dataclass
from typing import cast

import torch.nn as nn
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM
from transformers import LlamaForCausalLM, LlamaModel, LlamaPreTrainedModel, PreTrainedModel

from nemo_automodel._transformers import model_capabilities
from nemo_automodel.components.models.acme.config import AcmeConfig
from nemo_automodel.components.models.acme.layers import AcmeModel
from nemo_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
from nemo_automodel.components.models.common.tie_word_embeddings import (
    TieSupport,
    reject_tie_word_embeddings_flip,
    reject_unsupported_tie_word_embeddings,
)
"""

_ANNOUNCED = re.compile(r"[ ]*#(?P<codes>(?:[ ]NAM\d{3}(?:[ ]\((?:error|warning|info)\))?)+)[ ]*$")
_CODE = re.compile(r"(NAM\d{3})(?:[ ]\((\w+)\))?")


@dataclass(frozen=True)
class Spelling:
    """One way to write something, as the files that say it."""

    code: str  # the rule that has to understand it
    name: str
    files: dict[str, str]
    library: bool = True  # whether the source of transformers is at hand
    alone: bool = False  # a package of its own, with no framework around it
    owner: str = ""  # the symbol of every finding, if it matters ...
    architectures: tuple[str, ...] = ()  # ... and the architectures that it lists

    @property
    def id(self) -> str:
        """What the test is called."""
        return f"{self.code}-{self.name}"

    def read(self) -> tuple[dict[str, str], tuple[Announced, ...]]:
        """Return the files as an author would write them, and the findings that they announce."""
        files: dict[str, str] = {}
        announced: list[Announced] = []
        for path, text in self.files.items():
            lines = text.splitlines()
            for number, line in enumerate(lines, 1):
                comment = _ANNOUNCED.search(line)
                if comment:
                    lines[number - 1] = line[: comment.start()]
                    announced += [
                        Announced(path, number, code, severity or str(pages()[code].severity))
                        for code, severity in _CODE.findall(comment["codes"])
                    ]
            files[path] = "".join(f"{line}\n" for line in lines)
        return files, tuple(announced)


# -- pieces of a model file -----------------------------------------------------------------------------------------


def indented(text: str, by: int = 4) -> str:
    """Return a block of code one level (or two) deeper."""
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by) + "\n"


def mark(line: str, found: str) -> str:
    """Return a line that announces a finding, or the line if there is none to announce."""
    return f"{line}  # {found}" if found else line


def function(name: str, signature: str, *lines: str, found: str = "", above: str = "") -> str:
    """Return a method or function; ``above`` is for its decorators."""
    return above + mark(f"def {name}({signature}):", found) + "\n" + indented("\n".join(lines))


def init(*lines: str, signature: str = SIGNATURE, build: str = BUILD, found: str = "") -> str:
    """Return a constructor that does something and then builds the model."""
    return function("__init__", signature, *lines, *([build] if build else []), found=found)


def ties(*lines: str, found: str = "", signature: str = "self, *args, **kwargs") -> str:
    """Return a ``tie_weights``."""
    return function("tie_weights", signature, *lines, found=found)


def nested(axes: str = AXES, found: str = "", above: str = "@dataclass(frozen=True)\n") -> str:
    """Return a nested class of capabilities; ``above`` is for its decorators."""
    return above + mark("class ModelCapabilities:", found) + "\n" + indented(axes)


def klass(
    *members: str,
    name: str = "AcmeForCausalLM",
    bases: str = PLAIN,
    found: str = "",
    policy: str = UNTIED,
    constructor: str | None = None,
    profile: str | None = None,
) -> str:
    """Return a model class: its policy, its capabilities, its constructor, and what else it has."""
    parts = [
        f"tie_word_embeddings_support: TieSupport = {policy}" if policy else "",
        nested() if profile is None else profile,
        init(GUARD) if constructor is None else constructor,
        *members,
    ]
    body = "\n".join(indented(part) for part in parts if part)
    return f"\n\n{mark(f'class {name}({bases}):', found)}\n{body or '    pass'}"


def module(*parts: str, imports: str = "", end: str = "ModelClass = AcmeForCausalLM") -> str:
    """Return a model file."""
    return f"{IMPORTS}{imports}\n\n" + "\n".join(textwrap.dedent(part) for part in parts) + f"\n\n{end}\n"


def registry_file(mapping: str, configs: str | None = None) -> dict[str, str]:
    """Return the registry's file with other mappings in it."""
    if configs is None:
        text = CHECKOUT[REGISTRY]
        configs = text[text.index("_CUSTOM_CONFIG_REGISTRATIONS") : text.index("def register_architecture")].rstrip()
    imports = "import os\nfrom collections import OrderedDict\n\n"
    end = "\n\ndef register_architecture(arch_name, model_cls):\n    pass\n"
    return {REGISTRY: f"{imports}{textwrap.dedent(mapping).strip()}\n\n{textwrap.dedent(configs).strip()}\n{end}"}


def registered(**classes: str) -> dict[str, str]:
    """Return a registry that binds architecture names to classes of the model file, and a package that exports them."""
    entries = "".join(f'    "{arch}": ("{ACME_MODULE}", "{name}"),\n' for arch, name in classes.items())
    names = ", ".join(dict.fromkeys(classes.values()))
    return {PACKAGE: f"from .model import {names}\n", **registry_file(f"MODEL_ARCH_MAPPING = {{\n{entries}}}")}


def acme(code: str, name: str, text: str, *, library: bool = True, **more: str) -> Spelling:
    """Return a spelling that is a model file, with ``more`` files beside it by the names of their modules."""
    beside = {f"{ACME}/{stem}.py": beside for stem, beside in more.items()}
    return Spelling(code, name, {MODEL: text, **beside}, library)
