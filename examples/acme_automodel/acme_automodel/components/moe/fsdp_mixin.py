"""Gradient synchronisation of sharded models that hold experts."""

from __future__ import annotations

from collections.abc import Iterator

import torch.nn as nn

try:
    from torch.distributed.fsdp import FSDPModule
except ImportError:  # a torch built without distributed has nothing to synchronise
    FSDPModule = None


class MoEFSDPSyncMixin:
    """Hold gradients back while they accumulate, and exchange them in the last backward only.

    Experts are sharded apart from the rest of their layer, so switching the root alone would miss them.
    """

    def prepare_for_grad_accumulation(self, pp_enabled: bool = False) -> None:
        self._set_gradient_sync(False)

    def prepare_for_final_backward(self, pp_enabled: bool = False) -> None:
        # Under pipeline parallelism the schedule itself asks for the exchange, after the last micro-batch.
        self._set_gradient_sync(not pp_enabled)

    def _set_gradient_sync(self, enabled: bool) -> None:
        for module in self._sharded_modules():
            module.set_requires_gradient_sync(enabled, recurse=False)
            module.set_is_last_backward(enabled)

    def _sharded_modules(self) -> Iterator[nn.Module]:
        for module in self.modules():
            if FSDPModule is not None and isinstance(module, FSDPModule):
                yield module
