import pytest
import torch

from acme_automodel.components.models.holly.config import tiny_config
from acme_automodel.components.models.holly.model import HollyForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = HollyForCausalLM(tiny_config(dtype=torch.bfloat16))
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


def test_a_tied_config_is_refused():
    with pytest.raises(NotImplementedError):
        HollyForCausalLM(tiny_config(tie_word_embeddings=True))
