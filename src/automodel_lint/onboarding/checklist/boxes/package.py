"""What lies in the model package, and what of it is made known."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from automodel_lint.domain.precision import is_rotary_table
from automodel_lint.domain.reexports import all_statement, serves_lazily
from automodel_lint.domain.things import ModelModule
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Module
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.subject import Subject

MIXIN = "HFCheckpointingMixin"
_ROTARY = re.compile(r"rope|rotary|freqs_cis", re.I)
_SHOWN = 4


@box("package", 210, "The model has a folder of its own, `components/models/<name>/`", "2.1")
def package(subject: Subject) -> Iterator[Evidence]:
    if subject.folder is None:
        project = subject.model.project
        if project.tree.entries(project.checkout.models_dir) is None:
            raise NotApplicable("a package that extends the framework has a layout of its own")
        yield subject.missing("the class lies in no model package: give it a folder below `components/models/`")
        return
    if subject.package is not None:
        yield subject.done("the package", subject.package.path)
        return
    path = os.path.join(subject.folder, "__init__.py")
    yield subject.missing("the folder has no `__init__.py` that can be read", path)


@box("layers", 222, "Layers that the shared ones do not cover are written in the package", "2.2")
def layers(subject: Subject) -> Iterator[Evidence]:
    tree, own = subject.model.module_tree, own_layers(subject)
    yield from _by_file(subject, own)
    if own:
        return
    if not tree.complete:
        raise NotDecidable("the module tree is not complete; none of the layers that are known lies in the package")
    names = dict.fromkeys(cls.name for cls in tree.classes if cls is not subject.model.entity)
    raise NotApplicable(f"all of its layers come from elsewhere: {_listed(names)}" if names else "it has no layers")


def own_layers(subject: Subject) -> list[ClassEntity]:
    """Return the classes of modules that the model is built of and that lie in its package, itself apart."""
    model = subject.model
    return [c for c in model.module_tree.classes if c is not model.entity and subject.is_own(c.module.path)]


def _by_file(subject: Subject, classes: list[ClassEntity]) -> Iterator[Evidence]:
    files: dict[str, list[ClassEntity]] = {}
    for cls in classes:
        files.setdefault(cls.module.path, []).append(cls)
    for path, those in files.items():
        first = min(those, key=lambda c: c.node.lineno)
        yield subject.done(f"defines {_listed([c.name for c in those])}", path, first.node)


def _listed(names: list[str] | dict[str, None]) -> str:
    every = [f"`{name}`" for name in names]
    shown = ", ".join(every[:_SHOWN])
    return shown if len(every) <= _SHOWN else f"{shown} and {len(every) - _SHOWN} more"


@box("rope", 221, "Rotary embeddings that the shared ones do not cover are written in the package", "2.2")
def rope(subject: Subject) -> Iterator[Evidence]:
    own = [*_rotary_nodes(subject), *_rotary_definitions(subject)]
    for path, node, text in dict.fromkeys(own):
        yield subject.done(text, path, node)
    if own:
        return
    used = _rotary_elsewhere(subject)
    if used:
        raise NotApplicable(f"it takes {_listed(used)}")
    if not subject.model.module_tree.complete:
        raise NotDecidable("the module tree is not complete; no rotary embedding is known in it")
    raise NotApplicable("it has no rotary embedding")


def _rotary_nodes(subject: Subject) -> list[tuple[str, ast.AST, str]]:
    """The classes of rotary embeddings in the package, and the tables that other modules of the package hold."""
    found: list[tuple[str, ast.AST, str]] = []
    for node in subject.model.module_tree.nodes():
        if node.cls is not None and _ROTARY.search(node.type_name):
            found.append((node.cls.module.path, node.cls.node, f"defines `{node.type_name}`"))
        else:
            found += [(t.place.path, t.place.node, f"makes `{t.fqn}`") for t in node.tensors if is_rotary_table(t)]
    return [(path, at, text) for path, at, text in found if subject.is_own(path)]


def _rotary_definitions(subject: Subject) -> list[tuple[str, ast.AST, str]]:
    """The functions and classes of the package that are called after what they do."""
    found: list[tuple[str, ast.AST, str]] = []
    for module in _modules(subject):
        for name, bindings in module.bindings.names.items():
            nodes = [b.node for b in bindings if b.kind in ("class", "def")]
            if nodes and _ROTARY.search(name):
                found.append((module.path, nodes[0], f"defines `{name}`"))
    return found


def _rotary_elsewhere(subject: Subject) -> list[str]:
    """Where the rotary embeddings come from that the model is built of, or that its files import."""
    tree = subject.model.module_tree
    found = [n.type_fqn for n in tree.nodes() if _ROTARY.search(n.type_name) or any(map(is_rotary_table, n.tensors))]
    for module in _modules(subject):
        for name, bindings in module.bindings.names.items():
            if _ROTARY.search(name) and any(b.kind == "from" for b in bindings):
                entities = subject.model.names.in_module(module, name) or []
                found += [e.fqn for e in entities if isinstance(e, (ClassEntity, FunctionEntity))]
    return list(dict.fromkeys(found))


def _modules(subject: Subject) -> list[Module]:
    """The files that the model is written in."""
    names, tree = subject.model.names, subject.model.project.tree
    paths = [p for p in tree.python_files(subject.folder)] if subject.folder else [subject.model.path]
    modules = [names.module(name) for p in paths if (name := names.module_name(p))]
    return [module for module in modules if module is not None]


@box(
    "model",
    223,
    "The model class is written, and saves and loads with the framework's `HFCheckpointingMixin`",
    "2.2",
    ("NAM002", "NAM110"),
)
def model(subject: Subject) -> Iterator[Evidence]:
    mixed = subject.model.has_ancestor(MIXIN)
    if mixed:
        yield subject.at_class(f"derives from `{MIXIN}`", subject.model.entity)
    elif not subject.model.owns_causal_head:
        yield subject.at_class(f"owns no causal head, which `{MIXIN}` is asked for", subject.model.entity)


@box("reexport", 226, "The package re-exports the model class", "2.2", ("NAM106",))
def reexport(subject: Subject) -> Iterator[Evidence]:
    name, module = subject.model.name, subject.package
    if subject.folder is None:
        raise NotApplicable("the class lies in no model package")
    if module is None:
        return
    for binding in module.bindings.live(name)[:1]:
        yield subject.done(f"imports `{name}`", module.path, binding.node)
        return
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield subject.done(f"takes over all names of `{node.module}`", module.path, node)
            return
    if serves_lazily(module, name):
        words = (n for n in ast.walk(module.syntax) if isinstance(n, ast.Constant) and n.value == name)
        table = next(words, None) or all_statement(module)
        yield subject.done(f"serves `{name}` on demand", module.path, table if table is not None else 1)


@box("model-class", 224, "The module of the model class binds `ModelClass` to it", "2.2", ("NAM105", "NAM109"))
def model_class(subject: Subject) -> Iterator[Evidence]:
    registered = {subject.model.entity.qualname: subject.model.architectures}
    module = ModelModule(subject.model.project, subject.model.path, registered)
    for binding in module.exports:
        classes = [c.fqn.rpartition(".")[2] for c in module.exported(binding) or ()]
        if subject.model.name in classes:
            yield subject.done(f"`ModelClass` is `{subject.model.name}`", subject.model.path, binding.node)
            return
    for binding in module.exports:
        classes = [c.fqn.rpartition(".")[2] for c in module.exported(binding) or ()]
        if classes:
            text = f"`ModelClass` is {_listed(classes)}; one of a module is enough"
            yield subject.done(text, module.path, binding.node)
