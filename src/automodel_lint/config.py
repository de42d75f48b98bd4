"""Settings: ``[tool.automodel-lint]`` in ``pyproject.toml`` or ``automodel-lint.toml``, found upwards from the file."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass, field, fields
from typing import Any

from automodel_lint.findings import Severity

TABLE = "tool.automodel-lint"
OWN_FILE = "automodel-lint.toml"


class ConfigError(Exception):
    """The settings cannot be used; the text starts with file and line."""


@dataclass
class Config:
    """The settings of a checkout.

    ``path`` is the file they come from (``None``: all defaults), ``base`` the folder that paths and globs in them are
    relative to. ``exempt`` maps a code to class names with reasons. ``tiny`` maps an architecture to what
    the probe's tiny configuration of it needs.
    """

    path: str | None = None
    package: str = "nemo_automodel"
    python: str | None = None
    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    per_path_ignores: dict[str, list[str]] = field(default_factory=dict)
    severity: dict[str, Severity] = field(default_factory=dict)
    exempt: dict[str, dict[str, str]] = field(default_factory=dict)
    fp32_tensors: list[str] | None = None
    baseline: str | None = None
    fail_on: Severity = Severity.WARNING
    cache_dir: str | None = None
    base_revision: str | None = None
    tiny: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    @property
    def base(self) -> str:
        """The folder of the settings file."""
        return os.path.dirname(self.path) if self.path else os.getcwd()

    def line_of(self, word: str, after: str = "") -> int:
        """Return the first line of our settings that mentions ``word`` (behind ``after``), for messages about it."""
        start = self.text.find(f"[{TABLE}") if self.path and not self.path.endswith(OWN_FILE) else 0
        if after:
            start = max(self.text.find("exempt", max(start, 0)), start)
            start = max(self.text.find(after, max(start, 0)), start)
        match = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", self.text[max(start, 0) :])
        return self.text[: max(start, 0) + match.start()].count("\n") + 1 if match else 1

    def absolute(self, path: str) -> str:
        """Return a path of the settings as an absolute one."""
        return os.path.normpath(os.path.join(self.base, path))


KEYS = [f.name.replace("_", "-") for f in fields(Config) if f.name not in ("path", "tiny", "text")]
TINY_KEYS = ("given", "set", "parts", "arguments", "defaults", "inputs", "image", "not_run", "config_class", "function")


def find(start: str) -> str | None:
    """Return the nearest settings file in ``start`` or a folder above it."""
    folder = os.path.abspath(start)
    while True:
        own = os.path.join(folder, OWN_FILE)
        if os.path.isfile(own):
            return own
        project = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(project) and _has_table(project):
            return project
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _has_table(path: str) -> bool:
    """Whether a ``pyproject.toml`` has our table; one that mentions us and is broken is ours to complain about."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError):
        return False
    if "automodel-lint" not in text:
        return False
    try:
        data = _toml(text)
    except ValueError:
        return re.search(r"^\s*\[\s*tool\s*\.\s*[\"']?automodel-lint", text, re.M) is not None
    tool = data.get("tool")
    return isinstance(tool, dict) and "automodel-lint" in tool


def _toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises a ``ValueError`` with the place in its text."""
    from automodel_lint import toml

    return toml.loads(text)


def load(path: str | None) -> Config:
    """Read a settings file.

    Raises:
        ConfigError: if it cannot be read, is not TOML, or has an unknown key, code or a value of the wrong kind.
    """
    if path is None:
        return Config()
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}:1: cannot be read: {error}") from error
    try:
        data = _toml(text)
    except ValueError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = line[1] if line else len(text.splitlines())
        raise ConfigError(f"{path}:{number}: not valid TOML: {error}") from error
    table = data if path.endswith(OWN_FILE) else data.get("tool", {}).get("automodel-lint", {})
    config = Config(path=path, text=text)
    if not isinstance(table, dict):
        raise ConfigError(f"{path}:{config.line_of('automodel-lint')}: [{TABLE}] must be a table")
    return _Reader(config, table).read()


class _Reader:
    """Checks and takes over one value after the other."""

    def __init__(self, config: Config, table: dict[str, Any]):
        self.config, self.table = config, table

    def read(self) -> Config:
        takers = {
            "select": self._codes,
            "extend-select": self._codes,
            "ignore": self._codes,
            "exclude": self._globs,
            "per-path-ignores": self._per_path,
            "severity": self._severities,
            "exempt": self._exemptions,
            "fp32-tensors": self._names,
            "fail-on": self._severity,
        }
        for key, value in self.table.items():
            if key not in KEYS:
                if key == "probe":
                    self._probe(value)
                    continue
                self._fail(key, f"unknown key {key!r}{closest(key, KEYS)}")
            setattr(self.config, key.replace("-", "_"), takers.get(key, self._text)(key, value))
        return self.config

    def _fail(self, word: str, message: str) -> None:
        line = self.config.line_of(word.rpartition(".")[2] if word.startswith("exempt.") else word)
        raise ConfigError(f"{self.config.path}:{line}: {message}")

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            self._fail(key, f"{key} must be a text")
        return value

    def _texts(self, key: str, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self._fail(key, f"{key} must be a list of texts")
        return value

    def _names(self, key: str, value: Any) -> list[str]:
        for name in self._texts(key, value):
            if not all(part.isidentifier() for part in name.split(".")):
                self._fail(name or key, f"{key}: {name!r} is not the name of a tensor")
        return value

    def _globs(self, key: str, value: Any) -> list[str]:
        patterns = self._texts(key, value)
        for pattern in patterns:
            self._glob(key, pattern)
        return patterns

    def _glob(self, key: str, pattern: str) -> None:
        import pathspec

        try:
            pathspec.GitIgnoreSpec.from_lines([pattern])
        except Exception as error:  # whatever the library finds wrong with it
            self._fail(pattern, f"{key}: {pattern!r} is no pattern: {error}")

    def _codes(self, key: str, value: Any) -> list[str]:
        values = self._texts(key, value)
        for code in values:
            problem = unknown_code(code)
            if problem:
                self._fail(code, f"{key}: {problem}")
        return values

    def _code(self, key: str, code: str) -> None:
        problem = unknown_code(code)
        if problem:
            self._fail(code, f"{key}: {problem}")

    def _table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(key, f"{key} must be a table")
        return value

    def _per_path(self, key: str, value: Any) -> dict[str, list[str]]:
        for glob in self._table(key, value):
            self._glob(key, glob)
        return {glob: self._codes(f"{key}.{glob}", codes) for glob, codes in value.items()}

    def _severity(self, key: str, value: Any) -> Severity:
        try:
            return Severity.parse(value)
        except (KeyError, AttributeError):
            self._fail(key, f"{key}: unknown severity {value!r}: known are {', '.join(map(str, Severity))}")
            raise

    def _severities(self, key: str, value: Any) -> dict[str, Severity]:
        found = {}
        for code, word in self._table(key, value).items():
            self._code(key, code)
            found[code] = self._severity(code, word)
        return found

    def _probe(self, table: Any) -> None:
        """``[tool.automodel-lint.probe.tiny]``: by architecture what its tiny configuration needs."""
        for key, value in self._table("probe", table).items():
            if key != "tiny":
                self._fail(key, f"probe: unknown key {key!r}; known is tiny")
            for name, recipe in self._table("probe.tiny", value).items():
                if isinstance(recipe, str):  # the short form: a function that returns the configuration
                    recipe = {"function": recipe}
                for word in self._table(f"probe.tiny.{name}", recipe):
                    if word not in TINY_KEYS:
                        self._fail(word, f"probe.tiny.{name}: unknown key {word!r}{closest(word, list(TINY_KEYS))}")
                function = recipe.get("function")
                if function is not None and (not isinstance(function, str) or function.count(":") != 1):
                    self._fail(name, f'probe.tiny.{name}: a function is given as "module:function"')
                self.config.tiny[name] = recipe

    def _exemptions(self, key: str, value: Any) -> dict[str, dict[str, str]]:
        for code, classes in self._table(key, value).items():
            self._code(key, code)
            for name, reason in self._table(f"{key}.{code}", classes).items():
                if not isinstance(reason, str) or not reason.strip():
                    self._fail(name, f"exempt.{code}.{name} needs a reason")
        return value


def closest(word: str, known: list[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, an empty text if none is near."""
    near = difflib.get_close_matches(word, known, 1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown_code(code: str) -> str | None:
    """Return what is wrong with a code or prefix of codes, ``None`` if it stands for at least one rule."""
    from automodel_lint.pages import pages

    known = pages()
    if any(known_code.startswith(code) for known_code in known) and code:
        return None
    names = {page.name: page.code for page in known.values()}
    if code in names:
        return f"rules are selected by code; {code} is {names[code]}"
    return f"unknown rule code {code!r}{closest(code, list(known))}"
