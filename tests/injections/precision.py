"""NAM401, NAM404, NAM406, NAM408: fp32 tensors that nothing keeps, casts past the keep lists, low allocations."""

from __future__ import annotations

import ast
import re

from . import LAYERS, Injected, Injection
from .source import assigned, class_in, cut, method, put_below, segment, swapped

STRICT, PLAIN = "_keep_in_fp32_modules_strict", "_keep_in_fp32_modules"
# What is intrinsically fp32 in every model that has it; of the other patterns some pin what may be low as well.
NEEDED = ("e_score_correction_bias", "_fp32_params")


def pattern_removed(text: str, cls: str) -> Injected | None:
    """The lists lack a pattern that is needed."""
    name = _needed(text, cls)
    if name is None:
        return None
    kept = _patterns(text, cls, STRICT)
    inverse = text if kept[-1] == name and not assigned(text, cls, PLAIN) else None
    return Injected(_without(_without(text, cls, STRICT, name), cls, PLAIN, name), inverse)


def lists_removed(text: str, cls: str) -> Injected | None:
    """There is no list that has any of the patterns."""
    name, strict = _needed(text, cls), assigned(text, cls, STRICT)
    if name is None or strict is None:
        return None
    rest = [p for p in _patterns(text, cls, PLAIN) if p not in _patterns(text, cls, STRICT)]
    faulty = cut(text, strict)
    plain = assigned(faulty, cls, PLAIN)
    if plain is not None and plain.value is not None:
        # What only the other list pins stays there: it is no part of this fault.
        faulty = swapped(faulty, plain.value, _written(rest)) if rest else cut(faulty, plain)
    return Injected(faulty)


def pattern_misspelled(text: str, cls: str) -> Injected | None:
    """The pattern matches nothing."""
    name = _needed(text, cls)
    if name is None:
        return None
    faulty = text
    for attribute in (STRICT, PLAIN):
        found = assigned(faulty, cls, attribute)
        if found is not None and found.value is not None:
            wrong = segment(faulty, found.value).replace(name, name[:-2] + name[-1] + name[-2])
            faulty = swapped(faulty, found.value, wrong)
    return Injected(faulty)


def list_renamed(text: str, cls: str) -> Injected | None:
    """All is in the list that sharding does not read."""
    return _plainly(text, cls, "{name} = {patterns}")


def list_annotated(text: str, cls: str) -> Injected | None:
    """The same, annotated and as a tuple."""
    return _plainly(text, cls, "{name}: tuple[str, ...] = tuple({patterns})")


def pattern_moved(text: str, cls: str) -> Injected | None:
    """One pattern went over to the other list."""
    name = _needed(text, cls)
    strict = assigned(text, cls, STRICT)
    if name is None or strict is None:
        return None
    plain = [*(p for p in _patterns(text, cls, PLAIN) if p != name), name]
    faulty = _without(text, cls, STRICT, name)
    found = assigned(faulty, cls, PLAIN)
    if found is not None and found.value is not None:
        return Injected(swapped(faulty, found.value, _written(plain)))
    strict = assigned(faulty, cls, STRICT)
    assert strict is not None
    return Injected(put_below(faulty, strict, f"{PLAIN} = {_written(plain)}"))


def _plainly(text: str, cls: str, form: str) -> Injected | None:
    """The strict list is gone, and the other one, in the given form, has its patterns."""
    strict = assigned(text, cls, STRICT)
    if strict is None or _needed(text, cls) is None:
        return None
    both = list(dict.fromkeys([*_patterns(text, cls, STRICT), *_patterns(text, cls, PLAIN)]))
    plain = assigned(text, cls, PLAIN)
    faulty = cut(text, plain) if plain else text
    strict = assigned(faulty, cls, STRICT)
    assert strict is not None
    return Injected(swapped(faulty, strict, form.format(name=PLAIN, patterns=_written(both))))


def _needed(text: str, cls: str) -> str | None:
    """A pattern of the strict list without which something is unpinned."""
    init = method(text, cls, "__init__")
    if init is not None and PLAIN in segment(text, init):  # the constructor writes a list of its own
        return None
    return next((p for n in NEEDED for p in _patterns(text, cls, STRICT) if p.endswith(n)), None)


def _patterns(text: str, cls: str, attribute: str) -> list[str]:
    found = assigned(text, cls, attribute)
    return list(ast.literal_eval(found.value)) if found is not None and found.value is not None else []


def _without(text: str, cls: str, attribute: str, name: str) -> str:
    """Take a pattern out of a list, in place."""
    found = assigned(text, cls, attribute)
    if found is None or found.value is None or name not in _patterns(text, cls, attribute):
        return text
    shorter = re.sub(rf'\n\s*"{name}",|"{name}", |, "{name}"|"{name}"', "", segment(text, found.value), count=1)
    return swapped(text, found.value, shorter)


def _written(patterns: list[str]) -> str:
    return "[" + ", ".join(f'"{p}"' for p in patterns) + "]"


def cast_to(text: str, cls: str) -> Injected | None:
    """The model is cast past the keep lists."""
    return _cast(text, cls, "self.to({})")


def cast_to_by_keyword(text: str, cls: str) -> Injected | None:
    """The same, by keyword."""
    return _cast(text, cls, "self.to(dtype={})")


def cast_to_bfloat16(text: str, cls: str) -> Injected | None:
    """The same by the short name."""
    found = _cast(text, cls, "self.bfloat16()")
    return Injected(found.text) if found else None


def cast_to_half(text: str, cls: str) -> Injected | None:
    """The same to fp16."""
    found = _cast(text, cls, "self.half()")
    return Injected(found.text) if found else None


def _cast(text: str, cls: str, form: str) -> Injected | None:
    node = class_in(text, cls)
    for call in ast.walk(node) if node else ():
        if isinstance(call, ast.Call) and segment(text, call.func) == "cast_model_to_dtype":
            if segment(text, call.args[0]) != "self":
                continue
            inverse = None if call.keywords else text
            return Injected(swapped(text, call, form.format(segment(text, call.args[1]))), inverse)
    return None


def allocated_low(text: str, cls: str) -> Injected | None:
    """A pinned parameter is allocated in bfloat16."""
    return _allocated(text, "dtype=torch.bfloat16")


def allocated_by_default(text: str, cls: str) -> Injected | None:
    """No dtype is asked for."""
    return _allocated(text, "")


def allocated_in_default_dtype(text: str, cls: str) -> Injected | None:
    """The dtype of whatever is being built is asked for."""
    return _allocated(text, "dtype=torch.get_default_dtype()")


def _allocated(text: str, dtype: str) -> Injected | None:
    found = re.search(r"nn\.Parameter\(torch\.\w+\([^\n]*?(, dtype=torch\.float32)\)\)", text)
    if found is None:
        return None
    return Injected(text[: found.start(1)] + (f", {dtype}" if dtype else "") + text[found.end(1) :], text)


INJECTIONS = [
    Injection("NAM401", "pattern-removed", pattern_removed),
    Injection("NAM401", "lists-removed", lists_removed),
    Injection("NAM401", "pattern-misspelled", pattern_misspelled, brings=("NAM402",), leaves=("NAM402",)),
    # Where the cast was all that made a pinned tensor fp32, its allocation is low now.
    Injection("NAM404", "to", cast_to, brings=("NAM408",)),
    Injection("NAM404", "to-by-keyword", cast_to_by_keyword, brings=("NAM408",)),
    Injection("NAM404", "to-bfloat16", cast_to_bfloat16, brings=("NAM408",)),
    Injection("NAM404", "to-half", cast_to_half, brings=("NAM408",)),
    Injection("NAM406", "list-renamed", list_renamed),
    Injection("NAM406", "list-annotated", list_annotated),
    Injection("NAM406", "pattern-moved", pattern_moved),
    # Three of the fifteen allocate such a tensor themselves; the rest have it from a shared layer. An info says that a
    # parameter lies bare beside those of the model's dtype, now that it is alone in being fp32.
    Injection("NAM408", "low", allocated_low, LAYERS, brings=("NAM407",)),
    Injection("NAM408", "by-default", allocated_by_default, LAYERS, brings=("NAM407",)),
    Injection("NAM408", "in-default-dtype", allocated_in_default_dtype, LAYERS, brings=("NAM407",)),
]
