from acme_automodel.components.models.spruce.config import tiny_config
from acme_automodel.components.models.spruce.model import SpruceForCausalLM


def test_every_name_comes_back():
    model = SpruceForCausalLM(tiny_config())
    adapter, native = model.state_dict_adapter, model.state_dict()
    assert adapter.from_hf(adapter.to_hf(native)).keys() == native.keys()
