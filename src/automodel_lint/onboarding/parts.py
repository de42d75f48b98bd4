"""The configs inside a config: the outer one, its language model, towers for images and sound, what speaks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from automodel_lint.onboarding.config_file import ConfigFile, clean, kind_of

OUTER, TEXT, VISION, AUDIO, VIDEO, SPEECH, IMAGES, DRAFT = (
    "outer",
    "text",
    "vision",
    "audio",
    "video",
    "speech-output",
    "image-output",
    "draft",
)
# The first word of a nested config's key says what it is for; the rest may only say that it is a model.
_ROLES = {
    "text": TEXT,
    "llm": TEXT,
    "language": TEXT,
    "lm": TEXT,
    "decoder": TEXT,
    "vision": VISION,
    "visual": VISION,
    "vit": VISION,
    "image": VISION,
    "audio": AUDIO,
    "speech": AUDIO,
    "sound": AUDIO,
    "video": VIDEO,
    "talker": SPEECH,
    "token2wav": SPEECH,
    "code2wav": SPEECH,
    "vocoder": SPEECH,
    "vae": IMAGES,
    "mtp": DRAFT,
    "draft": DRAFT,
}
_TELLING = {"patch_size": VISION, "image_size": VISION, "num_mel_bins": AUDIO, "n_mels": AUDIO}
_REST = frozenset(("", "config", "model", "backbone", "tower", "encoder", "cfg"))
_CONTAINERS = ("thinker_config",)
_MOST = 10**15  # what no size of a model reaches


class Field(NamedTuple):
    """A field that is stated: its dotted path and its value, which is never ``None``."""

    path: str
    value: Any


def brief(value: Any) -> Any:
    """Return a value as it can be shown beside the name of its field: a long list or an object is only counted."""
    if isinstance(value, list):
        return f"{len(value)} entries" if len(value) > 6 else clean(", ".join(map(str, value)))
    if isinstance(value, str):
        return clean(value)
    return f"{len(value)} fields" if isinstance(value, dict) else value


@dataclass(frozen=True)
class Part:
    """One config, the outer one or one inside it.

    Attributes:
        path: its dotted path, empty for the outer one.
        role: what it is the config of (one of the constants of this module).
        data: its fields.
        file: the file that it stands in.
    """

    path: str
    role: str
    data: dict[str, Any]
    file: ConfigFile

    def at(self, name: str) -> str:
        """Return the dotted path of one of its fields."""
        return f"{self.path}.{clean(name)}" if self.path else clean(name)

    def get(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated and not null."""
        for name in names:
            if self.data.get(name) is not None:
                value = self.data[name]
                return Field(self.at(name), clean(value) if isinstance(value, str) else value)
        return None

    def number(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated; raises :class:`ConfigProblem` if it is no number."""
        found = self.get(*names)
        if found is None:
            return None
        number = isinstance(found.value, (int, float)) and not isinstance(found.value, bool)
        if not number or not math.isfinite(found.value) or abs(found.value) > _MOST:
            self._refuse(found, "a number")
        return found

    def size(self, *names: str) -> Field | None:
        """Return the first of these fields as a whole number that is not negative.

        Raises:
            ConfigProblem: if it is something else.
        """
        found = self.number(*names)
        if found is None:
            return None
        if found.value < 0 or found.value != int(found.value):
            self._refuse(found, "a whole number that is not negative", said=str(found.value))
        return Field(found.path, int(found.value))

    def sizes(self, *names: str) -> Field | None:
        """Return the first of these fields as a list of sizes, one of each layer, or a list of one for all of them.

        Raises:
            ConfigProblem: if it is neither a size nor a list of such; ``null`` in a list is nothing.
        """
        found = self.get(*names)
        if found is None or not isinstance(found.value, list):
            one = self.size(*names)
            return None if one is None else Field(one.path, [one.value])
        values = []
        for value in found.value:
            if isinstance(value, bool) or not isinstance(value, (int, float, type(None))) or (value or 0) < 0:
                self._refuse(found, "a number or a list of numbers", said=f"a list with {kind_of(value)} in it")
            values += [] if value is None else [int(value)]
        return Field(found.path, values) if values else None

    def flag(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated; raises :class:`ConfigProblem` if it is no truth value."""
        found = self.get(*names)
        if found is not None and not isinstance(found.value, bool):
            self._refuse(found, "true or false")
        return found

    def text(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated; raises :class:`ConfigProblem` if it is no text."""
        found = self.get(*names)
        if found is not None and not isinstance(found.value, str):
            self._refuse(found, "a text")
        return found

    def table(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated; raises :class:`ConfigProblem` if it is no object."""
        found = self.get(*names)
        if found is not None and not isinstance(found.value, dict):
            self._refuse(found, "an object")
        return found

    def entries(self, *names: str) -> Field | None:
        """Return the first of these fields that is stated; raises :class:`ConfigProblem` if it is no list."""
        found = self.get(*names)
        if found is not None and not isinstance(found.value, list):
            self._refuse(found, "a list")
        return found

    def says(self, name: str, value: bool) -> Field | None:
        """Return a field if it is stated as just this truth value, and ``None`` whatever else it is."""
        return Field(self.at(name), value) if self.data.get(name) is value else None

    def _refuse(self, found: Field, wanted: str, said: str | None = None) -> None:
        self.file.refuse(found.path, f"must be {wanted}, and is {said or kind_of(found.value)}")


@dataclass(frozen=True)
class Parts:
    """All configs of a file.

    ``backbone`` is the one of the language model: the outer one where it has no config of its own.
    """

    outer: Part
    nested: tuple[Part, ...]
    backbone: Part

    def of(self, role: str) -> list[Part]:
        """Return the nested configs of a role."""
        return [part for part in self.nested if part.role == role]

    def __iter__(self) -> Iterator[Part]:
        yield self.outer
        yield from self.nested


def parts_of(file: ConfigFile) -> Parts:
    """Return the configs of a file; raises :class:`ConfigProblem` where a nested one is no object."""
    outer = Part("", OUTER, file.data, file)
    nested = tuple(_nested(outer))
    texts = [part for part in nested if part.role == TEXT]
    sized = [part for part in texts if part.get(*LAYERS) or part.get(*HIDDEN)]
    if sized:
        backbone = sized[0]
    elif texts and not (outer.get(*LAYERS) or outer.get(*HIDDEN)):
        backbone = texts[0]
    else:
        backbone = outer
    return Parts(outer, nested, backbone)


def role_of(key: str) -> str | None:
    """Return what a key of a nested config says that it is for; ``None`` for a table of options."""
    first, *rest = key.removesuffix("_config").removesuffix("_cfg").split("_")
    return _ROLES.get(first) if all(word in _REST for word in rest) else None


def _role_by_fields(value: Any) -> str | None:
    """What a nested config is for whose key does not say so (an ``encoder`` may be of images)."""
    if not isinstance(value, dict):
        return None
    return next((role for name, role in _TELLING.items() if value.get(name) is not None), None)


def _nested(part: Part) -> Iterator[Part]:
    for key, value in part.data.items():
        if key in _CONTAINERS:
            found = part.table(key)
            if found is not None:
                yield from _nested(Part(found.path, OUTER, found.value, part.file))
            continue
        role = role_of(key) or _role_by_fields(value)
        if role is None or value is None or (not key.endswith("config") and not isinstance(value, dict)):
            continue
        if isinstance(value, str):  # the name of a tower, or of a file
            continue
        found = part.table(key)
        if found is not None:
            inner = Part(found.path, role, found.value, part.file)
            yield inner
            yield from _nested(inner)


# -- what sizes are called --------------------------------------------------------------------------------------------

HIDDEN = ("hidden_size", "n_embd", "d_model", "model_dim", "dim")
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers")
