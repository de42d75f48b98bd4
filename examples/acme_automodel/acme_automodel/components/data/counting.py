"""Rows of numbers, each one more than the one before: easy to learn, and made in no time."""

from __future__ import annotations

import torch


def make_counting_dataset(vocab_size: int, length: int = 16, rows: int = 64, seed: int = 0) -> torch.Tensor:
    """Return token ids ``[rows, length]`` that count up from a random start."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, vocab_size, (rows, 1), generator=generator)
    return (starts + torch.arange(length)) % vocab_size


def as_batch(rows: list[torch.Tensor], device: str = "cpu") -> torch.Tensor:
    """Return rows of one length as one tensor ``[batch, length]``."""
    return torch.stack(rows).to(device)
