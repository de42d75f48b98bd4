"""NAM704: masks and media that are accepted and lost."""

from __future__ import annotations

from . import BASE, PACKAGE, Edit, Fault, Harmless, model
from .casts import indented
from .forward import DEF, HIDDEN
from .policy import CEDAR, FIR, LARCH

JUNIPER, HAWTHORN = model("juniper"), model("hawthorn")
MASK = ", attention_mask=attention_mask"
VISIBLE = "        visible = build_attention_mask(hidden, attention_mask, causal=True)\n"
ATTENTION = f"{PACKAGE}/components/models/common/attention.py"
TOWER = "            image_states = self.projector(self.vision_tower(pixel_values)).flatten(0, 1)\n"


def unused(name: str, path: str, old: str, new: str, *more: Edit, at: str = DEF, where: str = "") -> Fault:
    """Something in a ``forward`` or behind it no longer gets, or no longer uses, what it should."""
    return Fault("NAM704", name, (Edit(path, old, new), *more), at=at, path=where)


def prepared(name: str, *lines: str) -> Fault:
    """Fir does something with the mask that is no use of it, and hands on nothing."""
    return unused(name, FIR, HIDDEN, indented(*lines) + HIDDEN.replace(MASK, ""))


FAULTS = [
    unused("not-handed-on", FIR, HIDDEN, HIDDEN.replace(MASK, "")),
    unused("another-is-handed-on", FIR, HIDDEN, HIDDEN.replace("=attention_mask", "=None")),
    unused("in-the-base-of-another-file", BASE, HIDDEN, HIDDEN.replace(MASK, "")),
    unused(
        "in-a-branch-of-the-module",
        JUNIPER,
        "self.model(input_ids, attention_mask=attention_mask)",
        "self.model(input_ids)",
    ),
    prepared("deleted", "del attention_mask"),
    prepared("thrown-away", "_ = attention_mask"),
    prepared("thrown-away-together", "_, _ = attention_mask, kwargs"),
    prepared("renamed", "mask = attention_mask"),
    prepared("filled-where-missing", "if attention_mask is None:", "    attention_mask = torch.ones_like(input_ids)"),
    prepared("bound-anew", "attention_mask = None", "print(attention_mask is None)"),
    unused("lost-in-the-backbone", FIR, VISIBLE, VISIBLE.replace("attention_mask,", "None,")),
    unused(
        "lost-in-a-shared-function",
        ATTENTION,
        "    if attention_mask is not None:\n        visible = visible & attention_mask[:, None, None, :].bool()\n",
        "",
        at="def build_attention_mask(",
    ),
    unused(
        "images-not-handed-on",
        CEDAR,
        "self.model(input_ids, pixel_values, attention_mask=attention_mask",
        "self.model(input_ids, attention_mask=attention_mask",
    ),
    unused(
        "images-lost-behind",
        CEDAR,
        "        if pixel_values is not None:\n" + TOWER,
        "        if self.training:\n" + TOWER.replace("pixel_values", "embeds"),
    ),
    unused(
        "a-padding-mask-too",
        FIR,
        "        logits_to_keep: int = 0,\n",
        "        padding_mask: torch.Tensor | None = None,\n        logits_to_keep: int = 0,\n",
    ),
    unused(
        "a-grid-for-the-images",
        CEDAR,
        "        logits_to_keep: int = 0,\n",
        "        image_grid_thw: torch.Tensor | None = None,\n        logits_to_keep: int = 0,\n",
    ),
]


def _harmless(name: str, why: str, *lines: str) -> Harmless:
    return Harmless("NAM704", name, (Edit(FIR, HIDDEN, indented(*lines)),), why)


MODEL = HIDDEN.strip()
HARMLESS = [
    _harmless("by-position", "it is handed on", "hidden = self.model(input_ids, attention_mask, position_ids)"),
    _harmless(
        "in-a-dict",
        "it is handed on",
        'inputs = {"attention_mask": attention_mask}',
        "hidden = self.model(input_ids, position_ids=position_ids, **inputs)",
    ),
    _harmless(
        "as-locals",
        "it may be in there",
        "known = locals()",
        'hidden = self.model(input_ids, known["attention_mask"], position_ids)',
    ),
    _harmless(
        "refused",
        "the caller learns of it",
        "if attention_mask is not None:",
        "    raise NotImplementedError('no padding')",
        "hidden = self.model(input_ids, position_ids=position_ids)",
    ),
    _harmless(
        "renamed-and-used",
        "it is handed on",
        "mask = attention_mask",
        "hidden = self.model(input_ids, mask, position_ids)",
    ),
    _harmless(
        "applied-here",
        "it is used",
        "hidden = self.model(input_ids, position_ids=position_ids)",
        "hidden = hidden * attention_mask[..., None]",
    ),
    _harmless(
        "to-what-cannot-be-seen",
        "it may be used",
        "from acme_kernels import remember",
        "",
        "remember(attention_mask)",
        "hidden = self.model(input_ids, position_ids=position_ids)",
    ),
    Harmless(
        "NAM704",
        "one-kind-of-layer-needs-none",
        (Edit(HAWTHORN, "self.mixer(normed, visible)", "self.mixer(normed, visible.detach())"),),
        "the other kind has it",
    ),
    Harmless(
        "NAM704",
        "no-mask",
        (
            Edit(
                LARCH,
                "        input_ids: torch.Tensor,\n",
                "        input_ids: torch.Tensor,\n        use_cache: bool = False,\n",
            ),
        ),
        "neither a mask nor a medium",
    ),
]
