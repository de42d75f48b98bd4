import pytest
import torch

from acme_automodel.components.models.elm.config import tiny_config
from acme_automodel.components.models.elm.model import ElmForCausalLM


def test_logits_have_the_size_of_the_vocabulary():
    model = ElmForCausalLM(tiny_config())
    assert model(torch.tensor([[5, 6, 7]])).shape == (1, 3, 97)


@pytest.mark.parametrize("tied", [True, False])
def test_the_head_is_the_embedding_if_the_config_says_so(tied):
    model = ElmForCausalLM(tiny_config(tie_word_embeddings=tied))
    assert (model.get_output_embeddings().weight is model.get_input_embeddings().weight) == tied
