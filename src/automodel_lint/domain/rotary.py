"""The rotary tables of a module tree, and which of them a cast of the whole model rounds for good.

A table of frequencies holds small numbers that are multiplied by positions; rounded to bfloat16 it turns long sequences
by the wrong angle. The tables are non-persistent buffers as a rule, so nothing that is loaded puts them right again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain import precision
from automodel_lint.domain.casts import RAW, Cast, whole_model_casts
from automodel_lint.domain.keep_list import Written
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.restoring import Restoring, casts_up
from automodel_lint.inference.module_tree import Tensor

_INDEX = re.compile(r"(?<=\.)\*(?=\.)")


@dataclass(frozen=True, eq=False)
class Exposed:
    """A table that a cast rounds. ``vain`` is where its own module casts it up before use, if it does."""

    tensor: Tensor
    cast: Cast
    vain: Written | None


def is_rotary_table(tensor: Tensor) -> bool:
    """Tell whether a tensor is a table that is read when angles are computed (an ``original_inv_freq`` is a spare)."""
    return precision.is_rotary_table(tensor) and not tensor.name.endswith("original_inv_freq")


def is_pinned(model: ModelClass, tensor: Tensor) -> bool:
    """Tell whether a keep list covers a tensor; the index of a layer is a number, not the text of a pattern."""
    return model.pins.covers(_INDEX.sub("0", tensor.fqn))


def exposed_tables(model: ModelClass) -> list[Exposed]:
    """Return the rotary tables that a whole-model cast rounds for good, one of each name."""
    casts = [c for c in whole_model_casts(model.classes, model.values, model.entity) if c.rounds]
    if not casts:
        return []
    restoring, found = Restoring(model), {}
    for tensor in model.module_tree.tensors:
        if is_rotary_table(tensor) and tensor.fqn not in found and not is_pinned(model, tensor):
            exposed = _exposed(restoring, tensor, casts)
            if exposed is not None:
                found[tensor.fqn] = exposed
    return list(found.values())


def _exposed(restoring: Restoring, tensor: Tensor, casts: list[Cast]) -> Exposed | None:
    reaching = [c for c in casts if c.reaches(tensor.fqn) and not restoring.after(tensor, c)]
    if not reaching or restoring.in_apply(tensor) or restoring.at_use(tensor):
        return None
    return Exposed(tensor, reaching[0], next(_vain(restoring, tensor), None))


def _vain(restoring: Restoring, tensor: Tensor) -> Iterator[Written]:
    """Where the checkout's own code of the module casts the rounded table up."""
    for view, read in restoring.readers(tensor):
        up = casts_up(view, read) if restoring.classes.in_checkout(view.owner) else None
        if up is not None:
            yield Written(view.owner, up, view.node.name)


def place_to_change(model: ModelClass, exposed: list[Exposed]) -> Written:
    """Return where an author mends it: the keep list, the vain cast where no list is asked, else the class."""
    for listed in (model.pins.strict, model.pins.plain):
        if listed.declared is not None and _is_to_extend(model, listed.declared, exposed[0].tensor):
            return listed.declared
    vain = exposed[0].vain
    if vain is not None and exposed[0].cast.kind == RAW:
        return vain
    return Written(model.entity, model.entity.node)


def _is_to_extend(model: ModelClass, declared: Written, tensor: Tensor) -> bool:
    """Whether a list is the author's to extend; an inherited one only if its own class has the table, too."""
    if declared.owner is model.entity or not model.classes.in_checkout(declared.owner):
        return declared.owner is model.entity
    base = ModelClass(model.project, declared.owner, model.architectures, model.tags)
    return tensor.fqn in base.module_tree.by_fqn
