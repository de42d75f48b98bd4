"""What the runner of a GitHub workflow does with the output of a step, after its source (actions/runner, 2026).

``Handlers/OutputManager.cs`` hands over each line, ``ActionCommandManager.cs`` and ``ActionCommand.cs`` look for a
command in it: first of the form ``::name key=value,key=value::data``, then ``##[name key=value;key=value]data``. Their
comparisons (``StartsWith``, ``IndexOf`` of texts) are those of a language: characters without weight in sorting are
passed over. With such characters in between the runner then takes the wrong letters for the name; here it is taken to
read what was meant, so that nothing hangs on that.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

REGISTERED = """internal-set-repo-path set-env set-output save-state add-mask add-path add-matcher remove-matcher debug
warning error notice group endgroup echo stop-commands""".split()
# Without weight, though of other categories than "control" and "format".
WEIGHTLESS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)}
WEIGHTLESS |= {*range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)}
MESSAGE = {"%0D": "\r", "%0A": "\n", "%25": "%"}
PROPERTY = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
OLD = {"%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]", "%25": "%"}


@dataclass(frozen=True)
class Command:
    """A command as the runner understood it."""

    name: str
    properties: dict[str, str]
    data: str


def commands(output: str) -> list[Command]:
    """Return the commands that a runner obeys in the output of a step."""
    found = []
    stopped = None
    for line in re.split(r"\r\n|\r|\n", output):
        names = {*REGISTERED, stopped}
        command = _new_form(line, names) or _old_form(line, names)
        if command is None or (stopped is not None and command.name != stopped):
            continue
        if command.name == stopped:
            stopped = None
        elif command.name == "stop-commands":
            stopped = command.data.lower()
        found.append(command)
    return found


def _new_form(line: str, names: set[str | None]) -> Command | None:
    text = line.lstrip()
    if _index(text, "::", 0, at_start=True) != 0:
        return None
    end = _index(text, "::", 2)
    if end < 0:
        return None
    name, _, properties = text[2:end].partition(" ")
    name = _bare(name)
    if name.lower() not in names:
        return None
    pairs = [part.partition("=") for part in properties.strip().split(",")]
    told = {key: _unescaped(value.removeprefix("="), PROPERTY) for key, _, value in pairs if key and value}
    return Command(name.lower(), told, _unescaped(text[end + 2 :], MESSAGE))


def _old_form(line: str, names: set[str | None]) -> Command | None:
    start = _index(line, "##[", 0)
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, properties = line[start + 3 : end].partition(" ")
    name = _bare(name)
    if name.lower() not in names:
        return None
    pairs = [part.partition("=") for part in properties.split(";")]
    told = {key: _unescaped(value, OLD) for key, _, value in pairs if key and value}
    return Command(name.lower(), told, _unescaped(line[end + 1 :], OLD))


def _bare(name: str) -> str:
    return "".join(character for character in name if not _weightless(character)).lstrip(":#[")


def _index(text: str, sought: str, start: int, at_start: bool = False) -> int:
    """Where a text is found, by a comparison that passes over characters without weight; -1 if nowhere."""
    weighty = [number for number in range(start, len(text)) if not _weightless(text[number])]
    found = "".join(text[number] for number in weighty).find(sought)
    if found < 0 or (at_start and found):
        return -1
    return 0 if at_start else weighty[found]


def _weightless(character: str) -> bool:
    if ord(character) in WEIGHTLESS:
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") and not character.isspace()


def _unescaped(text: str, escapes: dict[str, str]) -> str:
    for escape, meant in escapes.items():
        text = text.replace(escape, meant)
    return text
