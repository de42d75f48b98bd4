"""NAM201, NAM208, NAM209, NAM213: the policy, or what must back it, is gone or written wrongly."""

from __future__ import annotations

import ast

from . import Injected, Injection
from .source import assigned, class_in, cut, method, put, segment, swapped, without_docstring

POLICY = "tie_word_embeddings_support"
KEYS = "_tied_weights_keys"
GATE = 'getattr(self.config, "tie_word_embeddings", False)'


def policy_removed(text: str, cls: str) -> Injected | None:
    """No policy is declared."""
    found = _policy(text, cls)
    return Injected(cut(text, found), _where_first(text, cls, found)) if found else None


def _policy(text: str, cls: str) -> ast.Assign | ast.AnnAssign | None:
    """The policy, unless only a base in transformers ties: then no repair can tell what the policy is."""
    node = class_in(text, cls)
    bases = [segment(text, base) for base in node.bases] if node else []
    tied_by_base = any(base.startswith("HF") and base != "HFCheckpointingMixin" for base in bases)
    return None if tied_by_base and method(text, cls, "tie_weights") is None else assigned(text, cls, POLICY)


def policy_misspelled(text: str, cls: str) -> Injected | None:
    """The policy is declared under a name that nobody reads."""
    found = _policy(text, cls)
    return Injected(swapped(text, _target(found), "tie_word_embedding_support")) if found else None


def policy_only_annotated(text: str, cls: str) -> Injected | None:
    """The policy is announced and never given."""
    found = _policy(text, cls)
    return Injected(swapped(text, found, f"{POLICY}: TieSupport")) if found else None


def _target(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.target if isinstance(node, ast.AnnAssign) else node.targets[0]


def _where_first(text: str, cls: str, found: ast.stmt) -> str | None:
    """The original, where the policy is the first thing in its class."""
    node = class_in(text, cls)
    assert node is not None
    above = text.split("\n")[found.lineno - 2].strip()
    return text if without_docstring(node)[0] is found and not above.startswith("#") else None


def keys_removed(text: str, cls: str) -> Injected | None:
    """The tied keys are not declared."""
    found = _keys(text, cls)
    return Injected(cut(text, found), _below_policy(text, cls, found)) if found else None


def keys_under_old_name(text: str, cls: str) -> Injected | None:
    """Only the framework's older attribute is there."""
    found = _keys(text, cls)
    return Injected(swapped(text, _target(found), "_nemo_tied_weights_keys")) if found else None


def keys_only_annotated(text: str, cls: str) -> Injected | None:
    """The keys are announced and never given."""
    found = _keys(text, cls)
    return Injected(swapped(text, found, f"{KEYS}: dict[str, str]")) if found else None


def _keys(text: str, cls: str) -> ast.Assign | ast.AnnAssign | None:
    """The declaration of the keys, of a class that may be tied."""
    found = assigned(text, cls, KEYS)
    return found if found and method(text, cls, "tie_weights") else None


def _below_policy(text: str, cls: str, found: ast.stmt) -> str | None:
    policy = assigned(text, cls, POLICY)
    return text if policy and policy.end_lineno == found.lineno - 1 else None


def method_removed(text: str, cls: str) -> Injected | None:
    """There is no ``tie_weights``."""
    found = _tying(text, cls)
    return Injected(cut(text, found)) if found else None


def method_under_old_name(text: str, cls: str) -> Injected | None:
    """The method has the name that transformers 4 called."""
    found = _tying(text, cls)
    if found is None:
        return None
    return Injected(swapped(text, found, segment(text, found).replace("def tie_weights(", "def _tie_weights(", 1)))


def method_in_a_base(text: str, cls: str) -> Injected | None:
    """The method is only inherited."""
    found, node = _tying(text, cls), class_in(text, cls)
    if found is None or node is None:
        return None
    body = "\n".join(line.removeprefix(" " * node.col_offset) for line in _lines(text, found))
    short = cut(text, found)
    node = class_in(short, cls)
    assert node is not None
    with_base = swapped(short, node.bases[-1], f"{segment(short, node.bases[-1])}, Tied")
    return Injected(put(with_base, node, f"class Tied:\n{body}\n\n"))


def _lines(text: str, node: ast.stmt) -> list[str]:
    return text.split("\n")[node.lineno - 1 : node.end_lineno]


def _tying(text: str, cls: str) -> ast.FunctionDef | None:
    """The method, of a class whose keys the repair can read."""
    return method(text, cls, "tie_weights") if assigned(text, cls, KEYS) else None


def ungated(text: str, cls: str) -> Injected | None:
    """The weights are tied whatever the flag says."""
    found = _gate(text, cls)
    if found is None or len(found.body) != 1:
        return None
    # Where the file asks for the flag with another default, so does the repair.
    inverse = text if segment(text, found.test) == GATE and '"tie_word_embeddings", True' not in text else None
    return Injected(swapped(text, found, segment(text, found.body[0])), inverse)


def gated_by_something_else(text: str, cls: str) -> Injected | None:
    """The condition does not ask the flag."""
    found = _gate(text, cls)
    return Injected(swapped(text, found.test, "self.lm_head is not None")) if found else None


def never_asks_the_flag(text: str, cls: str) -> Injected | None:
    """The condition is a literal."""
    found = _gate(text, cls)
    return Injected(swapped(text, found.test, "True")) if found else None


def _gate(text: str, cls: str) -> ast.If | None:
    """The condition of the tie, in a class that may be both."""
    policy, found = assigned(text, cls, POLICY), method(text, cls, "tie_weights")
    if policy is None or found is None or "BOTH" not in segment(text, policy):
        return None
    return next((s for s in found.body if isinstance(s, ast.If) and not s.orelse), None)


def refuses_arguments(text: str, cls: str) -> Injected | None:
    """``tie_weights`` takes nothing, where transformers passes something."""
    return _signature(text, cls, "(self)")


def refuses_keywords(text: str, cls: str) -> Injected | None:
    """``tie_weights`` takes no keyword arguments."""
    return _signature(text, cls, "(self, *_args: object)")


def _signature(text: str, cls: str, new: str) -> Injected | None:
    found, node = method(text, cls, "tie_weights"), class_in(text, cls)
    old = "(self, *_args: object, **_kwargs: object)"
    if found is None or node is None or old not in segment(text, found):
        return None
    if "nn.Module" in [segment(text, base) for base in node.bases]:  # transformers never calls it
        return None
    return Injected(swapped(text, found, segment(text, found).replace(old, new, 1)))


INJECTIONS = [
    # A class that lacks its keys from the start is asked for them again once its policy is there.
    Injection("NAM201", "removed", policy_removed, about=("NAM208",)),
    Injection("NAM201", "misspelled", policy_misspelled, about=("NAM208",)),
    Injection("NAM201", "only-annotated", policy_only_annotated, about=("NAM208",)),
    Injection("NAM208", "removed", keys_removed),
    Injection("NAM208", "under-old-name", keys_under_old_name),
    Injection("NAM208", "only-annotated", keys_only_annotated),
    Injection("NAM209", "removed", method_removed),
    Injection("NAM209", "under-old-name", method_under_old_name),
    Injection("NAM209", "in-a-base", method_in_a_base),
    Injection("NAM213", "ungated", ungated),
    Injection("NAM213", "gated-by-something-else", gated_by_something_else),
    Injection("NAM213", "never-asks-the-flag", never_asks_the_flag),
    Injection("NAM213", "refuses-arguments", refuses_arguments),
    Injection("NAM213", "refuses-keywords", refuses_keywords),
]
