"""What the editor sets: codes, interpreter, whether doubtful repairs are offered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SECTION = "automodel-lint"


class BadSetting(Exception):
    """A setting of the editor has the wrong kind; the text names it."""


@dataclass(frozen=True)
class Settings:
    """The editor's settings, which stand above those of the checkout."""

    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    python: str | None = None
    unsafe_fixes: bool = True

    @classmethod
    def read(cls, data: Any) -> Settings:
        """Take over what a client sends, alone or under our name; raises :class:`BadSetting`.

        Names are written as in the settings file (``extend-select``) or as editors do (``extendSelect``).
        """
        if isinstance(data, dict) and isinstance(data.get(SECTION), dict):
            data = data[SECTION]
        if data is None:
            return cls()
        if not isinstance(data, dict):
            raise BadSetting("the settings of automodel-lint must be an object")
        found = {key.replace("-", "").replace("_", "").lower(): value for key, value in data.items()}
        return cls(
            _codes(found, "select", None),
            _codes(found, "extendselect", []),
            _codes(found, "ignore", []),
            _of_kind(found, "python", str, None),
            _of_kind(found, "unsafefixes", bool, True),
        )


def _codes(found: dict[str, Any], key: str, default: Any) -> Any:
    codes = _of_kind(found, key, list, default)
    if codes is not None and not all(isinstance(code, str) for code in codes):
        raise BadSetting(f"{key} must be a list of codes")
    return None if codes is None else [code.strip().upper() for code in codes]


def _of_kind(found: dict[str, Any], key: str, kind: type, default: Any) -> Any:
    value = found.get(key)
    if value is None or value == "":
        return default
    if not isinstance(value, kind):
        raise BadSetting(f"{key} must be a {kind.__name__}, not {value!r}")
    return value
