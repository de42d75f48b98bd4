"""What a config says about the head and the embedding being one weight, and where it says so."""

from __future__ import annotations

from dataclasses import dataclass

from automodel_lint.onboarding.parts import SPEECH, Field, Parts

FLAG = "tie_word_embeddings"


@dataclass(frozen=True)
class TieFlag:
    """The flags of a config; only what stands in the file counts, no default of a class.

    Attributes:
        value: what holds: the outer flag, else the nested one of the language model; ``None`` if neither is stated.
        place: ``outer``, ``nested``, ``both``, or ``absent``.
        fields: every flag of the language model, the outer one first.
        contradicts: whether the outer and the nested flag differ.
    """

    value: bool | None
    place: str
    fields: tuple[Field, ...]
    contradicts: bool


def tie_flag(parts: Parts) -> TieFlag:
    """Return what a config says of weight tying; raises :class:`ConfigProblem` if a flag is no truth value."""
    outer = parts.outer.flag(FLAG)
    spoken = [part.path for part in parts.of(SPEECH)]
    nested: list[Field] = []
    for part in parts.nested:
        inside = part.path in spoken or any(part.path.startswith(f"{path}.") for path in spoken)
        found = part.flag(FLAG) if part.role == parts.backbone.role and not inside else None
        if found is not None:
            nested.append(found)
    nested += [field for field in _containers(parts) if field not in nested]
    nested.sort(key=lambda field: field.path != parts.backbone.at(FLAG))
    fields = ((outer,) if outer is not None else ()) + tuple(nested)
    place = "both" if outer and nested else "outer" if outer else "nested" if nested else "absent"
    value = fields[0].value if fields else None
    return TieFlag(value, place, fields, outer is not None and any(f.value is not outer.value for f in nested))


def _containers(parts: Parts) -> list[Field]:
    """The flag of a config that only holds others, such as that of a thinker."""
    table = parts.outer.data.get("thinker_config")
    value = table.get(FLAG) if isinstance(table, dict) else None
    return [Field(f"thinker_config.{FLAG}", value)] if isinstance(value, bool) else []
