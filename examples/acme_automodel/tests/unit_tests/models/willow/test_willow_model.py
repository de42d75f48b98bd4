import torch

from acme_automodel.components.models.willow.config import tiny_config
from acme_automodel.components.models.willow.model import WillowBidirectionalModel


def test_one_vector_for_each_text():
    model = WillowBidirectionalModel(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape[0] == 1
