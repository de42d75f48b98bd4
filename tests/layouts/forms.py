"""Real files laid out anew: what they mean stays, how they are written is another's habit, or nobody's."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Callable
from itertools import pairwise

Form = Callable[[str, random.Random], str]
_UNITS = ["  ", "\t", " ", "   ", "        ", " \t"]


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _inside_texts(text: str) -> set[int]:
    """The numbers of the lines that begin inside a text."""
    names = ("STRING", "FSTRING_MIDDLE")
    tokens = (t for t in _tokens(text) if tokenize.tok_name[t.type] in names)
    return {line for t in tokens for line in range(t.start[0] + 1, t.end[0] + 1)}


def _each_line(text: str, change: Callable[[str], str]) -> str:
    """Change every line that does not begin inside a text."""
    inside = _inside_texts(text)
    lines = text.splitlines(keepends=True)
    return "".join(line if number in inside else change(line) for number, line in enumerate(lines, 1))


def indented_otherwise(text: str, chance: random.Random) -> str:
    """Another indentation for each level."""
    unit = chance.choice(_UNITS)

    def change(line: str) -> str:
        bare = line.lstrip(" ")
        level, rest = divmod(len(line) - len(bare), 4)
        return unit * level + " " * rest + bare

    return _each_line(text, change)


def commented(text: str, chance: random.Random) -> str:
    """Comments behind and above lines, and behind brackets and commas; not inside a call of the guard."""
    inserts: list[tuple[tuple[int, int], str]] = []
    quiet, depth, number, before = 0, 0, 0, ""
    tokens = _tokens(text)
    for index, token in enumerate(tokens):
        if token.string in ("(", "[", "{"):
            depth += 1
            quiet = quiet or (depth if before.startswith(("reject_", "check_tie")) else 0)
        elif token.string in (")", "]", "}"):
            quiet = 0 if quiet == depth else quiet
            depth -= 1
        is_end = token.type == tokenize.NEWLINE and tokens[index - 1].type != tokenize.COMMENT
        is_gap = token.string in ("(", "[", "{", ",") and depth and not quiet
        is_followed = tokens[index + 1].type in (tokenize.COMMENT, tokenize.NL) if is_gap else False
        if (is_end or (is_gap and not is_followed)) and chance.random() < 0.25:
            number += 1
            note = f"  # k{number} if (x: 'it"
            inserts.append((token.start if is_end else token.end, note if is_end else f"{note}\n        "))
        before = token.string
    lines = text.splitlines(keepends=True)
    for (line, column), note in reversed(inserts):
        lines[line - 1] = lines[line - 1][:column] + note + lines[line - 1][column:]
    return "".join(lines)


def in_one_line(text: str, chance: random.Random) -> str:
    """Simple statements that follow each other share a line, also with their header."""
    lines = text.splitlines(keepends=True)
    joined: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(text)):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list) or not body or isinstance(node, ast.Module):
                continue
            for first, second in pairwise(body):
                if all(_is_bare(s, lines) for s in (first, second)) and second.lineno == first.lineno + 1:
                    joined.append((second.lineno, "; "))
            header = lines[body[0].lineno - 2].rstrip("\n")
            if all(_is_bare(s, lines) for s in body) and header.endswith(":") and "#" not in header:
                joined += [(s.lineno, " " if s is body[0] else "; ") for s in body]
    taken = {line: joint for line, joint in joined if chance.random() < 0.6}
    # A body goes to its header as a whole or not at all.
    for line, joint in joined:
        if joint == " " and taken.get(line) == " ":
            taken |= {other: j for other, j in joined if other > line and _same_body(joined, line, other)}
    for line in sorted(taken, reverse=True):
        if line - 1 in range(1, len(lines)) and (line in taken):
            lines[line - 2 : line] = [lines[line - 2].rstrip("\n") + taken[line] + lines[line - 1].lstrip()]
    changed = "".join(lines)
    return changed if _means(changed, text) else text


def _is_bare(statement: ast.stmt, lines: list[str]) -> bool:
    """Whether a statement is simple, in one line, and nothing stands beside it."""
    is_simple = not hasattr(statement, "body") and statement.lineno == statement.end_lineno
    return is_simple and "#" not in lines[statement.lineno - 1] and statement.lineno > 1


def _same_body(joined: list[tuple[int, str]], first: int, other: int) -> bool:
    """Whether the lines between are all to be joined."""
    known = {line for line, _ in joined}
    return all(line in known for line in range(first, other + 1))


def _means(changed: str, text: str) -> bool:
    try:
        return ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def continued(text: str, chance: random.Random) -> str:
    """Assignments go on in the next line behind a backslash."""
    lines = text.splitlines(keepends=True)
    found = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign) and n.value.lineno == n.lineno]
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        if line.isascii() and chance.random() < 0.4:
            lines[node.lineno - 1] = f"{line[: node.value.col_offset]}\\\n      {line[node.value.col_offset :]}"
    return "".join(lines)


def fed(text: str, chance: random.Random) -> str:
    """Form feeds above definitions, and in front of them."""

    def change(line: str) -> str:
        if line.lstrip().startswith(("class ", "def ", "@")) and chance.random() < 0.4:
            return chance.choice(["\f", "\f\n"]) + line if line[0] != " " else "\f" + line
        return line

    return _each_line(text, change)


def blank_lines_with_blanks(text: str, chance: random.Random) -> str:
    """Blanks and tabs in blank lines."""
    return _each_line(text, lambda line: chance.choice(["\n", "   \n", "\t\n", "\n\n"]) if line == "\n" else line)


def with_carriage_returns(text: str, chance: random.Random) -> str:
    """The line ends of Windows."""
    return text.replace("\n", "\r\n")


def without_an_end(text: str, chance: random.Random) -> str:
    """No line end behind the last line."""
    return text.rstrip("\n")


def in_latin(text: str, chance: random.Random) -> str:
    """Another encoding, which the first line names."""
    return f"# -*- coding: latin-1 -*-\n# für\n{text}" if all(ord(c) < 256 for c in text) else text


def marked(text: str, chance: random.Random) -> str:
    """A byte order mark, and what is beyond ASCII."""
    return f"\ufeff# größer λ 😀\n{text}"


# In this order: those behind work on the text of those before.
FORMS: list[Form] = [
    in_one_line,
    continued,
    commented,
    indented_otherwise,
    blank_lines_with_blanks,
    fed,
]
LAST: list[list[Form]] = [[], [], [marked], [in_latin], [with_carriage_returns], [without_an_end]]


def laid_anew(text: str, chance: random.Random) -> bytes:
    """Return a text in another layout, with the same meaning."""
    for form in FORMS:
        if chance.random() < 0.6:
            text = form(text, chance)
    is_latin = False
    for form in chance.choice(LAST) + [with_carriage_returns] * (chance.random() < 0.2):
        text = form(text, chance) if "\r" not in text else text
        is_latin = is_latin or text.startswith("# -*- coding: latin-1")
    return text.encode("latin-1" if is_latin else "utf-8")
