"""Which tensors of a module tree are intrinsically fp32, and which follow the dtype of the model.

A tensor is intrinsically fp32 by its name (state-space decay, routing and attention-sink biases; the settings can give
other names), or because the source allocates it in fp32 while other parameters take the model's dtype. These need not
lie in the same module: a holder or a norm that has nothing but fp32 in it is cast and sharded with what is around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from automodel_lint.domain.keep_list import any_index, may_match
from automodel_lint.inference.module_tree import PARAMETER, ModuleNode, ModuleTree, Tensor

_SINKS = "sinks"
NAMES = ("A_log", "dt_bias", "e_score_correction_bias", _SINKS, "attention_sink_bias")
HOLDER = "_fp32_params"  # what the framework calls a module of fp32 parameters that is sharded by itself

_ROTARY = re.compile(r"(.*_)?inv_freq|freqs_cis|freqs_cache|freqs|(cos|sin)_(cached|h|w)")
_EVERYWHERE = (["weight"], ["bias"])
_SAYS_LITTLE = re.compile(r"weight|bias|.{1,2}")  # parts of many names
_WORD = re.compile(r"[A-Za-z]+")
_INDEX = re.compile(r"\*|\d+")
_LOW = frozenset({"bfloat16", "float16"})


def is_rotary_table(tensor: Tensor) -> bool:
    """Tell whether a tensor is a table of rotary frequencies, which have a rule of their own."""
    return _ROTARY.fullmatch(tensor.name) is not None


def is_named(tensor: Tensor, names: Iterable[str]) -> bool:
    """Tell whether a tensor is called one of ``names``; a name may be a dotted end of the full one."""
    return any(tensor.fqn == name or tensor.fqn.endswith(f".{name}") for name in names)


def is_allocated_fp32(tensor: Tensor) -> bool:
    """Tell whether the source writes fp32 down for a tensor (``.float()`` only undoes what was before)."""
    return tensor.dtype is not None and tensor.dtype.is_fp32 and tensor.dtype.how != "float"


def follows_model(tensor: Tensor) -> bool:
    """Tell whether a tensor takes the dtype of the model: the config's, or torch's default, which is set to it."""
    if tensor.dtype is None:
        return tensor.shape is not None  # of a value that is computed nobody knows
    return tensor.dtype.name in _LOW or not tensor.dtype.is_fixed


def intrinsically_fp32(tree: ModuleTree, names: Iterable[str]) -> list[Tensor]:
    """Return the intrinsically fp32 tensors that may be in a tree, one variant of each name."""
    names, found = tuple(names), {}
    mixed = has_followers(tree.root, names)
    for tensor in tree.tensors:
        if tensor.fqn in found or (tensor.kind == PARAMETER and tensor.module.shared):
            continue  # a shared parameter is known by the name that was met first
        stands_out = mixed and is_allocated_fp32(tensor) and not is_rotary_table(tensor)
        if stands_out or is_named(tensor, names):
            found[tensor.fqn] = tensor
    return list(found.values())


def has_followers(node: ModuleNode, names: Iterable[str]) -> bool:
    """Tell whether a module has parameters, in itself or below, that follow the model's dtype and may do so."""
    tensors = (tensor for module in node.walk() for tensor in module.tensors)
    return any(t.kind == PARAMETER and follows_model(t) and not is_named(t, names) for t in tensors)


def pattern_for(tensor: Tensor, tree: ModuleTree, names: Iterable[str]) -> str | None:
    """Return the shortest pattern that pins a tensor and no ordinary one: the end of its name, or its holder.

    An index is no part of it, and a plain word (``scale``) not all of it where a module's name stands before it.
    ``None`` if no end will do.
    """
    parts = tensor.fqn.split(".")
    if HOLDER in parts:
        return HOLDER
    while parts and _INDEX.fullmatch(parts[-1]):
        parts.pop()
    names = tuple(names)
    ordinary = {t.fqn for t in tree.tensors if follows_model(t) and not is_named(t, names)} - {tensor.fqn}
    pattern, found = "", None
    for part in takewhile(lambda part: not _INDEX.fullmatch(part), reversed(parts)):
        pattern = f"{part}.{pattern}" if pattern else part
        if _SAYS_LITTLE.fullmatch(pattern) or any(may_match(pattern, fqn) for fqn in ordinary):
            continue
        found = pattern
        if not _WORD.fullmatch(pattern) or pattern in names:
            break
    return found


def is_open_choice(tensor: Tensor) -> bool:
    """Tell whether a tensor is an attention sink in the model's dtype: some reference implementations want it so."""
    return tensor.name == _SINKS and tensor.kind == PARAMETER and not is_allocated_fp32(tensor)


def sweeps_in(pattern: str, tensor: Tensor, names: Iterable[str]) -> bool:
    """Tell whether a pattern matches an ordinary parameter without naming it or the module that it is the weight of.

    An index stands for any layer or expert; what every module has (``weight``) names none.
    """
    if tensor.kind != PARAMETER or not follows_model(tensor) or is_named(tensor, names):
        return False
    if not may_match(pattern, tensor.fqn):
        return False
    path, wanted = tensor.fqn.split("."), any_index(pattern).strip(".").split(".")
    if wanted in _EVERYWHERE:
        return True
    ends = (path[-len(wanted) :], path[:-1][-len(wanted) :])
    return HOLDER not in path and wanted not in ends
