"""Images for ``forward``: pixel values in the shape that a class's vision tower takes, and tokens in their places.

Towers take images in few ways, see :func:`forms`; which one, and how many tokens an image becomes, is found by
trying. Two images are made, one for each row of the batch, higher than wide where a grid says how large they are.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker.inputs import BATCH, Written, parts, special_ids

IMAGE_TOKENS = ("image_token_id", "image_token_index", "media_placeholder_token_id", "img_context_token_id")
STARTS = ("vision_start_token_id", "image_start_token_id", "boi_token_id", "image_bos_token_id")
ENDS = ("vision_end_token_id", "image_end_token_id", "eoi_token_id", "eoi_token_index")
GRIDS = re.compile(r"image_grid_(thw|hw)s?|grid_(thw|hw)s?")
VISION = re.compile(r".*(vision|visual|vit).*")
SIZES = {
    "patch": ("patch_size", "vit_patch_size", "vision_patch_size", "patch_height"),
    "frames": ("temporal_patch_size", "patch_temporal", "vision_patch_temporal"),
    "channels": ("in_channels", "num_channels", "n_channels", "in_chans"),
    "merge": (
        "spatial_merge_size",
        "merge_size",
        "merge_kernel_size",
        "pooling_kernel_size",
        "vision_downsample_ratio",
    ),
    "image": ("force_image_size", "image_size"),
}


def image_inputs(model: nn.Module, config: Any, recipe: dict[str, Any], seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield keyword arguments for ``forward`` with an image in each row, until a caller finds that one fits.

    ``input_ids`` ``[2, S]`` (int64) hold a token for each feature of the image; pixel values are fp32.
    """
    if "image" in recipe:
        written = Written(config, torch.Generator().manual_seed(seed))
        yield {name: written.value(value) for name, value in recipe["image"].items()}
        return
    names = parameter_names(type(model))
    token = next((name for name in IMAGE_TOKENS if name in special_ids(config)), None)
    if "pixel_values" not in names or token is None:
        return
    beside = {name: Written(config, torch.Generator()).value(value) for name, value in recipe.get("inputs", {}).items()}
    for pixels, counts in forms(config, names, torch.Generator().manual_seed(seed)):
        for count in counts:
            made = {**_sequence(config, token, count, seed), **pixels}
            yield {**beside, **{name: value for name, value in made.items() if name in names}}


def parameter_names(cls: type) -> set[str]:
    """Return the names that ``forward`` takes, those of its bases included if it passes the rest on to them."""
    names: set[str] = set()
    for owner in cls.__mro__:
        if "forward" in vars(owner) and owner is not nn.Module:
            parameters = inspect.signature(inspect.unwrap(vars(owner)["forward"])).parameters
            names |= set(parameters)
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                break
    return names


def forms(config: Any, names: set[str], generator: torch.Generator) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yield pixel arguments, each with the numbers of tokens that an image may become.

    Rows of patches ``[N, C * T * P * P]`` with a grid, patches ``[N, C, P, P]`` with a grid, padded rows
    ``[2, N, C * P * P]`` with positions, or whole images ``[2, C, H, W]`` with or without their sizes.
    """
    size = {kind: _size(config, fields) for kind, fields in SIZES.items()}
    patch, frames, channels, merge = (
        size[k] or d for k, d in (("patch", 14), ("frames", 1), ("channels", 3), ("merge", 1))
    )
    high, wide = 2 * merge, merge
    grid = next((name for name in sorted(names) if GRIDS.fullmatch(name)), None)
    total = BATCH * high * wide
    merged = [high * wide // merge**2, high * wide, 1]

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    if grid:
        edges = torch.tensor([[1, high, wide] if "thw" in grid else [high, wide]] * BATCH)
        yield {"pixel_values": normal(total, channels * frames * patch**2), grid: edges}, merged
        yield {"pixel_values": normal(total, channels, patch, patch), grid: edges}, merged
    if "image_position_ids" in names:
        for step in dict.fromkeys((1, merge)):
            places = torch.cartesian_prod(torch.arange(wide // step), torch.arange(high // step))
            rows = normal(BATCH, len(places), channels * (patch * step) ** 2).sigmoid()
            yield {"pixel_values": rows, "image_position_ids": places.expand(BATCH, -1, -1)}, merged
    edge = size["image"] or 4 * patch
    across = edge // patch
    counts = [max(across // step, 1) ** 2 for step in dict.fromkeys((merge, 2, 1))]
    yield (
        {"pixel_values": normal(BATCH, channels, edge, edge), "image_sizes": torch.tensor([[edge, edge]] * BATCH)},
        counts,
    )


def _sequence(config: Any, token: str, count: int, seed: int) -> dict[str, Any]:
    """Token ids with an image of ``count`` tokens near the start, and what says which they are."""
    known = special_ids(config)
    start, end = (next((name for name in names if name in known), None) for names in (STARTS, ENDS))
    layout = ["* 2", *([start] if start else []), f"{token} {count}", *([end] if end else []), "* 6"]
    ids = Written(config, torch.Generator().manual_seed(seed)).tokens(layout)
    image = ids == known[token]
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "mm_token_type_ids": image.long(),
        "vision_mask": image,
    }


def _size(config: Any, fields: tuple[str, ...]) -> int:
    """The first of ``fields`` that the vision part of a configuration has, or the whole."""
    vision = [part for name, part in vars(config).items() if VISION.fullmatch(name) and hasattr(part, "to_dict")]
    for part in (*(vars(part) for part in (*vision, *parts(config))), *_plain(config)):
        for field in fields:
            value = part.get(field)
            value = value[0] if isinstance(value, (list, tuple)) and value else value
            if type(value) is int and value > 0:
                return value
    return 0


def _plain(config: Any) -> Iterator[dict[str, Any]]:
    """The plain dictionaries in a configuration and its parts."""
    for part in parts(config):
        yield from (value for value in vars(part).values() if isinstance(value, dict))
