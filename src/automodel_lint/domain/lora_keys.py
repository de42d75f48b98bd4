"""Whether an adapter treats the tensors of LoRA as it treats the weights that they belong to.

A PEFT run sends ``base_model.model.<module>.lora_A.weight`` through the same conversions as ``<module>.weight``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, SAVING, SINGLE, code_of, lines_of, own_code
from automodel_lint.domain.adapter_names import images, made_at
from automodel_lint.domain.key_text import may_change
from automodel_lint.domain.loose_adapter import Alone, LooseAdapter
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import dotted
from automodel_lint.inference.classes import MethodView, asked
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import Value as Bound

OUTER = "base_model.model."
_MOST = 4  # layers that are followed together
_MOST_PARTS = 2  # parts of a block that a text of the adapter is about
_LORA = ".lora_A.weight"
_WEIGHT = ".weight"
_MENTIONS = re.compile(r"lora_|_lora|base_model\\?\.", re.I)
_LAYERS = re.compile(r"\.(?:layers|blocks|h)\.")
_OTHER_SENSES = re.compile(r"vis|vit|audio|image|projector|aligner|mtp")
_QUANTISES = re.compile(r"quant|fp8|fp4|int8|int4", re.I)


class LoraBlind(NamedTuple):
    """One rename that LoRA misses: the weight, what it becomes, and what becomes of its LoRA tensor; where it is."""

    weight: str
    saved: str
    lora: str
    lora_saved: str
    place: Place | None

    @property
    def is_alone(self) -> bool:
        """Whether the LoRA tensor keeps its name."""
        return self.lora_saved == self.lora


def blind_rename(model: ModelClass, adapter: Adapter) -> LoraBlind | None:
    """Return a projection of the decoder whose weight is renamed, and whose LoRA tensors are not, or half, or lost.

    Left alone they may be on purpose: a PEFT adapter is named after the modules of transformers, not after the
    checkpoint. That is a fault only where shared code serves LoRA and the adapter itself has no word about it.
    """
    saving = own_code(model, adapter, SAVING, SINGLE)
    parts = (part for part in _projections(model) if _may_rename(saving, part[0]))
    beside = dict(islice(parts, _MOST_PARTS))
    missed, _ = _missed(adapter, list(beside)) if beside else ({}, {})
    found = (_blind(model, adapter, module, names, beside[module]) for module, names in missed.items())
    return next((blind for blind in found if blind is not None), None)


def _may_rename(saving: Iterable[MethodView], module: str) -> bool:
    return any(may_change(view, module.replace("*", "0") + _WEIGHT) for view in saving)


def _blind(
    model: ModelClass, adapter: Adapter, module: str, names: tuple[str, ...], beside: list[str]
) -> LoraBlind | None:
    """What is reported of a LoRA tensor that is saved as ``names``, if that is a fault with its neighbours there, too.

    What is fused with them is not simply renamed.
    """
    if not _is_fault(model, adapter, module, names):
        return None
    missed, renamed = _missed(adapter, [module, *beside])
    module = next(iter(missed), module)
    if not missed or missed.keys() != renamed.keys() or not _is_fault(model, adapter, module, missed[module]):
        return None
    written, place = " and ".join(missed[module]), made_at(adapter, SAVING, module + _WEIGHT)
    return LoraBlind(module + _WEIGHT, renamed[module] + _WEIGHT, _lora(module), written, place)


def _is_fault(model: ModelClass, adapter: Adapter, module: str, names: tuple[str, ...]) -> bool:
    knows = any(asked(view, _says_lora) for view in own_code(model, adapter))
    if names != (_lora(module),):
        return _is_mangled(adapter, module, names, knows)
    return not knows and any(asked(view, _says_lora) for view in code_of(model, adapter))


def _missed(adapter: Adapter, modules: list[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """What LoRA tensors are saved as where that is not what their weights are, and what is renamed at all."""
    plain = images(adapter, SAVING, [m + _WEIGHT for m in modules])
    targets = {m: _target(plain[m + _WEIGHT], m) for m in modules}
    renamed = {m: new for m, new in targets.items() if new and list(targets.values()).count(new) == 1}
    saved = images(adapter, SAVING, [_lora(m) for m in renamed]) if renamed else {}
    written = {m: saved[_lora(m)] for m in renamed}
    return {m: names for m, names in written.items() if names not in (None, (_lora(renamed[m]),))}, renamed  # type: ignore


def _lora(module: str) -> str:
    return f"{OUTER}{module}{_LORA}"


def _is_mangled(adapter: Adapter, module: str, names: tuple[str, ...], knows: bool) -> bool:
    """Whether LoRA tensors are saved under names that are neither the model's nor the checkpoint's.

    An adapter that knows of LoRA may have names of its own for them, if it takes them back.
    """
    if not knows or any(not name.startswith(OUTER) for name in names):
        return True
    back = images(adapter, LOADING, names)
    return None not in back.values() and (_lora(module),) not in back.values()


def _projections(model: ModelClass) -> list[tuple[str, list[str]]]:
    """The first linear layer of each part of the decoder's blocks, and some beside it."""
    found: dict[str, list[str]] = {}
    for node in model.module_tree.nodes():
        linear = node.type_name.endswith("Linear") and any(t.name == "weight" for t in node.tensors)
        if linear and _LAYERS.search(node.fqn) and not _OTHER_SENSES.search(node.fqn):
            part = found.setdefault(node.fqn.rpartition(".")[0], [])
            if node.fqn not in part:
                part.append(node.fqn)
    return [(part[0], part[1:_MOST]) for part in found.values()]


def _target(made: tuple[str, ...] | None, module: str) -> str | None:
    """What a module is called in the checkpoint, if its weight alone goes there under another name."""
    if made is None or len(made) != 1 or not made[0].endswith(_WEIGHT):
        return None
    new = made[0].removesuffix(_WEIGHT)
    return new if new != module else None


def _holds(view: MethodView, wanted: re.Pattern[str]) -> bool:
    return any(wanted.search(line) for line in lines_of(view))


def _says_lora(view: MethodView) -> bool:
    return _holds(view, _MENTIONS)


# -- quantisation ----------------------------------------------------------------------------------------------------


def blind_quantisation(model: ModelClass | LooseAdapter, adapter: Adapter | Alone) -> Iterator[MethodView]:
    """Yield the tests for what is quantised that take every name ending in ``.weight``, those of LoRA too."""
    code = code_of(model, adapter, SAVING, SINGLE)
    if not any(asked(view, _says_lora) for view in code):
        return
    for view in own_code(model, adapter, SAVING, SINGLE):
        if asked(view, _takes_weights):
            called = re.compile(rf"\b{view.node.name}\(")
            callers = [caller for caller in code if caller is not view and _holds(caller, called)]
            if not any(_excludes_lora(caller) for caller in callers):
                yield view


def _takes_weights(view: MethodView) -> bool:
    """``if not key.endswith(".weight"): return False``, or the same as one expression, and nothing of LoRA."""
    if not _QUANTISES.search(view.node.name):
        return False
    ends = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "endswith"
        and any(isinstance(a, ast.Constant) and a.value == _WEIGHT for a in node.args)
        for node in view.walk()
    )
    returns = [node.value for node in view.walk() if isinstance(node, ast.Return) and node.value is not None]
    decides = bool(returns) and all(_is_decision(value) for value in returns)
    return ends and decides and not _excludes_lora(view)


def _is_decision(expr: ast.expr) -> bool:
    if isinstance(expr, ast.Constant):
        return isinstance(expr.value, bool)
    if isinstance(expr, ast.BoolOp):
        return all(_is_decision(value) for value in expr.values)
    calls = isinstance(expr, ast.Call) and (
        dotted(expr.func) in ("any", "all", "bool") or getattr(expr.func, "attr", "") in ("endswith", "startswith")
    )
    return calls or isinstance(expr, ast.Compare) or (isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not))


def _excludes_lora(view: MethodView) -> bool:
    """Whether a function has a word about LoRA, in itself or in a table that it looks into."""
    if _holds(view, re.compile(r"[\"'][^\"']*lora_?[^\"']*[\"']")):
        return True
    for node in view.walk():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.isupper():
            for entity in view.classes.names.resolve(node, view.scope):
                if isinstance(entity, Bound) and "lora" in ast.unparse(entity.expr):
                    return True
    return False
