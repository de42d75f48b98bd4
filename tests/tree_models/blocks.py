"""Statements around construction: ``with``, ``try``, imports, assertions, definitions in branches."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

import torch
from torch import nn

try:
    import a_library_that_nobody_has as fast
except ImportError:
    fast = None

try:
    from a_library_that_nobody_has.norms import FastNorm
except ImportError:
    FastNorm = nn.LayerNorm

if TYPE_CHECKING:
    from .configs import Config
else:
    from .configs import Config

HAS_FAST = importlib.util.find_spec("a_library_that_nobody_has") is not None

if hasattr(torch, "nn"):

    class Versioned(nn.Module):
        def __init__(self, size: int):
            super().__init__()
            self.proj = nn.Linear(size, 1)

else:
    Versioned = None


@contextlib.contextmanager
def initialising(flag: bool):
    yield flag


class Around(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        with torch.device("cpu"):
            self.on_device = nn.Linear(size, 1)
        with torch.no_grad(), initialising(True) as flag:
            self.inside = nn.Linear(size, 2)
            self.flag = flag
        with contextlib.suppress(ImportError):
            self.suppressed = nn.Linear(size, 3)
        try:
            self.tried = nn.Linear(size, 4)
        except RuntimeError:
            self.tried = nn.Identity()
        finally:
            self.last = nn.Linear(size, 5)
        assert config.hidden_size > 0, "no size"
        if TYPE_CHECKING:
            self.never = nn.Linear(size, 1)
        self.versioned = Versioned(size)
        from torch.nn import Bilinear as Pair

        self.pair = Pair(size, size, 1)
        import torch.nn as inner

        self.inner = inner.Linear(size, 6)
        global COUNT
        COUNT = 1
        pass


class Missing(nn.Module):
    """An optional library: what it would build is not at hand, and the rest is what it is."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.norm = fast.Norm(size) if fast is not None else nn.LayerNorm(size)
        self.imported = FastNorm(size)
        self.proj = nn.Linear(size, 1)
        if HAS_FAST:
            self.linear = fast.Linear(size, size)
        else:
            self.linear = nn.Linear(size, size)


CASES = {Around: [Config()], Missing: [Config()]}
OPAQUE = {"Missing": ["norm", "imported", "linear"]}
