"""Which contracts are about a class: what must hold of it for a rule that finds nothing to mean that it is met.

A rule that says nothing does not tell whether the contract is met, is about other classes, or could not be decided.
Here is what the rules presuppose, as facts (:mod:`automodel_lint.domain.class_facts`) that are ``yes``, ``no`` or
``open``. A contract without an entry in :data:`PRESUPPOSED` is one of which this cannot be told: of it, only that
nothing was found can be said.
"""

from __future__ import annotations

from typing import NamedTuple

YES, NO, OPEN = "yes", "no", "open"


class Words(NamedTuple):
    """How it is said that a fact does not hold, and that it is open."""

    no: str
    open: str = "the source does not decide it"


_BASE = "a base class whose source is not at hand may decide it"
_CONFIG = "its config class cannot be told"
_GUARD = "a constructor whose source is not at hand may run the guard"
_ADAPTER = "it may have an adapter that cannot be followed"
_TREE = "its module tree has a part that cannot be followed"

WORDS = {
    "package": Words("it lies in no package of the models folder"),
    "export": Words("its module exports no `ModelClass`"),
    "config": Words("its config class is none of the checkout's with a `model_type`", _CONFIG),
    "multimodal": Words("its config is no multimodal one of the checkout", _CONFIG),
    "head": Words("it owns no causal head"),
    "mixin known": Words("this release of the framework has no `HFCheckpointingMixin`"),
    "policies known": Words("this release of the framework has no `TieSupport`"),
    "guard known": Words("this release of the framework has no tie guard"),
    "flip known": Words("this release of the framework has no `reject_tie_word_embeddings_flip`"),
    "capabilities known": Words("this release of the framework has no capabilities"),
    "strict known": Words("this release of the framework has no strict keep list"),
    "policy": Words("it declares no tie policy", _BASE),
    "constructor": Words("", _GUARD),
    "guard": Words("its constructor never calls the guard", _GUARD),
    "guarded": Words("its constructor does not run the guard on every path", _GUARD),
    "ties": Words("its policy never ties", "its tie policy cannot be told"),
    "meant to tie": Words("nothing in it says that its head is tied", "its tie policy cannot be told"),
    "one-sided": Words("its policy is `BOTH`", "its tie policy cannot be told"),
    "tied keys": Words("it has no `_tied_weights_keys` of the checkout", _BASE),
    "loads": Words("it has no `from_pretrained` of its own"),
    "tie method": Words("it has no `tie_weights` of the checkout", _BASE),
    "declares": Words("it declares no capabilities"),
    "nested": Words("it has no nested `ModelCapabilities`"),
    "dynamic": Words("it has no `get_capabilities`"),
    "whole tree": Words("", _TREE),
    "lists": Words("", "a keep list is written in a way that cannot be read"),
    "fp32": Words("its module tree has no intrinsically fp32 tensor", _TREE),
    "fp32 parameter": Words("its module tree has no trainable intrinsically fp32 parameter", _TREE),
    "own pins": Words("it writes no keep list of its own", "a keep list is written in a way that cannot be read"),
    "pins": Words("it has no keep list", "a keep list is written in a way that cannot be read"),
    "cast": Words("it is nowhere cast as a whole"),
    "rotary": Words("its module tree has no rotary table", _TREE),
    "adapter": Words("it has no state-dict adapter", _ADAPTER),
    "low memory": Words("its adapter does not claim low-memory loading", _ADAPTER),
    "holder": Words("its module tree has no `_fp32_params`", _TREE),
    "experts": Words("its module tree has no shared `MoE` layer", _TREE),
    "expert config": Words("it builds no `MoEConfig`", _TREE),
    "bias update": Words("it builds no `MoEConfig` with a `gate_bias_update_factor` above 0", _TREE),
    "forward": Words("it has no `forward` of the checkout", _BASE),
    "any forward": Words("the source of its `forward` is not at hand", _BASE),
    "tests": Words("the checkout has no tests"),
    "pages": Words("the checkout has no pages under docs/model-coverage/"),
    "recipes": Words("the checkout has no example recipes"),
    "claims": Words("it claims no axis as a literal for every config"),
    "own recipes": Words("no recipe is known to train it"),
    "possible recipes": Words("no recipe is known that may train it"),
    "expert claim": Words("it does not claim `supports_ep` for every config"),
    "pipeline": Words("it does not declare pipeline parallelism"),
    "staged media": Words("it takes no media out of pipeline chunks"),
}

# By code what a contract presupposes, in the order in which it is said that it does not hold.
PRESUPPOSED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("NAM101", "NAM102", "NAM103", "NAM105", "NAM707"), ()),
    "NAM104": ("config",),
    "NAM106": ("package",),
    "NAM108": ("config",),
    "NAM109": ("export",),
    "NAM110": ("head", "mixin known"),
    "NAM201": ("head", "policies known"),
    "NAM202": ("head", "policy"),
    "NAM203": ("head", "guard known", "constructor"),
    **dict.fromkeys(("NAM204", "NAM205"), ("head", "guard", "guarded")),
    **dict.fromkeys(("NAM206", "NAM207"), ("head", "guard")),
    "NAM208": ("head", "policy", "ties"),
    "NAM209": ("head", "meant to tie"),
    "NAM210": ("head", "tied keys", "whole tree"),
    "NAM211": ("head", "flip known", "loads"),
    "NAM212": ("head", "policy", "one-sided"),
    "NAM213": ("head", "tie method"),
    "NAM215": ("head", "multimodal"),
    "NAM301": ("capabilities known",),
    "NAM302": ("declares",),
    **dict.fromkeys(("NAM303", "NAM304"), ("nested",)),
    "NAM305": ("dynamic",),
    "NAM306": ("claims", "own recipes"),
    "NAM307": ("claims", "possible recipes"),
    "NAM308": ("expert claim", "experts", "whole tree"),
    **dict.fromkeys(("NAM401", "NAM406"), ("strict known", "fp32", "lists", "whole tree")),
    "NAM402": ("own pins", "whole tree"),
    "NAM403": ("pins",),
    "NAM404": ("cast",),
    "NAM405": ("cast", "rotary", "whole tree"),
    "NAM407": ("fp32 parameter", "whole tree"),
    "NAM408": ("pins", "whole tree"),
    "NAM410": ("own pins", "whole tree"),
    "NAM501": ("adapter",),
    "NAM505": ("adapter",),
    **dict.fromkeys(("NAM508", "NAM509"), ("adapter", "low memory")),
    "NAM513": ("adapter", "holder", "whole tree"),
    "NAM601": ("experts",),
    "NAM602": ("expert config", "bias update"),
    "NAM603": ("experts",),
    "NAM604": ("expert config",),
    "NAM701": ("head", "any forward"),
    **dict.fromkeys(("NAM702", "NAM704", "NAM705"), ("forward",)),
    "NAM703": ("pipeline", "staged media"),
    "NAM801": ("package", "tests"),
    "NAM802": ("pages",),
    "NAM803": ("recipes",),
}

# What the contracts without an entry above presuppose at least: where that does not hold, they are not about the class.
AT_LEAST: dict[str, tuple[str, ...]] = {
    "NAM214": ("head",),
    "NAM216": ("package",),
    "NAM805": ("tests", "head", "policy"),
    "NAM806": ("tests", "adapter"),
    **{f"NAM{number}": ("adapter",) for number in (502, 503, 504, 506, 507, 510, 512)},
}


def standing(code: str, known: dict[str, str]) -> tuple[str | None, str]:
    """Return whether a contract is about a class of which facts are known, and the words for why not.

    ``yes``: it is; ``no``: it is not; ``open``: that, or what the rule has to know, is not decided; ``None``: as far
    as is known it may be.
    """
    unsure = code not in PRESUPPOSED
    for name in AT_LEAST.get(code, ()) if unsure else PRESUPPOSED[code]:
        answer = known.get(name, OPEN)
        if answer == NO:
            return NO, WORDS[name].no
        if answer == OPEN:
            return OPEN, WORDS[name].open
    return (None, "") if unsure else (YES, "")
