"""Whole source files by chance: valid Python, laid out as nobody should."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

from .ink import Ink

UNITS = ["    ", "    ", "  ", "\t", " ", "   ", "     ", "        ", "\t ", "  \t"]
DOCSTRINGS = [
    '"""What it is."""',
    "'one'",
    '"""First.\n\n        class A:  # no\n  odd\n"""',
    'r"""raw \\d"""',
    '("in " "brackets")',
    '"two " "parts"',
    '"""ends in a\n"""',
]
MODULES = ["acme.parts.tying", "acme.parts.mixins", "os.path", "torch", "acme.models.oak.layers", "zlib"]
ENCODINGS = ["", "", "", "", "utf-8", "latin-1", "bom"]


@dataclass(frozen=True)
class Looks:
    """How a file is written: the indentation of a level (``None``: any), line ends, encoding."""

    unit: str | None
    newline: str | None
    encoding: str
    ends: bool  # with a line end


class Writer:
    """Writes one file."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        odds, pick = chance.random, chance.choice
        self.looks = Looks(
            unit=None if odds() < 0.15 else pick(UNITS),
            newline=None if odds() < 0.05 else "\r\n" if odds() < 0.2 else "\n",
            encoding=pick(ENCODINGS),
            ends=odds() < 0.8,
        )
        letters = {"latin-1": "é", "": pick(["", "ñλ", "größeï😀"]), "utf-8": "größeï"}.get(self.looks.encoding, "λ")
        self.ink = Ink(chance, letters)
        self.parts: list[str] = []
        self.numbers = 0

    def file(self) -> bytes:
        """Return the bytes of a file."""
        self.top()
        for _ in range(self.chance.randint(1, 3)):
            self.parts.append(self.ink.pick(["\n\n", "\n", ""]))
            self.chance.choice([self.klass, self.klass, self.function, self.statement])("", 3)
        self.junk("")
        text = "".join(self.parts)
        if not self.looks.ends:
            text = text.rstrip("\n")
        ends = {"\r\n", "\n"} if self.looks.newline is None else {self.looks.newline}
        *lines, last = text.split("\n")
        text = "".join(line + self.chance.choice(sorted(ends)) for line in lines) + last
        mark = b"\xef\xbb\xbf" if self.looks.encoding == "bom" else b""
        return mark + text.encode("latin-1" if self.looks.encoding == "latin-1" else "utf-8")

    # -- lines ----------------------------------------------------------------------------------------------------

    def put(self, text: str) -> None:
        """Write text."""
        self.parts.append(text)

    def new_name(self) -> str:
        """A name that nothing has yet."""
        self.numbers += 1
        return f"{self.ink.pick(['n', 'N', '_n'])}{self.numbers}"

    def deeper(self, indent: str) -> str:
        """The indentation of a body."""
        return indent + (self.looks.unit or self.chance.choice(UNITS))

    def junk(self, indent: str) -> None:
        """Blank lines and comments between statements."""
        while self.ink.odds(0.3):
            odd = indent + self.ink.pick(["", "", " ", "   ", "\t"])
            note = self.ink.comment
            self.put(self.ink.pick(["\n", "\n", odd + "\n", "\f\n", f"{indent}{note()}\n", f"{indent}{note()}\n"]))
            if self.ink.odds(0.15):
                self.put(self.ink.pick([f"{odd}{note()}\n", f"{note()}\n"]))

    def line(self, indent: str, *simple: str) -> None:
        """One line of simple statements."""
        joint = self.ink.pick(["; ", ";", " ; "])
        begins = not self.parts or self.parts[-1].endswith("\n")
        feed = "\f" if begins and self.ink.odds(0.03) else ""
        end = self.ink.pick([";", " ;"]) if self.ink.odds(0.1) else ""
        self.put(feed + indent + joint.join(simple) + end + self.ink.trailing() + "\n")

    # -- simple statements ----------------------------------------------------------------------------------------

    def simple(self, indent: str) -> str:
        """A simple statement."""
        ink, gap = self.ink, self.ink.blanks
        value = ink.expression(indent)
        kind = self.chance.randint(0, 12)
        if kind == 0:
            return f"{ink.name()}.attr{gap()}={gap()}{value}"
        if kind == 1:
            return f"{ink.name()}{gap()}={gap()}{ink.expression(indent, 1)}{ink.pick([',', ', 1', ', x'])}"
        if kind == 2:
            return f"_keep{gap()}:{gap()}list[str]{gap()}={gap()}{ink.brackets('[]', ink.items(indent, 1), indent)}"
        if kind == 3:
            return ink.pick(["pass", "...", "assert x", "del x", "x += 1", "raise x", f"import os{gap()}as y"])
        if kind == 4:
            return f"from{gap()}acme.late import {ink.brackets('()', ['later', 'x as y'], indent)}"
        if kind <= 8:
            arguments = ink.brackets("()", [*ink.items(indent, 2), "k=1"], indent)
            return f"{ink.name()}{ink.pick(['', '.m', '[0]'])}{arguments}"
        return f"{ink.name()}{gap()}={gap()}{value}"

    def statement(self, indent: str, depth: int) -> None:
        """A line of simple statements, or a compound one."""
        self.junk(indent)
        if depth <= 0 or self.chance.random() < 0.65:
            count = self.chance.choice([1, 1, 1, 2, 3])
            self.line(indent, *(self.simple(indent) for _ in range(count)))
            return
        compound = [self.branches, self.branches, self.loop, self.attempt, self.block_with, self.cases]
        self.chance.choice(compound)(indent, depth - 1)

    # -- compound statements --------------------------------------------------------------------------------------

    def suite(self, indent: str, depth: int, document: bool = False) -> None:
        """The body behind a header that ends with its colon; ``document`` allows a docstring."""
        if self.ink.odds(0.25):
            texts = [self.simple(indent) for _ in range(self.chance.randint(1, 2))]
            document = document and self.ink.odds(0.3)
            self.line(self.ink.pick([" ", ""]), *([self.ink.pick(DOCSTRINGS)] if document else []), *texts)
            return
        inner = self.deeper(indent)
        self.put(self.ink.trailing() + "\n")
        self.junk(inner)
        if document and self.chance.random() < 0.4:
            self.line(inner, self.ink.pick(DOCSTRINGS), *([self.simple(inner)] if self.ink.odds(0.15) else []))
            if self.ink.odds(0.3):
                self.line(inner, "import json", *(["from a import b"] if self.ink.odds(0.3) else []))
        for _ in range(self.chance.randint(1, 3)):
            self.statement(inner, depth)
        if self.ink.odds(0.2):
            self.put(f"{inner}{self.ink.pick(['', '', '  '])}{self.ink.comment()}\n")

    def header(self, indent: str, text: str, depth: int, document: bool = False) -> None:
        """A header and its body."""
        self.put(indent + text + self.ink.pick(["", "", " "]) + ":")
        self.suite(indent, depth, document)

    def branches(self, indent: str, depth: int) -> None:
        """``if`` with what may follow."""
        self.header(indent, f"if {self.ink.expression(indent)}", depth)
        while self.chance.random() < 0.3:
            self.note_before(indent)
            self.header(indent, f"elif{self.ink.blanks()}{self.ink.expression(indent, 1)}", depth)
        if self.chance.random() < 0.4:
            self.note_before(indent)
            self.header(indent, "else", depth)

    def note_before(self, indent: str) -> None:
        """A comment or blank line before an ``else`` and its like."""
        if self.ink.odds(0.3):
            self.put(self.ink.pick(["\n", f"{indent}{self.ink.comment()}\n", f"{self.ink.comment()}\n"]))

    def loop(self, indent: str, depth: int) -> None:
        """``for`` or ``while``."""
        head = self.ink.pick(["while x", f"for x in {self.ink.expression(indent, 1)}"])
        self.header(indent, head, depth)
        if self.ink.odds(0.3):
            self.note_before(indent)
            self.header(indent, "else", depth)

    def attempt(self, indent: str, depth: int) -> None:
        """``try`` with handlers, ``else`` and ``finally``."""
        self.header(indent, "try", depth)
        handlers = self.chance.randint(0, 2)
        for _ in range(handlers):
            self.note_before(indent)
            self.header(indent, f"except {self.ink.pick(['ValueError', '(A, B) as x'])}", depth)
        if handlers and self.ink.odds(0.3):
            self.header(indent, "else", depth)
        if not handlers or self.ink.odds(0.3):
            self.note_before(indent)
            self.header(indent, "finally", depth)

    def block_with(self, indent: str, depth: int) -> None:
        """``with``."""
        self.header(indent, f"with {self.ink.expression(indent, 1)} as x, alpha", depth)

    def cases(self, indent: str, depth: int) -> None:
        """``match``."""
        self.put(f"{indent}match {self.ink.expression(indent, 1)}:{self.ink.trailing()}\n")
        inner = self.deeper(indent)
        self.header(inner, f"case {self.ink.pick(['1', '[x, y]', 'None | 2', 'A(b=1)'])}", depth)
        if self.ink.odds(0.5):
            self.note_before(inner)
            self.header(inner, "case _", depth)

    # -- definitions ----------------------------------------------------------------------------------------------

    def decorators(self, indent: str) -> None:
        """Decorators, with comments between them."""
        self.junk(indent)
        while self.ink.odds(0.3):
            self.put(f"{indent}@{self.ink.pick(['', ' '])}{self.ink.pick(['a', 'a.b'])}")
            arguments = self.ink.brackets("()", self.ink.items(indent, 1), indent) if self.ink.odds(0.5) else ""
            self.put(f"{arguments}{self.ink.trailing()}\n")
            self.note_before(indent)

    def type_parameters(self) -> str:
        """What Python 3.12 has behind a name."""
        if sys.version_info < (3, 12) or not self.ink.odds(0.3):
            return ""
        return self.ink.brackets("[]", ["T", "U: (int, str)"], "")

    def klass(self, indent: str, depth: int) -> None:
        """A class."""
        self.decorators(indent)
        ink = self.ink
        bases = [ink.pick(["A", "a.B", "Generic[T, U]", "make(1, 2)", "größe" if "ö" in ink.letters else "C"])]
        bases = [*bases, *ink.pick([[], ["D"], ["D", "e.F"], ["*more"]])] if ink.odds(0.8) else []
        keywords = ["metaclass=M"] if ink.odds(0.2) else []
        brackets = ink.brackets("()", [*bases, *keywords], indent) if bases or keywords or ink.odds(0.3) else ""
        space = ink.pick([" ", "\\\n"]) if brackets and ink.odds(0.1) else ""
        name = self.new_name() + self.type_parameters()
        if ink.odds(0.15):
            self.put(f"{indent}class {name}{space}{brackets}:")
            self.line(" ", ink.pick(["pass", "...", "x = 1", '"""Doc."""', "a: int; b = [1]"]))
            return
        self.put(f"{indent}class{ink.blanks()}{name}{space}{brackets}:{ink.trailing()}\n")
        inner = self.deeper(indent)
        self.junk(inner)
        if self.chance.random() < 0.4:
            self.line(inner, ink.pick(DOCSTRINGS), *(["y = 1"] if ink.odds(0.1) else []))
        for _ in range(self.chance.randint(1, 3)):
            if self.chance.random() < 0.6:
                self.function(inner, depth - 1, "self")
            else:
                self.statement(inner, 0)

    def function(self, indent: str, depth: int, first: str = "") -> None:
        """A function."""
        self.decorators(indent)
        found, _ = self.ink.parameters(indent, first)
        may_end = not found or found[-1] not in ("*",)
        returns = self.ink.pick(["", "", " -> None", ' -> "A, B"'])
        word = self.ink.pick(["def", "def", "def", f"async{self.ink.blanks()}def"])
        name = self.new_name() + self.type_parameters()
        brackets = self.ink.brackets("()", found, indent, comma=may_end)
        self.header(indent, f"{word}{self.ink.blanks()}{name}{brackets}{returns}", depth, document=True)

    # -- the top --------------------------------------------------------------------------------------------------

    def top(self) -> None:
        """Coding line, docstring, imports."""
        ink = self.ink
        if self.looks.encoding in ("latin-1", "utf-8"):
            self.put(ink.pick(["", "#!/usr/bin/env python\n", "\n"]))
            self.put(f"# -*- coding: {self.looks.encoding} -*-\n")
        self.junk("")
        if self.chance.random() < 0.3:
            more = ["import zlib"] if ink.odds(0.2) else ["from __future__ import division"] if ink.odds(0.2) else []
            self.line("", ink.pick(DOCSTRINGS), *more)
        if ink.odds(0.3) and "import zlib" not in "".join(self.parts):
            self.line("", "from __future__ import annotations")
        for _ in range(self.chance.randint(0, 3)):
            self.junk("")
            self.line("", self.an_import(), *([self.simple("")] if ink.odds(0.1) else []))

    def an_import(self) -> str:
        """An import."""
        module = self.ink.pick(MODULES)
        if self.ink.odds(0.3):
            return f"import {module}{self.ink.pick(['', ' as m', ', sys'])}"
        names = [
            self.ink.pick(["Alpha", "beta", "Gamma as G", "delta", "GUARD"]) for _ in range(self.chance.randint(1, 3))
        ]
        names = list(dict.fromkeys(names))
        if self.ink.odds(0.15):
            return f"from {self.ink.pick(['.', '..', '.layers', '...parts.tying'])} import {', '.join(names)}"
        if self.ink.odds(0.4):
            return f"from {module} import {self.ink.brackets('()', names, '')}"
        return f"from {module} import {self.ink.pick([', ', ', ', ',' + self.ink.blanks()]).join(names)}"
