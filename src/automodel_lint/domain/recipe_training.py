"""What a recipe says about training: its batches, and the dtype that it keeps its weights in."""

from __future__ import annotations

from typing import Any

from automodel_lint.domain.recipe import UNKNOWN, Recipe
from automodel_lint.findings import Span

_ADAM = ("torch.optim.Adam", "torch.optim.AdamW", "torch.optim.adam.Adam", "torch.optim.adamw.AdamW")
_FP32 = frozenset({"float32", "torch.float32", "fp32", "float", "torch.float"})
_DTYPES = ("dtype", "torch_dtype")


def undivided(recipe: Recipe) -> tuple[Span, int, int, int, int] | None:
    """Return where the global batch is not made of whole local ones: the place, both batches, the size, their product.

    The data-parallel size is the one that the recipe fixes, or what it must at least be a multiple of; else 1.
    """
    whole, local = _count(recipe, "global_batch_size"), _count(recipe, "local_batch_size")
    if whole is None or local is None:
        return None
    size = next((s[0] for name in ("dp", "dp_replicate") if (s := recipe.axis(name)) and s[0] > 0), 1)
    product = local[0] * size
    return None if whole[0] % product == 0 else (whole[1], whole[0], local[0], size, product)


def _count(recipe: Recipe, name: str) -> tuple[int, Span] | None:
    found = recipe.get(f"step_scheduler.{name}")
    value = None if found is None else found.value
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return (value, found.span) if found is not None and is_count else None


def lacks_fp32_weights(recipe: Recipe) -> tuple[Span, str, str, str] | None:
    """Return where a recipe that trains all parameters with Adam should ask for fp32 weights.

    That is the place, the targets of optimizer and model, and the dtype that it asks for instead, if it does.

    ``None`` for one that does ask, that leaves the dtype to the run, or that trains adapters or quantised weights.
    """
    optimizer, model = recipe.get("optimizer._target_"), recipe.get("model._target_")
    if optimizer is None or model is None or optimizer.node.text not in _ADAM:
        return None
    if any(_is_on(recipe, section) for section in ("peft", "quantization", "qat", "fp8", "model.quantization_config")):
        return None
    for section in ("model", "model.config"):
        for name in _DTYPES:
            found = recipe.get(f"{section}.{name}")
            if found is None:
                continue
            if found.value is UNKNOWN or found.value in _FP32:
                return None
            return found.span, optimizer.node.text, model.node.text or "", str(found.value)
    return model.span, optimizer.node.text, model.node.text or "", ""


def _is_on(recipe: Recipe, section: str) -> bool:
    """Whether a section is there and neither empty nor switched off."""
    found = recipe.get(section)
    if found is None:
        return False
    switch: Any = recipe.get(f"{section}.enabled")
    return found.value is True or (bool(found.node.entries) and (switch is None or switch.value is not False))
