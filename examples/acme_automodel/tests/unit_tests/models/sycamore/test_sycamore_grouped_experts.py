import torch

from acme_automodel.components.models.sycamore.state_dict_adapter import SycamoreGroupedStateDictAdapter


def test_the_experts_of_a_layer_are_one_tensor(config):
    native = {f"model.layers.0.mlp.experts.{n}.up_proj.weight": torch.zeros(2, 3) for n in range(4)}
    grouped = SycamoreGroupedStateDictAdapter(config).to_hf(native)
    assert list(grouped) == ["model.layers.0.mlp.experts.up_proj"]
