"""The base of all configurations: keyword fields, and a JSON file to keep them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONFIG_FILE = "config.json"


class AcmePretrainedConfig:
    """Fields that every model has; subclasses add theirs as keyword arguments and pass the rest on."""

    model_type = ""

    def __init__(
        self,
        *,
        tie_word_embeddings: bool = False,
        dtype: str = "float32",
        initializer_range: float = 0.02,
        architectures: list[str] | None = None,
        **extra: Any,
    ):
        self.tie_word_embeddings = tie_word_embeddings
        self.dtype = dtype
        self.initializer_range = initializer_range
        self.architectures = architectures
        # A checkpoint may carry fields that only its own authors read; they must survive a save.
        extra.pop("model_type", None)
        for name, value in extra.items():
            setattr(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        fields = {
            name: value.to_dict() if isinstance(value, AcmePretrainedConfig) else value
            for name, value in vars(self).items()
        }
        return {"model_type": self.model_type, **fields}

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, **overrides: Any) -> AcmePretrainedConfig:
        """Read ``config.json`` of a folder; keyword arguments replace what the file says."""
        text = (Path(pretrained_model_name_or_path) / CONFIG_FILE).read_text(encoding="utf-8")
        return cls(**{**json.loads(text), **overrides})

    def save_pretrained(self, save_directory: str | Path) -> None:
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG_FILE).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
