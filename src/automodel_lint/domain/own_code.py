"""What the code around a model says of its tensors: its own parallelisation code, and its state-dict adapter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import nodes_on
from automodel_lint.inference.names import ClassEntity, Scope, Value

_STRATEGIES = "PARALLELIZATION_STRATEGIES"


def names_tensor(model: ModelClass, fqn: str, patterns: Iterable[str]) -> bool:
    """Tell whether its own parallelisation code names a tensor: by a pattern that pins it, or by its own name."""
    words = {word for code in (*_sidecar(model), *_strategy(model)) for word in _words(code) if word in fqn}
    last = fqn.rpartition(".")[2]
    patterns = tuple(patterns)
    return any(word.rpartition(".")[2] == last or any(p in word for p in patterns) for word in words)


def _sidecar(model: ModelClass) -> list[ast.AST]:
    """The files of models with the class of ``parallelizer`` and its bases; the framework's own are nobody's own."""
    members, _ = model.inherited("parallelizer")
    found: list[ast.AST] = []
    for member in members:
        for cls in _classes(model, member.value, model.member_scope(member)) if member.value is not None else ():
            for ancestor in model.classes.mro(cls):
                if isinstance(ancestor, ClassEntity) and model.project.model_package(ancestor.module.path):
                    found.append(ancestor.module.syntax)
    return list(dict.fromkeys(found))


def _strategy(model: ModelClass) -> list[ast.AST]:
    """In a release without sidecars, the strategy that the framework keeps under the name of the class."""
    module = model.names.module(f"{model.project.checkout.package}.components.distributed.parallelizer")
    found: list[ast.AST] = []
    for binding in module.bindings.live(_STRATEGIES) if module else ():
        if module is not None and isinstance(binding.node, ast.Dict):
            for key, value in zip(binding.node.keys, binding.node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == model.name:
                    found += [cls.node for cls in _classes(model, value, Scope(module))]
    return found


def _classes(model: ModelClass, expr: ast.expr, scope: Scope) -> list[ClassEntity]:
    """The classes that an expression names or makes an object of."""
    if isinstance(expr, ast.Call):
        return [e for e in model.names.resolve(expr.func, scope) if isinstance(e, ClassEntity)]
    found: list[ClassEntity] = []
    for entity in model.names.resolve(expr, scope):
        if isinstance(entity, ClassEntity):
            found.append(entity)
        elif isinstance(entity, Value) and isinstance(entity.expr, ast.Call):
            found += _classes(model, entity.expr, entity.scope)
    return found


def _words(code: ast.AST) -> set[str]:
    """The texts and attribute names in code that can be a part of a tensor's name."""
    found = set()
    for node in ast.walk(code):
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", None)
        if isinstance(word, str) and word and not any(letter.isspace() for letter in word):
            found.add(word)
    return found


def names_checkpoint_key(model: ModelClass, text: str) -> bool:
    """Tell whether a text is part of a key that the model's adapter writes down: what the checkpoint calls a tensor.

    A pattern of that kind serves the implementation of transformers, which reads the same lists. A key may be written
    as a regular expression, so its words are looked for one behind the other.
    """
    folder = model.project.model_package(model.path)
    tree = model.project.tree
    words = [re.escape(word) for word in text.split(".") if word]
    key = re.compile(r"\b" + r"\b.*\b".join(words) + r"\b")
    for path in tree.python_files(folder) if folder and words else ():
        if tree.holds(path, b"def from_hf(") and tree.holds(path, text.partition(".")[0].encode()):
            syntax = tree.syntax(path)
            lines = {number for number, line in enumerate(tree.lines(path), 1) if key.search(line)}
            if isinstance(syntax, ast.Module) and _has_key(syntax, key, text, lines):
                return True
    return False


def _has_key(syntax: ast.Module, key: re.Pattern[str], text: str, lines: set[int]) -> bool:
    texts = (n.value for n in nodes_on(syntax, lines) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return any(key.search(found) and found != text and len(found.split()) == 1 for found in texts)
