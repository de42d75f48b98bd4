"""Kimi-K3 accepts ``tie_word_embeddings=True``, which it does not support.

The guard of ``KimiK3ForCausalLM`` is given ``text_config`` (components/models/kimi_k3/model.py:1901), the flag that
decides is the outer one; ``KimiK3ForConditionalGeneration`` hands on ``text_config`` only (kimi_k3/multimodal.py:92).
Its default is false, so that whoever sets it asks for it.

(``Mistral3ForConditionalGeneration`` reads the inner flag too, components/models/mistral4/model.py:780, and with right:
the outer one of transformers' ``Mistral3Config`` is true by default.)

Measured: the outer flag is true, the class is UNTIED_ONLY, the constructor does not object; head and embedding differ.
"""

import sys

from nemo_automodel.shared.tied_weights import get_controlling_tie_word_embeddings
from tiny_models import config, constructed


def accepted(name):
    """Print what came of asking for a tie; tell whether it was accepted and not made."""
    made = config(name)
    made.tie_word_embeddings = True
    asked = get_controlling_tie_word_embeddings(made)
    try:
        model = constructed(name, made=made)
    except NotImplementedError as error:
        print(f"{name}: refused, {error}")
        return False
    aliased = model.lm_head.weight is model.model.embed_tokens.weight
    policy = type(model).tie_word_embeddings_support.name
    print(f"{name}: asked for tied={asked}; policy {policy}; aliased: {aliased}")
    return asked and not aliased


sys.exit(0 if all([accepted(name) for name in ("KimiK3ForCausalLM", "KimiK3ForConditionalGeneration")]) else 1)
