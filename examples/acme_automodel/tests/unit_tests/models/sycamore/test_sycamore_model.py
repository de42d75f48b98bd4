import pytest
import torch

from acme_automodel.components.models.sycamore.config import tiny_config
from acme_automodel.components.models.sycamore.model import SycamoreForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = SycamoreForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


def test_a_tied_config_is_refused():
    with pytest.raises(NotImplementedError):
        SycamoreForCausalLM(tiny_config(tie_word_embeddings=True))
