"""The tie policy, the tied keys and the order of bases (NAM201, NAM202, NAM208, NAM110)."""

from __future__ import annotations

from . import BOTH, GATED, KEYS, MODEL, PLAIN, UNTIED, Spelling, acme, klass, module, registered, ties

ENUM = """
from enum import Enum


class Tie(Enum):
    UNTIED_ONLY = "untied_only"
"""
BY_SUBCLASSING = """
class Policy:
    def __init_subclass__(cls, tie=None, **kwargs):
        cls.tie_word_embeddings_support = tie
"""


def _set(code: str, name: str, *members: str, above: str = "", end: str = "", bases: str = PLAIN) -> Spelling:
    """A class that gets its policy so."""
    end = f"{end}\nModelClass = AcmeForCausalLM".strip()
    return acme(code, name, module(above, klass(*members, policy="", bases=bases), end=end))


def _keyless(name: str, bases: str, found: str, *, imports: str = "", library: bool = True) -> Spelling:
    """A class that ties, without tied keys of its own."""
    text = module(klass(ties(GATED), policy=BOTH, bases=bases, found=found), imports=imports)
    return acme("NAM208", name, text, library=library)


FOREIGN = "HFCheckpointingMixin, LlamaPreTrainedModel"
OAK_MIXIN = "from oak import OakMixin\n"

SPELLINGS = [
    _set("NAM201", "setattr-below", end=f'setattr(AcmeForCausalLM, "tie_word_embeddings_support", {UNTIED})'),
    _set("NAM201", "by-subclassing", above=BY_SUBCLASSING, bases=f"Policy, {PLAIN}, tie={UNTIED}"),
    acme("NAM201", "by-a-decorator", module(f"""
        def untied(cls):
            cls.tie_word_embeddings_support = {UNTIED}
            return cls


        @untied""", klass(policy="").lstrip("\n"))),
    acme("NAM201", "keys-say-nothing-of-a-policy", module(klass(KEYS, policy="", found="NAM201"))),
    _set("NAM202", "condition-decided", f"tie_word_embeddings_support = {UNTIED} if True else None"),
    _set("NAM202", "member-of-another-enum", "tie_word_embeddings_support = Tie.UNTIED_ONLY  # NAM202", above=ENUM),
    _keyless("foreign-base", FOREIGN, "NAM208 (warning)"),
    _keyless("foreign-base-not-at-hand", FOREIGN, "NAM208 (warning)", library=False),
    _keyless("foreign-mixin", "HFCheckpointingMixin, OakMixin, nn.Module", "NAM208 (warning)", imports=OAK_MIXIN),
    Spelling(
        "NAM110",
        "base-in-the-wrong-order",
        {
            MODEL: module(
                klass(name="Base", bases="PreTrainedModel, HFCheckpointingMixin", found="NAM110"),
                klass(bases="Base", policy="", constructor=""),
                end="ModelClass = Base",
            ),
            **registered(BaseForCausalLM="Base", AcmeForCausalLM="AcmeForCausalLM"),
        },
        owner="Base",
        architectures=("AcmeForCausalLM", "BaseForCausalLM"),
    ),
]  # fmt: skip
