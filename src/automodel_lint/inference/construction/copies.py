"""Deep copies of modules."""

from __future__ import annotations

from automodel_lint.inference.construction.heap import choice
from automodel_lint.inference.construction.values import Choice, Map, Obj, Seq, Value


def deep_copy(value: Value, seen: dict[int, Obj]) -> Value:
    """Return a copy in which every module is a new one; ``seen`` are those that have been copied already."""
    if isinstance(value, Obj) and value.is_module:
        if id(value) in seen:
            return seen[id(value)]
        made = Obj(value.cls, value.type_fqn, True, value.place)
        seen[id(value)] = made
        made.buffers, made.hidden, made.opaque = dict(value.buffers), set(value.hidden), value.opaque
        made.slots.update({k: deep_copy(v, seen) for k, v in value.slots.items()})
        if isinstance(value.items, Seq):
            row = value.items
            made.items = Seq([deep_copy(v, seen) for v in row.items], [deep_copy(v, seen) for v in row.star])
        elif isinstance(value.items, Map):
            made.items = Map({k: deep_copy(v, seen) for k, v in value.items.slots.items()})
        return made
    if isinstance(value, Choice):
        return choice([(c, deep_copy(v, seen)) for c, v in value.alternatives])
    return value
