import torch

from acme_automodel.components.models.blackthorn.config import tiny_config
from acme_automodel.components.models.blackthorn.model import BlackthornForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = BlackthornForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)
