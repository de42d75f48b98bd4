"""NAM703: models that fetch staged media in a ``forward`` that a pipeline replaces."""

from __future__ import annotations

from . import BASE, Edit, Fault, Harmless
from .casts import indented
from .policy import CEDAR

HIDDEN = (
    "        hidden = self.model(input_ids, pixel_values, attention_mask=attention_mask, position_ids=position_ids)\n"
)
PP = "        supports_pp: bool = False\n"
CLASS = "class CedarForConditionalGeneration("
CONFIG_CLASS = "    config_class = CedarConfig\n"
EMBEDDINGS = "    def get_input_embeddings(self) -> nn.Module:\n"
CHUNK = ("if pixel_values is None:", "    pixel_values = self._vlm_pixel_values_chunks[self._vlm_chunk_idx]")
RUNS = Edit(CEDAR, PP, PP.replace("False", "True"))


def _fetching(*lines: str) -> Edit:
    return Edit(CEDAR, HIDDEN, indented(*lines) + HIDDEN)


def fetches(name: str, *lines: str, more: tuple[Edit, ...] = (), runs: Edit = RUNS) -> Fault:
    """Cedar's ``forward`` fetches its images in one or another way, and the class runs in pipelines."""
    return Fault("NAM703", name, (_fetching(*lines), runs, *more), at=CLASS)


FAULTS = [
    fetches("read", *CHUNK),
    fetches(
        "by-getattr",
        'chunks = getattr(self, "_vlm_pixel_values_chunks", None)',
        "if chunks:",
        "    pixel_values = chunks[0]",
    ),
    fetches("another-medium", "grids = self._vlm_image_grid_hws_chunks", "print(grids)"),
    fetches(
        "in-a-method",
        "pixel_values = self._staged() if pixel_values is None else pixel_values",
        more=(
            Edit(
                CEDAR,
                EMBEDDINGS,
                f"    def _staged(self):\n        return self._vlm_pixel_values_chunks[0]\n\n{EMBEDDINGS}",
            ),
        ),
    ),
    fetches("said-no", *CHUNK, more=(Edit(CEDAR, CONFIG_CLASS, f"{CONFIG_CLASS}    _pp_keep_self_forward = False\n"),)),
    fetches(
        "flag-misspelled",
        *CHUNK,
        more=(Edit(CEDAR, CONFIG_CLASS, f"{CONFIG_CLASS}    _pp_keeps_self_forward = True\n"),),
    ),
    fetches(
        "through-field",
        *CHUNK,
        runs=Edit(CEDAR, PP, "        supports_pp: bool = field(default=True)\n"),
        more=(Edit(CEDAR, "from dataclasses import dataclass\n", "from dataclasses import dataclass, field\n"),),
    ),
]


def _harmless(name: str, why: str, *edits: Edit) -> Harmless:
    return Harmless("NAM703", name, edits, why)


HARMLESS = [
    _harmless("no-pipelines", "it does not run in pipelines", _fetching(*CHUNK)),
    _harmless("no-staged-media", "the forward is any other", RUNS),
    _harmless(
        "keeps-its-forward",
        "it says so",
        _fetching(*CHUNK),
        RUNS,
        Edit(CEDAR, CONFIG_CLASS, f"{CONFIG_CLASS}    _pp_keep_self_forward: bool = True\n"),
    ),
    _harmless(
        "keeps-that-of-its-base",
        "a base says so",
        Edit(
            BASE,
            "        hidden = self.model(",
            "        print(self._vlm_pixel_values_chunks)\n        hidden = self.model(",
        ),
        Edit(
            BASE,
            "class CausalLMBase(HFCheckpointingMixin, nn.Module):\n",
            "class CausalLMBase(HFCheckpointingMixin, nn.Module):\n    _pp_keep_self_forward = True\n",
        ),
    ),
    _harmless("only-put-away", "nothing is read", _fetching("self._vlm_pixel_values_chunks = None"), RUNS),
]
