"""Module trees of single classes, and how they differ from what was really constructed (see ``tree_truth.py``).

The comparison is strict, as the models are made for it. What is unconditional in the tree must be in every real model;
what is conditional in one at least, and absent from one at least. ``*`` stands for an index or for what varies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.module_tree import ModuleNode, ModuleTree, Tensor, always, matches
from automodel_lint.source import SourceTree

Record = dict[str, Any]
_OPEN = object()  # what an expression comes out as that the configuration alone does not decide


def project_of(folder: Path, outside: Iterable[str]) -> Project:
    """Return the domain over a package of models; ``outside`` are the folders where libraries lie."""
    root = str(folder.parent)
    project = Project(Checkout(root, root, folder.name), SourceTree(root), list(outside))
    project.adopt(project.read_plan())
    return project


def tree_of(project: Project, module: str, cls: str) -> ModuleTree:
    """Return the tree of a class of such a package."""
    entity = project.by_fqn(f"{project.checkout.package}.{module}.{cls}")[0]
    return ModelClass(project, entity, (), ()).module_tree


# -- comparison -----------------------------------------------------------------------------------------------------


def differences(
    tree: ModuleTree, records: list[Record], default: str, opaque: Iterable[str] = (), unfollowed: Iterable[str] = ()
) -> list[str]:
    """Return a line for each difference between a tree and the models that its class really makes.

    ``opaque`` are the nodes that must be opaque; what lies below them is nobody's fault. ``unfollowed`` are last parts
    of names whose dtype or class is not asked for.
    """
    expected = set(opaque)
    found = [f"opaque    {n.fqn or 'root'}: {n.opaque}" for n in tree.opaque if n.fqn not in expected]
    found += [f"not opaque {fqn}" for fqn in expected - {n.fqn for n in tree.opaque}]
    found += [f"not constructed: {r['error']}" for r in records if "error" in r]
    if any("error" in r for r in records):
        return found
    hidden = [fqn for fqn in expected]
    found += _presence({fqn: not tree.is_conditional(fqn) for fqn in tree.by_fqn}, records, "tensors", hidden)
    found += _by_condition(tree, records)
    found += _details(tree, records, default, set(unfollowed))
    nodes: dict[str, list[ModuleNode]] = {}
    for node in tree.nodes():
        nodes.setdefault(node.fqn, []).append(node)
    sure = {fqn: always([n.conditions for n in variants]) for fqn, variants in nodes.items()}
    found += [f"module {d}" for d in _presence(sure, records, "modules", hidden)]
    found += _types(nodes, records, hidden, set(unfollowed))
    found += _too_broad(tree, records)
    return found


def is_only_vague(difference: str) -> bool:
    """Tell whether a difference says only that the tree admits more than there is: a side that no model takes."""
    is_never = difference.startswith("never") and not difference.endswith("(always)")
    return is_never or difference.removeprefix("module ").startswith("always ") or difference.endswith("(conditional)")


def _presence(patterns: dict[str, bool], records: list[Record], what: str, hidden: list[str]) -> Iterator[str]:
    """Missed and phantom names, and conditions that there are not."""
    every = sorted({name for r in records for name in r[what]})
    for name in every:
        if not any(matches(p, name) for p in patterns) and not _below(name, hidden):
            yield f"missed    {name}"
    for pattern, is_sure in patterns.items():
        if _below(pattern, hidden):
            continue
        shares = [_share(pattern, r, what) for r in records]
        if not any(shares):
            yield f"phantom   {pattern}" + ("" if is_sure else " (conditional)")
        elif is_sure and not all(shares):
            yield f"sometimes {pattern} is unconditional in the tree"
        elif not is_sure and all(share == 1 for share in shares):
            yield f"always    {pattern} is conditional in the tree"


def _share(pattern: str, record: Record, what: str) -> float:
    """Of the indices that a model has up to the last ``*`` of a pattern, the share for which it is there."""
    names = record[what]
    if "*" not in pattern:
        return float(pattern in names)
    after = pattern.find(".", pattern.rfind("*"))
    prefix = pattern[:after] if after >= 0 else pattern
    start = re.compile(re.escape(prefix).replace(r"\*", r"[^.]*") + r"(?=\.|$)")
    bound = {m.group() for name in (*record["modules"], *names, *record["none"]) for m in [start.match(name)] if m}
    return sum(b + pattern[len(prefix) :] in names for b in bound) / len(bound) if bound else 0.0


def _by_condition(tree: ModuleTree, records: list[Record]) -> Iterator[str]:
    """Conditions that can be evaluated on a configuration must come out as the model that was made of it."""
    wrong: dict[str, None] = {}
    for record in records:
        there = {id(t): _holds(t, record["config"]) for t in tree.tensors}
        for tensor in tree.tensors:
            if there[id(tensor)] and not any(matches(tensor.fqn, name) for name in record["tensors"]):
                wrong[f"condition {tensor.fqn}: is not there although {_said(tensor)}"] = None
        for name in record["tensors"]:
            variants = tree.find(name)
            if variants and all(there[id(t)] is False for t in variants):
                wrong[f"condition {name}: is there although not {' nor '.join(map(_said, variants))}"] = None
    yield from wrong


def _holds(tensor: Tensor, config: Any) -> bool | None:
    """Whether all conditions of a tensor hold; ``None`` where that depends on more than the configuration."""
    results = []
    for condition in tensor.conditions:
        value = _evaluated(condition.text, config, _OPEN)
        results.append(None if value is _OPEN else bool(value) is condition.holds)
    return False if False in results else (None if None in results else True)


def _said(tensor: Tensor) -> str:
    return " and ".join(map(str, tensor.conditions)) or "always"


def _below(name: str, hidden: list[str]) -> bool:
    return any(matches(h, part) for h in hidden for part in _prefixes(name))


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return ["", *(".".join(parts[: i + 1]) for i in range(len(parts)))]


# -- what tensors and modules are -----------------------------------------------------------------------------------


def _details(tree: ModuleTree, records: list[Record], default: str, unfollowed: set[str]) -> Iterator[str]:
    """Kinds, persistence, dtypes and shapes: one of the tree's variants must be right in each model."""
    right: set[int] = set()
    wrong: dict[str, None] = {}
    for record in records:
        for name, real in record["tensors"].items():
            variants = tree.find(name)
            if name.rpartition(".")[2] in unfollowed:
                real = real | {"dtype": None}
            fitting = [t for t in variants if not list(_unlike(t, real, record["config"], default))]
            right |= {id(t) for t in fitting}
            if variants and not fitting:
                wrong[f"differs   {name}: {'; '.join(_unlike(variants[0], real, record['config'], default))}"] = None
            for tensor in variants:
                if not tensor.conditions and tensor.fqn == name and tensor not in fitting:
                    wrong[f"differs   {name}: {'; '.join(_unlike(tensor, real, record['config'], default))}"] = None
    yield from wrong
    for tensor in tree.tensors:
        if id(tensor) not in right and any(matches(tensor.fqn, n) for r in records for n in r["tensors"]):
            yield f"never     {tensor.fqn} as {_shown(tensor)}"


def _unlike(tensor: Tensor, real: Record, config: Any, default: str) -> Iterator[str]:
    for what in ("kind", "persistent", "trainable"):
        if getattr(tensor, what) != real[what]:
            yield f"{what} {getattr(tensor, what)!r}, really {real[what]!r}"
    if real["dtype"] is not None and _dtype(tensor, config, real["dtype"], default) != real["dtype"]:
        yield f"dtype {tensor.dtype}, really {real['dtype']}"
    shape = _shape(tensor.shape, config)
    if shape is not None and real["shape"] is not None and shape != real["shape"]:
        yield f"shape {tensor.shape}, really {real['shape']}"


def _dtype(tensor: Tensor, config: Any, real: str, default: str) -> str | None:
    """What the tree says: the dtype written, the config's, or none, which is torch's default or the data's own."""
    if tensor.dtype is None:
        return real if "float" not in real else default
    if tensor.dtype.is_fixed:
        return tensor.dtype.name
    value = _evaluated(tensor.dtype.name, config)
    if isinstance(value, SimpleNamespace):
        return value.torch
    return default if value is None else value


def _shape(text: str | None, config: Any) -> list[int] | None:
    value = _evaluated(text, config) if text is not None else None
    return value if isinstance(value, list) and all(isinstance(v, int) for v in value) else None


def _evaluated(text: str, config: Any, otherwise: Any = None) -> Any:
    try:
        return eval(text, {"__builtins__": {}}, {"config": _namespace(config), "hasattr": hasattr})
    except Exception:  # the text names what only the constructor knows
        return otherwise


def _namespace(value: Any) -> Any:
    if isinstance(value, dict):
        inner = value.get("fields", value)
        return SimpleNamespace(**{k: _namespace(v) for k, v in inner.items()})
    return [_namespace(v) for v in value] if isinstance(value, list) else value


def _shown(tensor: Tensor) -> str:
    kind = tensor.kind if tensor.persistent else f"non-persistent {tensor.kind}"
    return f"{kind} {tensor.dtype.name if tensor.dtype else 'of no dtype'} {tensor.shape} ({_said(tensor)})"


def _types(
    nodes: dict[str, list[ModuleNode]], records: list[Record], hidden: list[str], unfollowed: set[str]
) -> Iterator[str]:
    """Each module's class, and whether it was met before under another name."""
    wrong: dict[str, None] = {}
    for record in records:
        for name, type_name in record["modules"].items():
            variants = [n for fqn, found in nodes.items() if matches(fqn, name) for n in found]
            if not variants or _below(name, hidden):
                continue
            is_open = name.rpartition(".")[2] in unfollowed
            if not is_open and type_name not in {n.type_name for n in variants}:
                wrong[f"class     {name}: {sorted({n.type_name for n in variants})}, really {type_name}"] = None
            shared = name in record["shared"]
            if all(n.shared != shared and "*" not in n.fqn for n in variants):
                wrong[f"shared    {name}: really {shared}"] = None
    yield from wrong


def _too_broad(tree: ModuleTree, records: list[Record]) -> Iterator[str]:
    """A ``*`` that stands for one fixed word says less than the source does."""
    every = sorted({name for r in records for name in r["tensors"]})
    for pattern in tree.by_fqn:
        if "*" not in pattern:
            continue
        matched = [name.split(".") for name in every if matches(pattern, name)]
        for index, part in enumerate(pattern.split(".")):
            words = {name[index] for name in matched}
            if "*" in part and len(words) == 1 and not any(letter.isdigit() for letter in "".join(words)):
                yield f"broad     {pattern}: segment {index} is always {words.pop()}"
