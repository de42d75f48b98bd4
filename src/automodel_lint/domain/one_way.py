"""Renames that an adapter makes when it saves and does not take back when it loads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.adapter_code import LOADING, SAVING, SINGLE, own_code
from automodel_lint.domain.adapter_names import images, made_at
from automodel_lint.domain.key_text import fits, texts
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.classes import MethodView, asked
from automodel_lint.inference.module_tree import Place

_QUANTISES = re.compile(r"quant|fp8|fp4")
_MOST = 4  # names that are followed before anything is suspected
_MOST_BESIDE = 12
_ASKED = "model."  # what every other adapter asks of a checkpoint
_ELSEWHERE = (".experts.", "._fp32_params.", "_extra_state")  # what shared code takes apart, and what NAM513 is about


class OneWay(NamedTuple):
    """A tensor that does not come back: its name, what it is saved as, what that is loaded as; where it is renamed."""

    name: str
    saved: str
    loaded: str
    place: Place | None


def one_way(model: ModelClass, adapter: Adapter) -> OneWay | None:
    """Return the first tensor of the model that is saved under another name and not loaded back from there.

    Names are followed that a text of one direction is about which the other does not have; what then looks lost is
    looked up in the whole maps of both directions.
    """
    names = _touched(adapter, own_code(model, adapter, SAVING, SINGLE), own_code(model, adapter, LOADING))
    saved = images(adapter, SAVING, names) if names else {}
    renamed = {name: made for name, made in saved.items() if made and made != (name,)}
    loaded = images(adapter, LOADING, dict.fromkeys(n for made in renamed.values() for n in made)) if renamed else {}
    for name, made in renamed.items():
        if _is_lost(name, made, loaded) and _is_lost_with_others(adapter, name):
            key = next((key for key in adapter.one_way if key.name == name), None)
            if key is not None:
                found = [adapter.from_hf.keys[new] for new in key.all_names if new in adapter.from_hf.keys]
                read = dict.fromkeys(n for k in found for n in k.all_names)
                return OneWay(name, " and ".join(key.all_names), " and ".join(read), made_at(adapter, SAVING, name))
    return None


def _is_lost(name: str, made: tuple[str, ...], loaded: dict[str, tuple[str, ...] | None]) -> bool:
    back = [loaded[new] for new in made]
    return bool(back) and None not in back and not any(name in (found or ()) for found in back)


def _is_lost_with_others(adapter: Adapter, name: str) -> bool:
    """Whether a name does not come back, either, if those beside it are there, with which it may be fused."""
    parent = name.rpartition(".")[0].rpartition(".")[0]
    names = [n for n in adapter.natives if n.startswith(f"{parent}.")][:_MOST_BESIDE]
    saved = images(adapter, SAVING, [name, *(n for n in names if n != name)])
    made = saved[name]
    written = dict.fromkeys(new for found in saved.values() for new in found or ())
    return bool(made) and _is_lost(name, made or (), images(adapter, LOADING, written))


def _touched(adapter: Adapter, saving: Iterable[MethodView], loading: Iterable[MethodView]) -> list[str]:
    """The names that a text is about which stands on one side only, one for each text."""
    there, back = _written(saving), _written(loading)
    alone = [*(there[text] for text in sorted(there.keys() - back.keys()))]
    alone += [_last(text) for text in sorted(back.keys() - there.keys())]
    natives = (name for name in adapter.natives if not any(part in name for part in _ELSEWHERE)) if alone else ()
    names = {name: name.replace("*", "0") for name in natives}
    found = (next((name for name, real in names.items() if text and fits(text, real)), None) for text in alone)
    return [name for name in dict.fromkeys(found) if name is not None][:_MOST]


def _written(code: Iterable[MethodView]) -> dict[str, str]:
    """The texts about names in some functions, by what they are about: a pattern is the text that it stands for."""
    found = {text for view in code if not _QUANTISES.search(view.node.name) for text in asked(view, texts)[0]}
    plain = {re.sub(r"[\\^$]", "", text): text for text in found if "." in text}
    return {plain: text for plain, text in plain.items() if plain != _ASKED and not any(p in plain for p in _ELSEWHERE)}


def _last(text: str) -> str:
    """The end of a text that is about names of the checkpoint: what it has in common with a name of the model."""
    part = text.rstrip(".").rpartition(".")[2]
    return part if part.isidentifier() else ""
