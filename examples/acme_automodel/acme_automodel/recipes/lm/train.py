"""Training a small language model on the CPU, all parameters of it."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F

from acme_automodel.components.config.loader import Section, load
from acme_automodel.components.training.schedule import StepSchedule


class TrainLanguageModelRecipe:
    """Builds what the sections of a recipe name, and takes a few steps."""

    def __init__(self, cfg: Section):
        self.cfg = cfg

    @classmethod
    def from_file(cls, path: str | Path) -> TrainLanguageModelRecipe:
        """Return the run that a YAML file describes."""
        return cls(load(path))

    def setup(self) -> None:
        """Build model, data and optimizer."""
        sizes = {axis: self.cfg.get(f"distributed.{axis}", 1) for axis in ("tp_size", "cp_size", "pp_size", "ep_size")}
        if any(size > 1 for size in sizes.values()):
            raise NotImplementedError("this little framework runs on one device")
        self.schedule = StepSchedule(
            global_batch_size=self.cfg.get("step_scheduler.global_batch_size"),
            local_batch_size=self.cfg.get("step_scheduler.local_batch_size"),
            max_steps=self.cfg.get("step_scheduler.max_steps", 2),
            dp_size=self.cfg.get("distributed.dp_size", 1),
        )
        self.run = self.cfg.rng.instantiate()
        torch.manual_seed(self.run.seed)
        self.model = self.cfg.model.instantiate()
        self.dataset = self.cfg.dataset.instantiate(vocab_size=self.model.config.vocab_size)
        self.collate = self.cfg.dataloader.collate_fn
        self.optimizer = self.cfg.optimizer.instantiate(params=self.model.parameters())

    def train(self) -> list[float]:
        """Take the steps and return the loss of each."""
        losses = []
        for step in range(self.schedule.max_steps):
            start = step * self.schedule.global_batch_size % len(self.dataset)
            ids = self.collate(list(self.dataset[start : start + self.schedule.global_batch_size]))
            logits = self.model(ids)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            losses.append(loss.item())
        return losses
