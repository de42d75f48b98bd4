import torch

from acme_automodel.components.models.aspen.config import tiny_config
from acme_automodel.components.models.aspen.model import AspenBidirectionalModel


def test_one_vector_for_each_text():
    model = AspenBidirectionalModel(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape[0] == 1
