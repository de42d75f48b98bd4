"""NAM001, NAM102, NAM105, NAM106, NAM110, NAM601: what leads to a class, what it derives from, stale comments."""

from __future__ import annotations

import ast
import re

from . import PACKAGE, REGISTRY, Injected, Injection
from .source import class_in, cut, first_line, parsed, put, segment, swapped

MIXIN = "HFCheckpointingMixin"
SYNC = "MoEFSDPSyncMixin"


def _export(text: str) -> ast.Assign | None:
    """The statement ``ModelClass = …`` of a module."""
    for node in parsed(text).body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["ModelClass"]:
            return node
    return None


def export_removed(text: str, cls: str) -> Injected | None:
    """The module names no model class."""
    found = _exported(text, cls)
    if found is None:
        return None
    last = text.endswith(f"\n\n\nModelClass = {cls}\n")
    return Injected(cut(text, found).rstrip("\n") + "\n", _only_model(text) if last else None)


def export_none(text: str, cls: str) -> Injected | None:
    """The export is empty."""
    found = _exported(text, cls)
    return Injected(swapped(text, found.value, "None"), _only_model(text)) if found else None


def export_of_another(text: str, cls: str) -> Injected | None:
    """The export is a class of the module that is not registered."""
    found = _exported(text, cls)
    # What is derived from the model could be registered itself.
    others = [n for n in parsed(text).body if isinstance(n, ast.ClassDef) and "For" not in n.name]
    if found is None or not others:
        return None
    return Injected(swapped(text, found.value, others[-1].name), _only_model(text))


def _only_model(text: str) -> str | None:
    """The original, where the module has one class that an export could name; of several the repair names all."""
    models = [n for n in parsed(text).body if isinstance(n, ast.ClassDef) and "For" in n.name]
    return text if len(models) == 1 else None


def _exported(text: str, cls: str) -> ast.Assign | None:
    found = _export(text)
    return found if found and segment(text, found.value) == cls else None


def reexport_removed(text: str, cls: str) -> Injected | None:
    """The package neither imports nor names the class."""
    imported, listed = _import(text, cls), _all(text)
    if imported is None or listed is None:
        return None
    return Injected(_not_imported(_not_listed(text, cls), cls))


def reexport_unlisted(text: str, cls: str) -> Injected | None:
    """The package imports the class and does not name it."""
    listed = _all(text)
    if listed is None or _import(text, cls) is None or f'"{cls}"' not in segment(text, listed):
        return None
    names = ast.literal_eval(listed.value)
    # One name, or names that come in one order however they are sorted, in a single line.
    clear = names == sorted(names) and not any("_" in name for name in names) and listed.lineno == listed.end_lineno
    return Injected(_not_listed(text, cls), text if clear else None)


def reexport_unimported(text: str, cls: str) -> Injected | None:
    """The package names the class and does not import it."""
    found = _import(text, cls)
    return Injected(_not_imported(text, cls)) if found else None


def reexport_under_another_name(text: str, cls: str) -> Injected | None:
    """The package imports the class for itself only."""
    found = _import(text, cls)
    if found is None:
        return None
    alias = next(a for a in found.names if a.name == cls)
    shorter = _not_listed(text, cls)
    found = _import(shorter, cls)
    assert found is not None
    lines = shorter.split("\n")
    number = alias.lineno - 1
    lines[number] = re.sub(rf"\b{cls}\b", f"{cls} as _{cls}", lines[number])
    return Injected("\n".join(lines))


def _import(text: str, cls: str) -> ast.ImportFrom | None:
    for node in parsed(text).body:
        if isinstance(node, ast.ImportFrom) and any(a.name == cls and a.asname is None for a in node.names):
            return node
    return None


def _all(text: str) -> ast.Assign | None:
    for node in parsed(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return node
    return None


def _not_listed(text: str, cls: str) -> str:
    listed = _all(text)
    assert listed is not None
    before = segment(text, listed)
    shorter = re.sub(rf'\n    "{cls}",|"{cls}", |, "{cls}"|"{cls}"', "", before, count=1)
    return swapped(text, listed, shorter)


def _not_imported(text: str, cls: str) -> str:
    found = _import(text, cls)
    assert found is not None
    if len(found.names) == 1:
        return cut(text, found)
    shorter = re.sub(rf"\n    {cls},|\b{cls}, |, {cls}\b", "", segment(text, found), count=1)
    return swapped(text, found, shorter)


def mixin_removed(text: str, cls: str) -> Injected | None:
    """The class does not derive from the mixin."""
    shorter = _without_base(text, cls, MIXIN)
    node = class_in(text, cls)
    if shorter is None or node is None:
        return None
    first = segment(text, node.bases[0]) == MIXIN and node.bases[0].lineno == node.lineno
    return Injected(shorter, text if first else None)


def mixin_removed_with_import(text: str, cls: str) -> Injected | None:
    """The same, and nothing imports it."""
    shorter = _without_base(text, cls, MIXIN)
    return Injected(_unimported(shorter, MIXIN)) if shorter else None


def mixin_behind(text: str, cls: str) -> Injected | None:
    """The mixin comes behind a base that loads and saves by itself."""
    node = class_in(text, cls)
    if node is None or len(node.bases) < 2 or segment(text, node.bases[0]) != MIXIN:
        return None
    second = node.bases[1]
    name = segment(text, second)
    if name in ("nn.Module", "GenerationMixin", SYNC):  # none of these loads or saves
        return None
    return Injected(swapped(swapped(text, second, MIXIN), node.bases[0], name), text)


def sync_removed(text: str, cls: str) -> Injected | None:
    """The class does not derive from the MoE mixin."""
    shorter, node = _without_base(text, cls, SYNC), class_in(text, cls)
    if shorter is None or node is None:
        return None
    return Injected(shorter, text if segment(text, node.bases[-1]) == SYNC else None)


def sync_removed_with_import(text: str, cls: str) -> Injected | None:
    """The same, and nothing imports it."""
    shorter = _without_base(text, cls, SYNC)
    return Injected(_unimported(shorter, SYNC)) if shorter else None


def sync_replaced(text: str, cls: str) -> Injected | None:
    """The class derives from something that only sounds like the mixin."""
    node = class_in(text, cls)
    if node is None or SYNC not in [segment(text, base) for base in node.bases]:
        return None
    base = next(b for b in node.bases if segment(text, b) == SYNC)
    return Injected(put(swapped(text, base, "OwnSyncMixin"), node, 'class OwnSyncMixin:\n    """Nothing."""\n\n'))


def _without_base(text: str, cls: str, name: str) -> str | None:
    node = class_in(text, cls)
    if node is None or name not in [segment(text, base) for base in node.bases]:
        return None
    head_end = node.body[0].lineno - 1
    lines = text.split("\n")
    head = "\n".join(lines[node.lineno - 1 : head_end])
    shorter = re.sub(rf"\n\s*{name},|\b{name}, |, {name}\b|\b{name}\b", "", head, count=1)
    return "\n".join([*lines[: node.lineno - 1], shorter, *lines[head_end:]])


def _unimported(text: str, name: str) -> str:
    """Take the import of a name out, if nothing else uses it."""
    uses = [n for n in ast.walk(parsed(text)) if isinstance(n, ast.Name) and n.id == name]
    found = next((n for n in ast.walk(parsed(text)) if isinstance(n, ast.ImportFrom) and _brings(n, name)), None)
    if uses or found is None:
        return text
    if len(found.names) == 1:
        return cut(text, found)
    shorter = re.sub(rf"\n\s*{name},|\b{name}, |, {name}\b", "", segment(text, found), count=1)
    return swapped(text, found, shorter)


def _brings(node: ast.ImportFrom, name: str) -> bool:
    return any(alias.name == name for alias in node.names)


def entry_cut_short(text: str, cls: str) -> Injected | None:
    """The entry lacks the last letter of the class."""
    return _entry(text, cls, cls[:-1])


def entry_in_other_case(text: str, cls: str) -> Injected | None:
    """The entry spells the class in other case."""
    return _entry(text, cls, cls[0] + cls[1:].replace("For", "for"))


def entry_transposed(text: str, cls: str) -> Injected | None:
    """Two letters of the entry changed places."""
    at = next(i for i in range(1, len(cls)) if cls[i] != cls[i + 1])
    return _entry(text, cls, cls[:at] + cls[at + 1] + cls[at] + cls[at + 2 :])


def _entry(text: str, cls: str, wrong: str) -> Injected | None:
    """The class name stands behind the module of its entry."""
    found = re.search(rf'\.models\.\w+\.\w+",\s*"({cls})"', text)
    if found is None:
        return None
    return Injected(text[: found.start(1)] + wrong + text[found.end(1) :], text)


def stale_noqa(text: str, cls: str) -> Injected | None:
    """A comment silences a finding that is not there."""
    return _commented(text, cls, "  # noqa: NAM206", "")


def stale_beside_others(text: str, cls: str) -> Injected | None:
    """The same, beside the code of another tool."""
    return _commented(text, cls, "  # noqa: E501, NAM206", "  # noqa: E501")


def stale_with_reason(text: str, cls: str) -> Injected | None:
    """The same in the linter's own form, on a line of its own."""
    node = class_in(text, cls)
    if node is None:
        return None
    return Injected(put(text, node, "# automodel-lint: ignore[NAM206] the caller guards"), text)


def _commented(text: str, cls: str, comment: str, left: str) -> Injected | None:
    """A comment behind the line of the class, if that ends there."""
    node = class_in(text, cls)
    lines = text.split("\n")
    if node is None or not lines[node.lineno - 1].endswith(":") or first_line(node) > node.lineno:
        return None
    plain = lines[node.lineno - 1]
    lines[node.lineno - 1] = plain + comment
    faulty = "\n".join(lines)
    lines[node.lineno - 1] = plain + left
    return Injected(faulty, "\n".join(lines))


INJECTIONS = [
    Injection("NAM001", "noqa", stale_noqa, about=("NAM206",)),
    Injection("NAM001", "beside-others", stale_beside_others, about=("NAM206",)),
    Injection("NAM001", "with-reason", stale_with_reason, about=("NAM206",)),
    Injection("NAM102", "cut-short", entry_cut_short, REGISTRY, brings=("NAM105", "NAM107")),
    Injection("NAM102", "in-other-case", entry_in_other_case, REGISTRY, brings=("NAM105", "NAM107")),
    Injection("NAM102", "transposed", entry_transposed, REGISTRY, brings=("NAM105", "NAM107")),
    Injection("NAM105", "removed", export_removed),
    Injection("NAM105", "none", export_none),
    Injection("NAM105", "of-another", export_of_another),
    Injection("NAM106", "removed", reexport_removed, PACKAGE),
    Injection("NAM106", "unlisted", reexport_unlisted, PACKAGE),
    Injection("NAM106", "unimported", reexport_unimported, PACKAGE),
    Injection("NAM106", "under-another-name", reexport_under_another_name, PACKAGE),
    Injection("NAM110", "removed", mixin_removed),
    Injection("NAM110", "removed-with-import", mixin_removed_with_import),
    Injection("NAM110", "behind", mixin_behind),
    Injection("NAM601", "removed", sync_removed),
    Injection("NAM601", "removed-with-import", sync_removed_with_import),
    Injection("NAM601", "replaced", sync_replaced),
]
