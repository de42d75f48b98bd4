"""How many samples make a step, and how many steps a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class StepSchedule:
    """A step sees ``global_batch_size`` samples, a rank at a time ``local_batch_size`` of them."""

    global_batch_size: int
    local_batch_size: int
    max_steps: int = 2
    dp_size: int = 1

    def __post_init__(self) -> None:
        if self.global_batch_size % (self.local_batch_size * self.dp_size):
            raise ValueError("a step must consist of whole local batches on every rank")


class SeededRun:
    """Random numbers of a run; ``ranked`` gives every rank numbers of its own."""

    def __init__(self, seed: int, ranked: bool = False):
        self.seed, self.ranked = seed, ranked
