"""Ask the adapter of every registered class, on a tiny configuration, which key it really makes of which.

    python -m truth.adapter_keys OUT.json [--arch A ...] [--jobs 2] [--timeout 120]

Runs like ``truth/construct.py``, and writes what that writes. A class whose model has a ``state_dict_adapter`` has a
record ``adapter`` as well: its class, and under ``to_hf`` what that makes of the whole state dict of the model, under
``from_hf`` what that makes of the result. Each is a map from the name that went in to the names that came out; a name
that nothing came out of has none. Names that came out of no other name are listed under ``""``.

Which name a tensor came from is followed, not guessed, see ``truth/marks.py``.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import torch

from truth.construct import described, main, one_line
from truth.marks import followed

PACKAGE = "nemo_automodel"


def mapped(model: torch.nn.Module) -> dict[str, Any]:
    """What a model consists of, and what its adapter makes of the names."""
    adapter = getattr(model, "state_dict_adapter", None)
    found: dict[str, Any] = {"adapter": None}
    if adapter is not None:
        found["adapter"] = record = {
            "class": type(adapter).__qualname__,
            "to_hf": None,
            "from_hf": None,
            "reason": None,
        }
        try:
            record["to_hf"], made = followed(copy.copy(adapter).to_hf, model.state_dict())
            record["from_hf"], _ = followed(copy.copy(adapter).from_hf, made)
        except Exception as error:
            record["reason"] = one_line(error, PACKAGE)
    return described(model) | found


if __name__ == "__main__":
    sys.exit(main(describe=mapped, what=__doc__))
