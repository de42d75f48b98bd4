"""The part of the minimal checkout that recipes name: recipe classes, data, a loss; and one recipe."""

from __future__ import annotations

import textwrap

RECIPE = "examples/llm_finetune/lines/acme_new.yaml"  # where the examples of the pages go


def _file(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


RECIPES: dict[str, str] = {
    "nemo_automodel/__init__.py": _file(
        '''
        """The framework; what is dear to import is served on demand."""

        import importlib

        _LAZY = {"NeMoAutoModelForCausalLM": ("nemo_automodel._transformers.auto_class", "NeMoAutoModelForCausalLM")}


        def __getattr__(name):
            if name in _LAZY:
                module, attribute = _LAZY[name]
                found = getattr(importlib.import_module(module), attribute)
                globals()[name] = found
                return found
            raise AttributeError(name)
        '''
    ),
    "nemo_automodel/_transformers/auto_class.py": _file(
        '''
        """Models by the name of their checkpoint."""


        class NeMoAutoModelForCausalLM:
            @classmethod
            def from_pretrained(cls, pretrained_model_name_or_path, *args, dtype=None, **kwargs):
                """Load a model with its weights."""

            @classmethod
            def from_config(cls, config, *args, dtype=None, **kwargs):
                """Build a model without weights."""
        '''
    ),
    "nemo_automodel/components/config/__init__.py": "",
    "nemo_automodel/components/config/loader.py": _file(
        '''
        """YAML files as nested nodes; a name in ``_target_`` or ``…_fn`` is imported when the file is read."""


        def wrap(key, value):
            if isinstance(value, str) and (key == "_target_" or key.endswith("_fn")):
                return resolve(value)
            return value
        '''
    ),
    "nemo_automodel/components/training/__init__.py": "",
    "nemo_automodel/components/training/rng.py": _file(
        '''
        class StatefulRNG:
            """Random numbers that can be resumed."""

            def __init__(self, seed, ranked=False):
                self.seed, self.ranked = seed, ranked
        '''
    ),
    "nemo_automodel/components/datasets/__init__.py": "",
    "nemo_automodel/components/datasets/lines.py": _file(
        '''
        """Text files, a sample a line."""

        from dataclasses import dataclass


        @dataclass
        class LinesConfig:
            path: str
            split: str = "train"
            limit: int | None = None
            shuffle_lines: bool = False


        def make_lines_dataset(path, tokenizer, split="train", limit=None):
            """Return the samples of a file."""


        def pad_batch(batch, pad_to=None):
            """Return a batch as tensors."""
        '''
    ),
    "nemo_automodel/components/loss/__init__.py": "from .masked import MaskedLoss\n",
    "nemo_automodel/components/loss/masked.py": _file(
        '''
        import torch.nn as nn


        class MaskedLoss(nn.Module):
            """Cross entropy over the labels that are not masked."""

            def __init__(self, ignore_index=-100, reduction="sum"):
                super().__init__()
                self.ignore_index, self.reduction = ignore_index, reduction
        '''
    ),
    "nemo_automodel/components/distributed/__init__.py": "",
    "nemo_automodel/components/distributed/manager.py": _file(
        '''
        class ShardingManager:
            """Shards a model over a mesh."""

            def __init__(self, config, mesh):
                self.config, self.mesh = config, mesh
        '''
    ),
    "nemo_automodel/recipes/__init__.py": "",
    "nemo_automodel/recipes/llm/train.py": _file(
        '''
        """Training by the next token."""

        from nemo_automodel.recipes.base import BaseRecipe


        def build_dataset(cfg_dataset, tokenizer):
            kwargs = cfg_dataset.to_dict()
            target = kwargs.pop("_target_")
            kwargs.pop("chat_template", None)
            return target(tokenizer=tokenizer, **kwargs)


        def build_mesh(cfg_distributed):
            sizes = {axis: cfg_distributed.get(f"{axis}_size", 1) for axis in ("tp", "pp", "cp", "ep")}
            return sizes, cfg_distributed.get("dp_size", None)


        class TrainRecipeForNextToken(BaseRecipe):
            def setup(self):
                self.mesh = build_mesh(self.cfg.distributed)
                self.cp_size = self.cfg.get("distributed.cp_size", 1)
                self.rng = self.cfg.rng.instantiate()
                self.model = self.cfg.model.instantiate()
                self.loss = self.cfg.loss_fn.instantiate()
                self.optimizer = self.cfg.optimizer.instantiate(params=self.model.parameters())
                self.dataset = build_dataset(self.cfg.dataset, self.tokenizer)


        class TrainRecipeForPreference(TrainRecipeForNextToken):
            """Training by pairs of answers."""
        '''
    ),
    "nemo_automodel/recipes/base.py": _file(
        '''
        class BaseRecipe:
            """What all recipes share."""

            def __init__(self, cfg):
                self.cfg = cfg
        '''
    ),
    "examples/llm_finetune/lines/acme_lines.yaml": _file(
        """
        recipe: TrainRecipeForNextToken

        step_scheduler:
          global_batch_size: 32
          local_batch_size: 4

        rng:
          _target_: nemo_automodel.components.training.rng.StatefulRNG
          seed: 1
          ranked: true

        model:
          _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
          pretrained_model_name_or_path: acme/acme-1b
          dtype: float32

        distributed:
          tp_size: 2
          cp_size: 2
          pp_size: 2
          ep_size: 2
          dp_size: none

        loss_fn:
          _target_: nemo_automodel.components.loss.MaskedLoss
          reduction: mean

        dataset:
          _target_: nemo_automodel.components.datasets.lines.make_lines_dataset
          path: lines.txt
          limit: 100

        dataloader:
          collate_fn: nemo_automodel.components.datasets.lines.pad_batch
          shuffle: true

        optimizer:
          _target_: torch.optim.AdamW
          lr: 1.0e-5
        """
    ),
}
