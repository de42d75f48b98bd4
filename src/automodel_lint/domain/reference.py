"""What transformers calls the tensors of a registered class: its own model of that architecture, and its checkpoints.

A checkpoint may be older than the model class that reads it; transformers keeps a table of what to rename on loading.
So a name is judged by its parts: one that no tensor of the reference and no entry of that table has, nobody reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from automodel_lint.domain.builtin import config_of_architecture
from automodel_lint.inference.construction.flatten import module_tree
from automodel_lint.inference.key_map import Key, KeyMap
from automodel_lint.inference.module_tree import ModuleTree
from automodel_lint.inference.names import ClassEntity

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass

_TABLE = "transformers.conversion_mapping"
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\(.)")


def reference_tree(model: ModelClass) -> ModuleTree | None:
    """Return the tree of transformers' own class of an architecture; ``None`` if its source is not at hand."""
    names, classes = model.project.names, model.project.classes
    for architecture in model.architectures:
        for entity in names.from_module("transformers", architecture):
            if isinstance(entity, ClassEntity) and not classes.is_local(entity):
                config = config_of_architecture(names, (architecture,))
                return module_tree(classes, model.project.torch_names, entity, config)
    return None


def unread_names(model: ModelClass, found: KeyMap) -> Iterator[tuple[Key, str, str]]:
    """Yield each name that an adapter makes for a checkpoint and that has a part which nobody knows, and the part.

    Nothing is yielded where transformers has no such architecture, or its tree is not complete.
    """
    tree = reference_tree(model)
    known = _words_of_table(model) if tree is not None and tree.complete else None
    if tree is None or known is None:
        return
    known = known | {segment for fqn in tree.by_fqn for segment in fqn.split(".")}
    for key in found.keys.values():
        own = key.name.split(".")
        for name in key.all_names:
            for segment in name.split("."):
                if segment not in own and not _is_known(segment, known):
                    yield key, name, segment


def _is_known(segment: str, known: set[str]) -> bool:
    if "*" not in segment:
        return segment in known or segment.isdigit()
    start = segment.partition("*")[0].rstrip("_")
    return not start or any(word.startswith(start) for word in known)


def _words_of_table(model: ModelClass) -> set[str] | None:
    """The words of all names that transformers renames on loading; ``None`` if it has no table of them."""
    module = model.project.names.module(_TABLE)
    if module is None:
        return None
    texts = (n.value for n in ast.walk(module.syntax) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return {word for text in texts for word in _WORD.findall(_ESCAPED.sub(_plain, text))}


def _plain(escaped: re.Match[str]) -> str:
    r"""``\.`` is a dot, ``\d`` no word."""
    return " " if escaped.group(1).isalnum() else escaped.group(1)
