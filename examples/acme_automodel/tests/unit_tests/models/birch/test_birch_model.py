import torch

from acme_automodel.components.models.birch.config import tiny_config
from acme_automodel.components.models.birch.model import BirchForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = BirchForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


def test_it_can_be_built_either_way():
    for tied in (True, False):
        assert BirchForCausalLM(tiny_config(tie_word_embeddings=tied)).config is not None
