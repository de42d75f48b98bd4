import pytest
import torch

from acme_automodel.components.models.sycamore.state_dict_adapter import (
    SycamoreNestedStateDictAdapter,
    SycamoreStateDictAdapter,
)


@pytest.mark.parametrize("adapter_class", [SycamoreStateDictAdapter, SycamoreNestedStateDictAdapter])
def test_the_head_comes_back(adapter_class, config):
    adapter, native = adapter_class(config), {"lm_head.weight": torch.zeros(2, 2)}
    assert adapter.from_hf(adapter.to_hf(native)).keys() == native.keys()
