"""What a recipe says of the model that it trains, as far as that tells which one it is and how it is spread."""

from __future__ import annotations

import os
from dataclasses import dataclass

from automodel_lint.domain.recipe import Recipe
from automodel_lint.source import digest

AXES = ("tp", "cp", "pp", "ep")
_MODEL = ("model", "model.config")
_KNOWN: dict[str, Subject] = {}  # by what tells them; the language server looks at the same recipes after every key


@dataclass(frozen=True)
class Subject:
    """The model of a recipe.

    ``path`` is relative, ``line`` that of the checkpoint, else of the first target. ``checkpoint`` is the Hugging Face
    id or folder, ``targets`` the ``_target_`` of the model and of its config. ``axes`` are the sizes above 1.
    ``is_ours`` is false where the recipe asks for the implementation of transformers.
    """

    path: str
    line: int
    checkpoint: str | None
    targets: tuple[str, ...]
    axes: tuple[tuple[str, int], ...]
    is_ours: bool

    @property
    def file(self) -> str:
        """The name of the file without its ending."""
        return os.path.splitext(os.path.basename(self.path))[0]


def subject_of(recipe: Recipe) -> Subject:
    """Return the model that a recipe trains."""
    data = recipe.project.tree.read(recipe.path) or b""
    key = f"{recipe.relative}:{digest(data)}"
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) > 4000:
            _KNOWN.clear()
        known = _KNOWN[key] = _read(recipe)
    return known


def _read(recipe: Recipe) -> Subject:
    found = [recipe.get(f"{section}.pretrained_model_name_or_path") for section in _MODEL]
    named = [s for s in found if s is not None and isinstance(s.value, str)]
    targets = [s for s in (recipe.get(f"{section}._target_") for section in _MODEL) if s is not None and s.node.text]
    texts = tuple(s.node.text or "" for s in targets)
    sizes = [(name, recipe.axis(name)) for name in AXES]
    forced = recipe.get("model.force_hf")
    return Subject(
        recipe.relative,
        next((s.span.line for s in (*named, *targets)), 1),
        named[0].value if named else None,
        texts,
        tuple((name, size[0]) for name, size in sizes if size is not None and size[0] > 1),
        not (forced is not None and forced.value is True) and not any(_is_of_hf(text) for text in texts[:1]),
    )


def _is_of_hf(target: str) -> bool:
    return target.startswith("transformers.")
