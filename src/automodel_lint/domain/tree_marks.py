"""What else is known of the tensors of a tree: which are kept in fp32, and which share another one's weight.

``_tied_weights_keys`` is read as the framework reads it: a mapping names the source of each tied weight, the older
list names only the tied ones, whose source is the input embedding. A class that refuses to tie (``UNTIED_ONLY``) ties
nothing, whatever it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.module_tree import ModuleNode, ModuleTree, Place, matches

_KEYS = ("_tied_weights_keys", "_nemo_tied_weights_keys")  # the framework reads the second where there is no first


@dataclass(frozen=True)
class Marks:
    """What is known of tensors, by their names in the tree.

    Attributes:
        pins: ``strict`` or ``plain``, after the keep list that covers a tensor (in the first layer).
        ties: the weight that a tensor shares.
        when: ``always`` where every config ties, ``config`` where the config decides.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    ties: Mapping[str, str] = field(default_factory=dict)
    when: str = "config"


@dataclass
class MarkedTree:
    """A tree with its marks, and what it is the tree of: what ``automodel-lint tree`` shows.

    Attributes:
        architecture: the registered name that was asked for, or the first one of the class that was.
        name: the name of the class.
        place: its definition.
        relative: turns an absolute path into the one that is shown.
    """

    architecture: str
    name: str
    place: Place
    tree: ModuleTree
    marks: Marks
    relative: Callable[[str], str]


def marked(architecture: str, model: ModelClass) -> MarkedTree:
    """Return the tree of a registered class with its marks."""
    place = Place(model.path, model.entity.node)
    tree = model.module_tree
    return MarkedTree(architecture, model.name, place, tree, marks_of(model, tree), model.project.tree.relative)


def marks_of(model: ModelClass, tree: ModuleTree) -> Marks:
    """Return the marks of a registered class's tree, as far as the source declares them."""
    policies = model.tie_policies or set()
    ties = {} if policies == {"UNTIED_ONLY"} else _ties(model, tree)
    return Marks(_pins(model, tree), ties, "always" if policies == {"TIED_ONLY"} else "config")


def _pins(model: ModelClass, tree: ModuleTree) -> dict[str, str]:
    """A pattern is a substring of real names; the first layer speaks for all."""
    found = {}
    for fqn in tree.by_fqn:
        name = fqn.replace("*", "0")
        if model.pins.covers(name):
            found[fqn] = "strict" if model.pins.strictly(name) else "plain"
    return found


def _ties(model: ModelClass, tree: ModuleTree) -> dict[str, str]:
    sources = _sources(model, tree)
    found: dict[str, str] = {}
    for fqn in tree.by_fqn:
        for tied, source in sources.items():
            if matches(fqn, tied):
                found.setdefault(fqn, source)
            elif fqn.startswith(f"{tied}."):  # a whole module is tied
                found.setdefault(fqn, source + fqn[len(tied) :])
    return found


def _sources(model: ModelClass, tree: ModuleTree) -> dict[str, str]:
    """The tied names, of tensors or modules, and what each shares, as declared."""
    for name in _KEYS:
        found: dict[str, str] = {}
        for value in _declared(model, name):
            if isinstance(value, dict):
                found |= {k: v for k, v in value.items() if isinstance(k, str) and isinstance(v, str)}
            elif isinstance(value, (list, tuple, set)):
                embedding = _input_embedding(model, tree)
                found |= {k: embedding for k in value if isinstance(k, str) and embedding}
        if found:
            return found
    return {}


def _declared(model: ModelClass, name: str) -> list[Any]:
    members, opaque = model.inherited(name)
    return [] if opaque else [value for member in members for value in model.member_values(member) or ()]


def _input_embedding(model: ModelClass, tree: ModuleTree) -> str | None:
    """The weight that the framework takes for the input embedding's: that of the first ``nn.Embedding``."""
    return next((f"{node.fqn}.weight" for node in tree.nodes() if _is_embedding(model, node)), None)


def _is_embedding(model: ModelClass, node: ModuleNode) -> bool:
    bases = [ancestor.fqn for ancestor in model.classes.mro(node.cls)] if node.cls is not None else []
    return any(fqn.rpartition(".")[2] == "Embedding" for fqn in (node.type_fqn, *bases))
