"""Faults put into real model files by editing their text, each in three spellings or more.

Unlike the mutations of the example, an injection does not know the file: it finds its place in whatever real text it is
given and says ``None`` where there is none. It also says what the repair must make of it, as far as that is fixed to
the letter. ``test_fix_round_trip.py`` applies and judges them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MODEL = "model"
PACKAGE = "package"
REGISTRY = "registry"
LAYERS = "layers"


@dataclass(frozen=True)
class Injected:
    """A faulty text, and the text that its repair gives: often the original, ``None`` where more than one is right."""

    text: str
    after: str | None = None


@dataclass(frozen=True)
class Injection:
    """One spelling of one fault.

    ``inject`` takes a file's text and the name of the class, and returns what it made of it, or ``None`` where the
    file has no place for this fault. ``into`` says which file it wants: the model's module, the ``__init__.py`` of the
    model package, the registry, or the module that allocates what the model pins. ``brings`` are codes that may stand
    beside the injected one because the contracts say so, ``leaves`` those of them that no repair mends. ``about`` are
    codes that must be asked about as well, for the injected one to be found or to be mended.
    """

    code: str
    name: str
    inject: Callable[[str, str], Injected | None]
    into: str = MODEL
    brings: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    about: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.code}-{self.name}"


@dataclass(frozen=True)
class Target:
    """A real class: its model package, its name, why it was chosen, and the module that allocates fp32 tensors."""

    package: str
    cls: str
    why: str
    layers: str | None = None

    def path(self, into: str) -> str | None:
        """Return the file that an injection wants, below the checkout; ``None`` where there is none."""
        if into == REGISTRY:
            return "nemo_automodel/_transformers/registry.py"
        names = {MODEL: "model.py", PACKAGE: "__init__.py", LAYERS: self.layers}
        return f"nemo_automodel/components/models/{self.package}/{names[into]}" if names[into] else None
