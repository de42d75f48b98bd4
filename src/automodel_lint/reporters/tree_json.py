"""A module tree as one JSON object; its schema is ``docs/tree.schema.json``."""

from __future__ import annotations

from typing import Any

from automodel_lint.domain.adapter_rows import AdapterRows
from automodel_lint.domain.tree_marks import MarkedTree
from automodel_lint.inference.module_tree import BUFFER, PARAMETER, Place, Tensor
from automodel_lint.reporters.json import as_text

VERSION = 1


def render(shown: MarkedTree, adapter: AdapterRows | None = None) -> str:
    """Return the tree as JSON text, with the key map of its adapter where that was asked for."""
    data = as_data(shown)
    if adapter is not None:
        data["adapter"] = adapter_as_data(adapter)
    return as_text(data)


def adapter_as_data(shown: AdapterRows) -> dict[str, Any] | None:
    """Return what an adapter does with every name as plain data; ``None`` if there is no adapter to be followed."""
    if shown.place is None:
        return None
    return {
        "class": shown.name,
        "path": shown.relative(shown.place.path),
        "line": shown.place.line,
        "condition": shown.condition or None,
        "keys": [
            {
                "native": row.native,
                "hf": row.hf,
                "decided": row.decided,
                "reason": row.reason,
                "sides": [{"condition": text or None, "hf": list(names)} for text, names in row.sides],
                "back": row.back,
                "unread": list(row.unread),
                "path": shown.relative(row.place.path),
                "line": row.place.line,
            }
            for row in shown.rows
        ],
        "invented": list(shown.invented),
    }


def as_data(shown: MarkedTree) -> dict[str, Any]:
    """Return the tree as plain data."""

    def where(place: Place) -> dict[str, Any]:
        return {"path": shown.relative(place.path), "line": place.line}

    tree = shown.tree
    return {
        "version": VERSION,
        "architecture": shown.architecture,
        "class": shown.name,
        **where(shown.place),
        "complete": tree.complete,
        "opaque": [{"fqn": node.fqn, "reason": node.opaque, **where(node.place)} for node in tree.opaque],
        "tensors": [
            {**_tensor(fqn, variants, shown), **where(variants[0].place)} for fqn, variants in tree.by_fqn.items()
        ],
    }


def _tensor(fqn: str, variants: list[Tensor], shown: MarkedTree) -> dict[str, Any]:
    """One entry a name: a parameter if some variant is one, saved if some variant is; else the first that says it."""
    return {
        "name": fqn,
        "kind": PARAMETER if any(t.kind == PARAMETER for t in variants) else BUFFER,
        "persistent": any(t.persistent for t in variants),
        "conditional": shown.tree.is_conditional(fqn),
        "dtype": next((t.dtype.name for t in variants if t.dtype is not None), None),
        "shape": next((t.shape for t in variants if t.shape is not None), None),
        "pinned": fqn in shown.marks.pins,
        "tied_to": shown.marks.ties.get(fqn),
    }
