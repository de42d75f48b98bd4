import pytest
import torch

from acme_automodel.components.models.yew.config import tiny_config
from acme_automodel.components.models.yew.model import YewForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = YewForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


def test_an_untied_config_is_refused():
    with pytest.raises(NotImplementedError):
        YewForCausalLM(tiny_config(tie_word_embeddings=False))
