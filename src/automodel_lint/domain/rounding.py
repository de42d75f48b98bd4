"""What a raw cast of the whole model loses."""

from __future__ import annotations

import enum
import re
from functools import cached_property

from automodel_lint.domain.casts import Cast
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.precision import intrinsically_fp32
from automodel_lint.domain.restoring import Restoring
from automodel_lint.domain.rotary import is_pinned, is_rotary_table
from automodel_lint.inference.module_tree import Tensor

_NOT_ROUNDED = re.compile(r"u?int\d*|long|short|bool")


class Loss(enum.IntEnum):
    """How much a cast does, in the order of harm."""

    NONE = 0
    UNKNOWN = 1  # a part of the tree could not be followed
    MADE_ANEW = 2  # the method that casts sets the tensors anew afterwards
    ROUNDED = 3


class Rounding:
    """The tensors of one class that must stay in fp32, and what casts do to them."""

    def __init__(self, model: ModelClass):
        self.model, self.restoring = model, Restoring(model)

    @cached_property
    def protected(self) -> list[Tensor]:
        """What must stay in fp32: by its nature, as a rotary table, or because a keep list says so."""
        tree = self.model.module_tree
        found = {t.fqn: t for t in intrinsically_fp32(tree, self.model.project.fp32_names)}
        for tensor in tree.tensors:
            if is_rotary_table(tensor) or is_pinned(self.model, tensor):
                found.setdefault(tensor.fqn, tensor)
        return [t for t in found.values() if t.dtype is None or not _NOT_ROUNDED.fullmatch(t.dtype.name)]

    def by(self, cast: Cast) -> tuple[Loss, list[str]]:
        """Return how much a cast does, and the names of the tensors that it does the worst to."""
        losses = {t.fqn: self._of(t, cast) for t in self.protected}
        worst = max(losses.values(), default=Loss.NONE)
        if worst is Loss.NONE and not self.model.module_tree.complete:
            return Loss.UNKNOWN, []
        return worst, [fqn for fqn, loss in losses.items() if loss is worst] if worst is not Loss.NONE else []

    def _of(self, tensor: Tensor, cast: Cast) -> Loss:
        if self.restoring.in_apply(tensor) or (is_rotary_table(tensor) and self.restoring.at_use(tensor)):
            return Loss.NONE
        return Loss.MADE_ANEW if self.restoring.after(tensor, cast) else Loss.ROUNDED
