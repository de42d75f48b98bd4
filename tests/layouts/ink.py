"""Pieces of text below the level of statements: blanks, comments, brackets, expressions, parameters."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

NAMES = "config alpha beta self_ x größe λ naïve data".split()
PLAIN = [n for n in NAMES if n.isascii()]
WORDS = ["weights", "the guard", "it's", 'say "x"', "if x: pass", "[", ")", "\\", "\tindented", "# twice"]
MULTILINE = [
    '"""one\n  class A(B):  # no comment\n\tdef f(self): pass\nend"""',
    "'''\n#no\n        deep\n\\\n'''",
    'f"""{x}\n    return {x!r:>{beta}}\n"""',
    'r"""\nimport os; from a import (b,\n"""',
]
TEXTS = [
    '"a"',
    "'b'",
    'r"\\d"',
    'b"raw"',
    "\"a\" 'b'",
    'f"{x}"',
    "f\"{data['k']!r}\"",
    'f"{x:>{beta}}"',
    '"# none"',
    '"a\\\nb"',
    "u'u'",
    "f'{{}}{x=}'",
]
if sys.version_info >= (3, 12):
    TEXTS += ['f"{data["k"]}"', 'f"{", ".join(f"{y}" for y in data)}"']


class Ink:
    """Writes pieces by chance; comments are numbered, so each is told from each.

    ``letters`` are the characters beyond ASCII that the file's encoding has: none, or names and texts with them.
    """

    def __init__(self, chance: random.Random, letters: str):
        self.chance, self.letters = chance, letters
        self.names = [n for n in NAMES if all(c.isascii() or c in letters for c in n)]
        self.comments = 0
        self.calm = chance.random() < 0.35  # ordinary layout with the odd thing here and there

    def odds(self, probability: float) -> bool:
        """Tell whether something happens that has this probability."""
        return self.chance.random() < (probability / 4 if self.calm else probability)

    def pick(self, choices: Sequence[str]) -> str:
        """Return one of some texts."""
        return self.chance.choice(choices)

    # -- blanks ---------------------------------------------------------------------------------------------------

    def comment(self) -> str:
        """A comment that no other is equal to."""
        self.comments += 1
        letters = self.pick(["", self.letters])
        return f"#{self.pick(['', ' ', '!'])}c{self.comments} {self.pick(WORDS)}{letters}{self.pick(['', '', ' '])}"

    def blanks(self) -> str:
        """Blanks between two words of a line."""
        return self.pick(["  ", "\t", " \\\n", " \\\n      "]) if self.odds(0.1) else " "

    def inner(self, indent: str) -> str:
        """Blanks inside brackets, also none."""
        if not self.odds(0.3):
            return ""
        choices = ["", " ", "\n", "\n" + indent + "    ", "\n\n", f"  {self.comment()}\n{indent}  ", "\n\t", "\f"]
        return self.pick([*choices, f"\n{indent}{self.comment()}\n{indent}"])

    def trailing(self) -> str:
        """What stands behind a statement in its line."""
        return self.pick(["  ", " ", "", "\t"]) + self.comment() if self.odds(0.3) else self.pick(["", "", " "])

    # -- brackets -------------------------------------------------------------------------------------------------

    def brackets(self, pair: str, items: Sequence[str], indent: str, comma: bool = True) -> str:
        """Items in brackets: in a line, one a line, or anyhow; ``comma`` allows one behind the last."""
        opening, closing = pair
        last = "," if comma and items and self.odds(0.4) else ""
        style = self.chance.random()
        if style < 0.4:
            return opening + ", ".join(items) + last + closing
        if style < 0.7:
            lines = [f"{item}{',' if number < len(items) - 1 else last}" for number, item in enumerate(items)]
            deeper = indent + self.pick(["    ", "  ", "\t"])
            notes = [f"\n{deeper}{self.comment()}" if self.odds(0.15) else "" for _ in lines]
            body = "".join(f"{n}\n{deeper}{i}{self.trailing()}" for n, i in zip(notes, lines, strict=True))
            return f"{opening}{body}\n{indent}{closing}"
        text = opening + self.inner(indent)
        for number, item in enumerate(items):
            text += item + self.inner(indent)
            text += ("," if number < len(items) - 1 else last) + self.inner(indent)
        return text + closing

    # -- expressions ----------------------------------------------------------------------------------------------

    def name(self) -> str:
        """A name to be read or bound."""
        return self.pick(self.names)

    def text(self) -> str:
        """A text, in many spellings."""
        if self.odds(0.15):
            return self.pick(MULTILINE)
        return f'"{self.letters}"' if self.letters and self.odds(0.2) else self.pick(TEXTS)

    def items(self, indent: str, depth: int, fewest: int = 0) -> list[str]:
        """A few expressions."""
        return [self.expression(indent, depth) for _ in range(self.chance.randint(fewest, 3))]

    def expression(self, indent: str = "", depth: int = 2) -> str:
        """An expression that can stand wherever one can."""
        if depth <= 0 or self.odds(0.3):
            return self.pick([self.name(), self.name(), str(self.chance.randint(0, 99)), self.text(), "None"])
        kind, less = self.chance.randint(0, 11), depth - 1
        one = self.expression(indent, less)
        if kind <= 1:
            return self.brackets("[]", self.items(indent, less), indent)
        if kind == 2:
            pairs = [f"{self.text()}: {item}" for item in self.items(indent, less)]
            plain = [p for p in pairs if not p.startswith(("f", "F"))]
            return self.brackets("{}", [*plain, *(["**x"] if self.odds(0.2) else [])], indent)
        if kind == 3:
            return self.brackets("{}", self.items(indent, less, 1), indent)
        if kind == 4:
            return self.brackets("()", self.items(indent, less, 2), indent)
        if kind <= 6:
            keywords = ["k=" + one] if self.odds(0.5) else []
            rest = ["*x"] if self.odds(0.1) else []
            arguments = [*self.items(indent, less), *rest, *keywords, *(["**data"] if self.odds(0.1) else [])]
            return self.name() + self.pick(["", ".m"]) + self.brackets("()", arguments, indent)
        return [
            f"(lambda x, y=1: {one})",
            f"[{self.name()} for x in data if x]",
            f"{self.name()}[{one}]",
            f"({one} if x else {self.name()})",
            f"({self.name()} := {one})" if self.odds(0.5) else f"({one})",
        ][kind - 7]

    def parameters(self, indent: str, first: str) -> tuple[list[str], str]:
        """The parameters of a signature, and how further ones may be written: ``*``, ``named``, ``last`` or nothing."""
        found, more = ([first] if first else []), "*"
        for number in range(self.chance.randint(0, 3)):
            note = self.pick(["", "", ": int", ": dict[str, int]", ": 'A, B'"])
            default = f"{' = ' if note else '='}{self.pick(['1', 'None', 'lambda x, y: 0', '(1, 2)', '[3]'])}"
            found.append(f"p{number}{note}{default if number or self.odds(0.3) else ''}")
        if found and self.odds(0.15):
            found.insert(self.chance.randint(1, len(found)), "/")
        if self.odds(0.2):
            found += [self.pick(["*", "*args"]), f"named{self.pick(['', '=lambda y, z: 1', ': int = 0'])}"]
            more = "named"
        if self.odds(0.2):
            found.append("**kwargs")
            more = ""
        return found, more
