"""NAM301, NAM303-NAM305: capabilities that nobody can read."""

from __future__ import annotations

import ast

from . import Injected, Injection
from .source import class_in, cut, first_line, member, method, put, segment, start, swapped

AXES = ("supports_tp", "supports_cp", "supports_pp", "supports_ep")
FROZEN = "@dataclass(frozen=True)"


def _profile(text: str, cls: str) -> ast.ClassDef | None:
    """The nested class."""
    node = class_in(text, cls)
    found = member(node, "ModelCapabilities") if node else None
    return found if isinstance(found, ast.ClassDef) else None


def _declaration(text: str, cls: str) -> ast.ClassDef | ast.FunctionDef | None:
    """The nested class or the query."""
    return _profile(text, cls) or method(text, cls, "get_capabilities")


def removed(text: str, cls: str) -> Injected | None:
    """Nothing declares capabilities."""
    found = _declaration(text, cls)
    return Injected(cut(text, found)) if found else None


def renamed(text: str, cls: str) -> Injected | None:
    """The declaration has a name that nobody looks for."""
    found = _declaration(text, cls)
    if found is None:
        return None
    names = {"ModelCapabilities": "Capabilities", "get_capabilities": "capabilities_of"}
    return Injected(swapped(text, found, segment(text, found).replace(found.name, names[found.name], 1)))


def in_a_base(text: str, cls: str) -> Injected | None:
    """The declaration is inherited, which does not count."""
    found, node = _declaration(text, cls), class_in(text, cls)
    if found is None or node is None:
        return None
    lines = text.split("\n")[first_line(found) - 1 : found.end_lineno]
    body = "\n".join(line.removeprefix(" " * node.col_offset) for line in lines)
    shorter = cut(text, found)
    node = class_in(shorter, cls)
    assert node is not None
    longer = swapped(shorter, node.bases[-1], f"{segment(shorter, node.bases[-1])}, Declared")
    return Injected(put(longer, node, f"class Declared:\n{body}\n\n"))


def not_frozen(text: str, cls: str) -> Injected | None:
    """The profile may be changed."""
    return _decorated(text, cls, "@dataclass(frozen=False)")


def bare_dataclass(text: str, cls: str) -> Injected | None:
    """The decorator has no arguments."""
    return _decorated(text, cls, "@dataclass")


def empty_dataclass(text: str, cls: str) -> Injected | None:
    """The decorator is called without arguments."""
    return _decorated(text, cls, "@dataclass()")


def no_dataclass(text: str, cls: str) -> Injected | None:
    """The profile is a plain class."""
    return _decorated(text, cls, "")


def _decorated(text: str, cls: str, decorator: str) -> Injected | None:
    found = _profile(text, cls)
    if found is None or [ast.unparse(d) for d in found.decorator_list] != [FROZEN[1:]]:
        return None
    at = start(text, found.decorator_list[0]) - 1
    if decorator:
        return Injected(text[:at] + decorator + text[at + len(FROZEN) :], text)
    return Injected(text[: at - found.col_offset] + text[at + len(FROZEN) + 1 :], text)


def axis_misspelled(text: str, cls: str) -> Injected | None:
    """An axis has another name."""
    found = _axis(text, cls, "supports_cp")
    return Injected(swapped(text, found.target, "support_cp"), text) if found else None


def axis_missing(text: str, cls: str) -> Injected | None:
    """An axis is not answered."""
    found, profile = _axis(text, cls, "supports_ep"), _profile(text, cls)
    if found is None or profile is None:
        return None
    assert found.value is not None
    same = segment(text, found.value) == "False" and profile.body[-1] is found
    return Injected(cut(text, found), text if same else None)


def axis_none(text: str, cls: str) -> Injected | None:
    """An axis is answered by ``None``."""
    return _answered(text, cls, "False", "None")


def axis_number(text: str, cls: str) -> Injected | None:
    """An axis is answered by a number."""
    return _answered(text, cls, "True", "1")


def _answered(text: str, cls: str, old: str, new: str) -> Injected | None:
    for name in AXES:
        found = _axis(text, cls, name)
        if found is not None and found.value is not None and segment(text, found.value) == old:
            return Injected(swapped(text, found.value, new), text)
    return None


def _axis(text: str, cls: str, name: str) -> ast.AnnAssign | None:
    profile = _profile(text, cls)
    found = member(profile, name) if profile else None
    return found if isinstance(found, ast.AnnAssign) else None


def plain_method(text: str, cls: str) -> Injected | None:
    """The query needs an instance."""
    found = _query(text, cls)
    if found is None:
        return None
    lines = text.split("\n")
    del lines[found.decorator_list[0].lineno - 1]
    return Injected("\n".join(lines), text)


def static_method(text: str, cls: str) -> Injected | None:
    """The query does not get the class."""
    found = _query(text, cls)
    if found is None:
        return None
    short = swapped(text, found, segment(text, found).replace("(cls, config", "(config", 1))
    return Injected(swapped(short, found.decorator_list[0], "staticmethod"), text)


def another_parameter(text: str, cls: str) -> Injected | None:
    """The query takes something else besides."""
    found = _query(text, cls)
    if found is None:
        return None
    config = found.args.args[1]
    at = start(text, config.annotation or config)  # type: ignore[arg-type]
    at += len(segment(text, config.annotation or config))  # type: ignore[arg-type]
    return Injected(f"{text[:at]}, model=None{text[at:]}", text)


def self_for_cls(text: str, cls: str) -> Injected | None:
    """The first parameter of a plain method."""
    found = plain_method(text, cls)
    if found is None:
        return None
    return Injected(found.text.replace("def get_capabilities(cls, ", "def get_capabilities(self, ", 1), text)


def returns_dict(text: str, cls: str) -> Injected | None:
    """The query answers with a dict of the same flags."""
    found = _query(text, cls)
    if found is None:
        return None
    answers = [n.value for n in ast.walk(found) if isinstance(n, ast.Return) and isinstance(n.value, ast.Call)]
    answer = next((a for a in answers if isinstance(a, ast.Call) and a.keywords), None)
    if answer is None:
        return None
    pairs = ", ".join(f'"{k.arg}": {segment(text, k.value)}' for k in answer.keywords)
    return Injected(swapped(text, answer, f"{{{pairs}}}"), text if answer.lineno == answer.end_lineno else None)


def _query(text: str, cls: str) -> ast.FunctionDef | None:
    return method(text, cls, "get_capabilities")


# Four of the fifteen answer by `get_capabilities`; of those that remain only one in the package has another form of it.
INJECTIONS = [
    Injection("NAM301", "removed", removed),
    Injection("NAM301", "renamed", renamed),
    Injection("NAM301", "in-a-base", in_a_base),
    Injection("NAM303", "not-frozen", not_frozen),
    Injection("NAM303", "bare-dataclass", bare_dataclass),
    Injection("NAM303", "empty-dataclass", empty_dataclass),
    Injection("NAM303", "no-dataclass", no_dataclass),
    Injection("NAM304", "misspelled", axis_misspelled),
    Injection("NAM304", "missing", axis_missing),
    Injection("NAM304", "none", axis_none),
    Injection("NAM304", "number", axis_number),
    Injection("NAM305", "plain-method", plain_method),
    Injection("NAM305", "static-method", static_method),
    Injection("NAM305", "another-parameter", another_parameter),
    Injection("NAM305", "self-for-cls", self_for_cls),
    Injection("NAM305", "returns-dict", returns_dict),
]
