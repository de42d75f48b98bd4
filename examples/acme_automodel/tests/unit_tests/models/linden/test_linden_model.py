import pytest
import torch

from acme_automodel.components.models.fir.config import TINY_SIZES
from acme_automodel.components.models.linden.config import tiny_config
from acme_automodel.components.models.linden.model import LindenForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = LindenForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


def test_an_untied_decoder_is_refused():
    sizes = {**TINY_SIZES, "tie_word_embeddings": False}
    with pytest.raises(NotImplementedError):
        LindenForCausalLM(tiny_config(text_config=sizes))
