"""From hidden states to logits."""

from __future__ import annotations

import torch
import torch.nn as nn


def project_to_vocabulary(lm_head: nn.Module, hidden: torch.Tensor, logits_to_keep: int = 0) -> torch.Tensor:
    """Apply the head to the last ``logits_to_keep`` positions of ``[B, S, H]``; 0 keeps them all.

    Returns logits ``[B, S or logits_to_keep, V]``. Cutting first is what saves the memory: V is the largest size here.
    """
    return lm_head(hidden[:, -logits_to_keep:] if logits_to_keep else hidden)
