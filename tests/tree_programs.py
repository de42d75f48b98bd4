"""Random constructors: modules that nobody would write, to be constructed and compared like those of ``tree_models``.

A program is drawn from a seed. It branches on the fields of its configuration in whatever nesting, overwrites and
deletes attributes, returns early, loops, and builds through base classes, helpers, factories and parts. ``CASES`` has
every combination of the fields.
"""

from __future__ import annotations

import random
import textwrap

HEAD = """
from itertools import product

import torch
from torch import nn
from transformers import PretrainedConfig


class Config(PretrainedConfig):
    model_type = "sprout"

    def __init__(self, a=False, b=False, c=False, kind="x", rank=None, count=2, **kwargs):
        self.a = a
        self.b = b
        self.c = c
        self.kind = kind
        self.rank = rank
        self.count = count
        self.picked = [1] if a else []
        super().__init__(**kwargs)

"""
TAIL = """
VALUES = product((False, True), (False, True), (False, True), ("x", "y", "z"), (None, 3))
CASES = {Model: [Config(*values) for values in VALUES]}
"""
ATTRIBUTES = ("up", "down", "gate", "norm", "proj", "attn")
WEIGHTS = ("scale", "shift")  # names of their own: torch does not let a module take the place of a parameter


class Program:
    """The text of one random module with a class ``Model``."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.number = 0
        self.parts: list[str] = []
        self.factories: list[str] = []
        self.text = self._module()

    # -- definitions ----------------------------------------------------------------------------------------------

    def _module(self) -> str:
        blocks = [HEAD]
        for _ in range(self.draw.randint(0, 1)):
            blocks.append(self._factory())
            blocks.append(self._class(self._fresh("Part"), "nn.Module", "config: Config, flag=False", ["flag"]))
        base = "nn.Module"
        if self.draw.random() < 0.5:
            base = self._fresh("Base")
            blocks.append(self._class(base, "nn.Module", "config: Config", []))
        blocks.append(self._class("Model", base, "config: Config", []))
        return "\n\n".join(blocks) + TAIL

    def _fresh(self, stem: str) -> str:
        self.number += 1
        return f"{stem}{self.number}"

    def _factory(self) -> str:
        name = self._fresh("make")
        lines = [f"def {name}(config: Config, flag=True):"]
        for _ in range(self.draw.randint(1, 2)):
            lines += [f"    if {self._condition(['flag'])}:", f"        return {self._made(['flag'], 1)}"]
        lines.append(f"    return {self._made(['flag'], 1)}")
        self.factories.append(name)
        return "\n".join(lines)

    def _class(self, name: str, base: str, parameters: str, flags: list[str]) -> str:
        call = "super().__init__(config)" if base.startswith("Base") else "super().__init__()"
        helpers = [self._fresh("_build") for _ in range(self.draw.randint(0, 2))]
        self.helpers = helpers
        lines = [f"class {name}({base}):", f"    def __init__(self, {parameters}):", f"        {call}"]
        lines.append("        self.config = config")
        lines += textwrap.indent("\n".join(self._block(list(flags), 2, self.draw.randint(1, 4))), " " * 8).split("\n")
        self.helpers = []
        for helper in helpers:
            lines += ["", f"    def {helper}(self, config, flag):"]
            lines += textwrap.indent("\n".join(self._block(["flag"], 1, self.draw.randint(1, 2))), " " * 8).split("\n")
        if name.startswith("Part"):
            self.parts.append(name)
        return "\n".join(lines)

    # -- statements -----------------------------------------------------------------------------------------------

    def _block(self, flags: list[str], depth: int, length: int) -> list[str]:
        lines: list[str] = []
        for _ in range(length):
            lines += self._statement(flags, depth)
        return lines or ["pass"]

    def _statement(self, flags: list[str], depth: int) -> list[str]:
        kind = self.draw.random()
        name = self.draw.choice(ATTRIBUTES)
        if depth > 0 and kind < 0.34:
            return self._branch(flags, depth)
        if kind < 0.42:
            flag = self._fresh("flag_")
            lines = [f"{flag} = {self._condition(flags)}"]
            flags.append(flag)
            return lines
        if kind < 0.50:
            name = self.draw.choice((*ATTRIBUTES, *WEIGHTS))
        if kind < 0.46:
            return [f"self.{name} = None"]
        if kind < 0.50:
            return [f'if hasattr(self, "{name}"):', f"    del self.{name}"]
        if kind < 0.56 and self.helpers:
            return [f"self.{self.draw.choice(self.helpers)}(config, {self._condition(flags)})"]
        if kind < 0.62:
            return self._loop(flags)
        if kind < 0.66:
            local = self._fresh("made_")
            return [f"{local} = {self._made(flags, 1)}", f"self.{name} = {local}"]
        if kind < 0.70:
            buffer = self._fresh("buffer_")
            return [f'self.register_buffer("{buffer}", torch.zeros(2), persistent={self.draw.choice((True, False))})']
        if kind < 0.76:
            return [f"self.{self.draw.choice(WEIGHTS)} = nn.Parameter(torch.zeros(2))"]
        return [f"self.{name} = {self._made(flags, 1)}"]

    def _branch(self, flags: list[str], depth: int) -> list[str]:
        lines = [f"if {self._condition(flags)}:", *self._side(flags, depth)]
        if self.draw.random() < 0.3:
            lines += [f"elif {self._condition(flags)}:", *self._side(flags, depth)]
        if self.draw.random() < 0.5:
            lines += ["else:", *self._side(flags, depth)]
        return lines

    def _side(self, flags: list[str], depth: int) -> list[str]:
        block = self._block(list(flags), depth - 1, self.draw.randint(1, 2))
        if self.draw.random() < 0.12:
            block.append("return")
        return [f"    {line}" for line in block]

    def _loop(self, flags: list[str]) -> list[str]:
        kind = self.draw.randrange(6)
        if kind == 4:
            rows, test = (
                self._fresh("rows"),
                self.draw.choice(("index in config.picked", "index == 0", "index % 2 == 1")),
            )
            return [f"self.{rows} = nn.ModuleList([{self._made(flags, 1)} if {test} else {self._made(flags, 1)}"
                    " for index in range(config.count)])"]  # fmt: skip
        if kind == 5:
            row = self._fresh("row_")
            return [f"{row} = []", "for index in range(config.count):",
                    f"    if index not in config.picked or {self._condition(flags)}:", "        continue",
                    f"    {row}.append({self._made(flags, 1)})",
                    f"self.{self._fresh('rows')} = nn.Sequential(*{row})"]  # fmt: skip
        if kind == 0:
            return [f'for name in ("{ATTRIBUTES[0]}", "{ATTRIBUTES[1]}"):',
                    f"    setattr(self, name, {self._made(flags, 1)})"]  # fmt: skip
        if kind == 1:
            stem = self._fresh("layer")
            return ["for index in range(config.count):",
                    f'    setattr(self, f"{stem}_{{index}}", {self._made(flags, 1)})']  # fmt: skip
        if kind == 2:
            row = self._fresh("row_")
            return [f"{row} = []", "for _ in range(config.count):", f"    {row}.append({self._made(flags, 1)})",
                    f"self.{self._fresh('rows')} = nn.ModuleList({row})"]  # fmt: skip
        return ["for index in range(2):", f"    if index == 1 and {self._condition(flags)}:", "        break",
                f"    self.{self.draw.choice(ATTRIBUTES)} = {self._made(flags, 1)}"]  # fmt: skip

    # -- expressions ----------------------------------------------------------------------------------------------

    def _condition(self, flags: list[str], depth: int = 1) -> str:
        kind = self.draw.random()
        if depth and kind < 0.15:
            return f"not ({self._condition(flags, depth - 1)})"
        if depth and kind < 0.4:
            sign = self.draw.choice(("and", "or"))
            return f"({self._condition(flags, depth - 1)} {sign} {self._condition(flags, depth - 1)})"
        plain = ["config.a", "config.b", "config.c", "self.config.a"]
        plain += ['config.kind == "x"', 'config.kind != "y"', 'config.kind in ("x", "z")']
        plain += ["config.rank is None", "config.rank", "config.rank is not None", 'getattr(config, "c", False)']
        found = self.draw.choice([*plain, *flags, *flags])
        return found.replace("self.", "") if "self" in found and "flag" in flags else found

    def _made(self, flags: list[str], depth: int) -> str:
        kind = self.draw.random()
        if depth and kind < 0.15:
            return f"({self._made(flags, depth - 1)} if {self._condition(flags)} else {self._made(flags, depth - 1)})"
        if depth and kind < 0.22:
            return f"nn.Sequential({self._made(flags, depth - 1)}, {self._made(flags, depth - 1)})"
        if depth and kind < 0.29:
            return f"nn.ModuleList([{self._made(flags, depth - 1)} for _ in range(config.count)])"
        if depth and kind < 0.34:
            return f'nn.ModuleDict({{"p": {self._made(flags, depth - 1)}, "q": {self._made(flags, depth - 1)}}})'
        if kind < 0.5 and self.parts:
            part = self.draw.choice(self.parts)
            return f"{part}(config, flag={self._condition(flags)})" if self.draw.random() < 0.6 else f"{part}(config)"
        if kind < 0.6 and self.factories:
            return f"{self.draw.choice(self.factories)}(config, {self._condition(flags)})"
        plain = (
            "nn.Linear(2, 2)",
            "nn.LayerNorm(2)",
            "nn.Identity()",
            f"nn.Linear(2, 2, bias={self._condition(flags)})",
        )
        return self.draw.choice(plain)
