"""A minimal framework checkout, and a minimal transformers beside it, as texts by path; all our own writing."""

from __future__ import annotations

import textwrap

from .page_adapters import ADAPTERS
from .page_experts import EXPERTS
from .page_recipes import RECIPES

MODEL = "nemo_automodel/components/models/acme/model.py"


def _file(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


CHECKOUT: dict[str, str] = {
    **ADAPTERS,
    **EXPERTS,
    **RECIPES,
    "nemo_automodel/_transformers/__init__.py": "",
    "nemo_automodel/_transformers/registry.py": _file(
        '''
        """Architecture names and model types, and the classes that answer to them."""

        from collections import OrderedDict

        MODEL_ARCH_MAPPING = OrderedDict(
            [
                ("AcmeForCausalLM", ("nemo_automodel.components.models.acme.model", "AcmeForCausalLM")),
            ]
        )

        _CUSTOM_CONFIG_REGISTRATIONS: dict[str, tuple[str, str]] = {
            "acme": ("nemo_automodel.components.models.acme.config", "AcmeConfig"),
            "acme_vl": ("nemo_automodel.components.models.acme.config", "AcmeVLConfig"),
        }


        def register_architecture(arch_name, model_cls):
            """Bind one more architecture name, for packages outside the framework."""
            MODEL_ARCH_MAPPING[arch_name] = (model_cls.__module__, model_cls.__qualname__)
        '''
    ),
    "nemo_automodel/_transformers/model_capabilities.py": _file(
        '''
        """The kinds of parallelism that a model class may declare."""

        from dataclasses import dataclass


        @dataclass(frozen=True)
        class ModelCapabilities:
            supports_tp: bool = False
            supports_cp: bool = False
            supports_pp: bool = False
            supports_ep: bool = False
            supports_thd: bool = False
        '''
    ),
    "nemo_automodel/shared/__init__.py": "",
    "nemo_automodel/shared/tied_weights.py": _file(
        '''
        """What a model class can do about a tied head, and which flag of a config asks for one."""

        from enum import Enum


        class TieSupport(Enum):
            BOTH = "both"
            TIED_ONLY = "tied_only"
            UNTIED_ONLY = "untied_only"


        def get_controlling_tie_word_embeddings(config):
            """Return the outermost flag there is."""
            if hasattr(config, "tie_word_embeddings"):
                return bool(config.tie_word_embeddings)
            return bool(getattr(getattr(config, "text_config", None), "tie_word_embeddings", False))
        '''
    ),
    "nemo_automodel/components/__init__.py": "",
    "nemo_automodel/components/models/__init__.py": "",
    "nemo_automodel/components/models/deprecation.py": _file(
        '''
        """Words for classes that are on their way out."""

        import warnings


        def warn_deprecated_model_class(name, instead):
            """Warn that a class is deprecated and say what to use instead."""
            warnings.warn(f"{name} is deprecated, use {instead}", DeprecationWarning, stacklevel=3)
        '''
    ),
    "nemo_automodel/components/models/common/__init__.py": "",
    "nemo_automodel/components/models/common/tie_word_embeddings.py": _file(
        '''
        """The guards around ``tie_word_embeddings``."""

        from nemo_automodel.shared.tied_weights import TieSupport, get_controlling_tie_word_embeddings


        def reject_unsupported_tie_word_embeddings(model_cls, config):
            """Raise if a config asks for what the policy of a class excludes."""
            policy = getattr(model_cls, "tie_word_embeddings_support", TieSupport.BOTH)
            tied = get_controlling_tie_word_embeddings(config)
            if policy is (TieSupport.UNTIED_ONLY if tied else TieSupport.TIED_ONLY):
                raise NotImplementedError(f"{model_cls.__name__} cannot have tie_word_embeddings={tied}")


        def reject_tie_word_embeddings_flip(checkpoint_config, requested_config, model_class_name):
            """Raise if a checkpoint is asked for with the opposite of its own flag."""
            flags = {get_controlling_tie_word_embeddings(c) for c in (checkpoint_config, requested_config)}
            if len(flags) > 1:
                raise NotImplementedError(f"{model_class_name}: the checkpoint has the other tie_word_embeddings")
        '''
    ),
    "nemo_automodel/components/models/common/hf_checkpointing_mixin.py": _file(
        '''
        """Saving and loading in the layout of Hugging Face."""


        class HFCheckpointingMixin:
            def save_pretrained(self, save_directory, **kwargs):
                self.config.save_pretrained(save_directory)

            @classmethod
            def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
                return cls(cls.config_class.from_pretrained(pretrained_model_name_or_path))

            def initialize_weights(self, buffer_device=None, dtype=None):
                for parameter in self.parameters():
                    parameter.data.normal_(0.0, 0.02)
        '''
    ),
    "nemo_automodel/components/models/common/utils.py": _file(
        '''
        """Casts of a whole model that leave alone what its class keeps in fp32."""

        from contextlib import contextmanager

        import torch


        def cast_model_to_dtype(model, dtype=torch.bfloat16, skip_modules=()):
            """Cast a model; what its keep lists name has its exact value back afterwards."""
            lists = (getattr(model, "_keep_in_fp32_modules_strict", ()), getattr(model, "_keep_in_fp32_modules", ()))
            patterns = [pattern for patterns in lists for pattern in patterns or ()]
            tensors = dict([*model.named_parameters(), *model.named_buffers()])
            kept = {name: t.detach().clone() for name, t in tensors.items() if any(p in name for p in patterns)}
            for name, tensor in tensors.items():
                if not set(skip_modules) & set(name.split(".")) and tensor.is_floating_point():
                    tensor.data = kept[name] if name in kept else tensor.data.to(dtype)


        @contextmanager
        def yield_fp32_model(model, restore_dtype=None):
            """Give out a model in fp32 and cast it back in the end."""
            before = restore_dtype or next(model.parameters()).dtype
            cast_model_to_dtype(model, torch.float32)
            yield model
            cast_model_to_dtype(model, before)
        '''
    ),
    "nemo_automodel/components/models/acme/__init__.py": _file(
        '''
        """Acme: a dense decoder."""

        from nemo_automodel.components.models.acme.model import AcmeForCausalLM

        __all__ = ["AcmeForCausalLM"]
        '''
    ),
    "nemo_automodel/components/models/acme/config.py": _file(
        '''
        """Configurations of Acme: of the decoder, and of a checkpoint that has a vision tower too."""

        from transformers import PretrainedConfig


        class AcmeConfig(PretrainedConfig):
            model_type = "acme"

            def __init__(self, hidden_size=64, vocab_size=256, num_hidden_layers=2, tie_word_embeddings=False, **extra):
                self.hidden_size = hidden_size
                self.vocab_size = vocab_size
                self.num_hidden_layers = num_hidden_layers
                super().__init__(tie_word_embeddings=tie_word_embeddings, **extra)


        class AcmeVLConfig(PretrainedConfig):
            model_type = "acme_vl"

            def __init__(self, text_config=None, vision_config=None, tie_word_embeddings=False, **kwargs):
                self.text_config = AcmeConfig(**(text_config or {}))
                self.vision_config = vision_config
                super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)
        '''
    ),
    "nemo_automodel/components/models/acme/layers.py": _file(
        '''
        """The decoder without its head."""

        import torch.nn as nn


        class AcmeModel(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
                self.layers = nn.ModuleList(
                    [nn.Linear(config.hidden_size, config.hidden_size) for _ in range(config.num_hidden_layers)]
                )

            def forward(self, input_ids):
                hidden = self.embed_tokens(input_ids)
                for layer in self.layers:
                    hidden = hidden + layer(hidden)
                return hidden
        '''
    ),
    MODEL: _file(
        '''
        """The decoder with its head."""

        from dataclasses import dataclass

        import torch.nn as nn

        from nemo_automodel.components.models.acme.config import AcmeConfig
        from nemo_automodel.components.models.acme.layers import AcmeModel
        from nemo_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin
        from nemo_automodel.components.models.common.tie_word_embeddings import (
            TieSupport,
            reject_unsupported_tie_word_embeddings,
        )


        class AcmeForCausalLM(HFCheckpointingMixin, nn.Module):
            config_class = AcmeConfig
            tie_word_embeddings_support: TieSupport = TieSupport.BOTH
            _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

            @dataclass(frozen=True)
            class ModelCapabilities:
                supports_tp: bool = False
                supports_cp: bool = False
                supports_pp: bool = False
                supports_ep: bool = False

            def __init__(self, config: AcmeConfig):
                reject_unsupported_tie_word_embeddings(type(self), config)
                super().__init__()
                self.config = config
                self.model = AcmeModel(config)
                self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
                self.tie_weights()

            def tie_weights(self, *args, **kwargs):
                if getattr(self.config, "tie_word_embeddings", False):
                    self.lm_head.weight = self.model.embed_tokens.weight

            def forward(self, input_ids, logits_to_keep=0, **kwargs):
                hidden = self.model(input_ids)
                return self.lm_head(hidden[:, -logits_to_keep:] if logits_to_keep else hidden)


        ModelClass = AcmeForCausalLM
        '''
    ),
}

# As much of transformers as examples mention. It stands in for an installed one: what is installed where the tests
# run, if anything, must make no difference.
LIBRARY: dict[str, str] = {
    "transformers/__init__.py": _file(
        """
        from transformers.configuration_utils import PretrainedConfig
        from transformers.modeling_utils import PreTrainedModel
        from transformers.models.llama.configuration_llama import LlamaConfig
        from transformers.models.llama.modeling_llama import LlamaForCausalLM, LlamaModel, LlamaPreTrainedModel
        """
    ),
    "transformers/configuration_utils.py": _file(
        """
        class PretrainedConfig:
            model_type = ""

            def __init__(self, tie_word_embeddings=False, **kwargs):
                self.tie_word_embeddings = tie_word_embeddings
                for name, value in kwargs.items():
                    setattr(self, name, value)

            @classmethod
            def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
                return cls(**kwargs)

            def save_pretrained(self, save_directory):
                raise NotImplementedError
        """
    ),
    "transformers/modeling_utils.py": _file(
        """
        import torch.nn as nn


        class PreTrainedModel(nn.Module):
            _tied_weights_keys = None

            def __init__(self, config, *inputs, **kwargs):
                super().__init__()
                self.config = config

            def tie_weights(self, missing_keys=None, recompute_mapping=True):
                pass

            def save_pretrained(self, save_directory, **kwargs):
                pass

            @classmethod
            def from_pretrained(cls, pretrained_model_name_or_path, *args, config=None, **kwargs):
                return cls(config)
        """
    ),
    "transformers/models/__init__.py": "",
    "transformers/models/auto/__init__.py": "",
    "transformers/models/auto/configuration_auto.py": _file(
        """
        from collections import OrderedDict

        CONFIG_MAPPING_NAMES = OrderedDict([("llama", "LlamaConfig")])
        """
    ),
    "transformers/models/llama/__init__.py": "",
    "transformers/models/llama/configuration_llama.py": _file(
        """
        from transformers.configuration_utils import PretrainedConfig


        class LlamaConfig(PretrainedConfig):
            model_type = "llama"
        """
    ),
    "transformers/models/llama/modeling_llama.py": _file(
        """
        import torch.nn as nn

        from transformers.modeling_utils import PreTrainedModel


        class LlamaPreTrainedModel(PreTrainedModel):
            pass


        class LlamaModel(LlamaPreTrainedModel):
            def __init__(self, config):
                super().__init__(config)
                self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)


        class LlamaForCausalLM(LlamaPreTrainedModel):
            _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

            def __init__(self, config):
                super().__init__(config)
                self.model = LlamaModel(config)
                self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        """
    ),
}


# -- examples -------------------------------------------------------------------------------------------------------
