"""The families of architectures, as pages, files and checkpoints name them: ``Qwen3.5-MoE``, ``qwen3_5_moe``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from automodel_lint.domain.plan import Registration

_TASK = re.compile(r"_*(?:For[A-Z]\w*|Bidirectional\w*|\w*LMHeadModel|Model)$")


class Families:
    """The families of the registered architectures: their names without the task, and those of their packages."""

    def __init__(self, registrations: Iterable[Registration]):
        self._members: dict[str, list[str]] = {}
        for entry in registrations:
            module = entry.module.split(".")
            package = module[module.index("models") + 1] if "models" in module[:-1] else ""
            for name in {stem(entry.key), _plain(package)} - {""}:
                self._members.setdefault(name, []).append(entry.key)
        longest_first = sorted(self._members, key=len, reverse=True)
        spelled = "|".join(r"[ ._-]?".join(map(re.escape, name)) for name in longest_first)
        # A family that ends in a number is another one where the number goes on: Qwen3 is not Qwen3.5. What a slash
        # follows is an organisation, or a folder.
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{spelled})(?![A-Za-z0-9/]|(?<=\d)[._]\d)".encode(), re.I)

    def named(self, text: bytes | str) -> list[str]:
        """Return the architectures whose family a text names; at each place the longest name counts."""
        data = text if isinstance(text, bytes) else text.encode()
        matches = self._pattern.finditer(data) if self._members else ()
        return [name for match in matches for name in self._members[_plain(match[0].decode())]]

    def called(self, name: str) -> list[str]:
        """Return the architectures whose family has exactly this name, separators apart."""
        return self._members.get(_plain(name), [])


def stem(architecture: str) -> str:
    """Return the name of an architecture without its task, as it is compared: ``qwen3moe``."""
    return _plain(_TASK.sub("", architecture))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
