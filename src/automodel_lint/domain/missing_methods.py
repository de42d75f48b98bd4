"""Methods that code calls on a submodule whose class, known from the module tree, does not have them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.domain.call_guards import depends_on_construction, is_guarded
from automodel_lint.domain.child_calls import ELEMENT, ITERATED, ChildCall, child_calls
from automodel_lint.domain.library_api import MODULE_METHODS, PRETRAINED_METHODS, torch_methods
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.classes import Ancestor, is_hf_model
from automodel_lint.inference.module_tree import ModuleNode, matches
from automodel_lint.inference.names import ClassEntity

_CONTAINERS = ("ModuleList", "ModuleDict", "Sequential")
_EMPTY = ("object", "ABC", "Generic", "Protocol")
_SERVES_ANYTHING = ("__getattr__", "__getattribute__", "__init_subclass__")


@dataclass(frozen=True)
class Missing:
    """A call that finds no method: ``children`` are the names of the classes that lack it, ``close`` what they have."""

    call: ChildCall
    children: tuple[str, ...]
    close: str | None


def missing_methods(model: ModelClass) -> Iterator[Missing]:
    """Yield the calls that fail on every submodule that the tree knows at their place, whichever variant is built."""
    nodes: dict[ClassEntity, list[ModuleNode]] = {}
    for node in model.module_tree.nodes():
        if node.cls is not None:
            nodes.setdefault(node.cls, []).append(node)
    lookup = _Lookup(model)
    for cls, places in nodes.items():
        for call in child_calls(model.project, cls):
            found = lookup.verdict(call, places)
            if found is not None:
                yield found


class _Lookup:
    """Asks whether modules of a tree have methods."""

    def __init__(self, model: ModelClass):
        self.model = model
        self.classes, self.tree = model.classes, model.project.tree

    def verdict(self, call: ChildCall, places: list[ModuleNode]) -> Missing | None:
        """Return what is wrong with a call, if the class is built at ``places`` and that is sure."""
        children: list[ModuleNode] = []
        for place in places:
            below = places_below(place, call.path)
            if below is None:
                return None
            children += below
        if not children or any(self.has(child, call.name) is not False for child in children):
            return None
        if is_guarded(call) or self._patched(call, children):
            return None
        if depends_on_construction(call) and self._known_anywhere(call.name):
            return None
        names = tuple(dict.fromkeys(child.type_name for child in children))
        verb = call.name.partition("_")[0]  # who calls `set_x` is not helped by `get_x`
        methods = [m for child in children for m in self._methods(child) if m.partition("_")[0] == verb]
        close = difflib.get_close_matches(call.name, methods, n=1, cutoff=0.8)
        return Missing(call, names, close[0] if close else None)

    def has(self, node: ModuleNode, name: str) -> bool | None:
        """Tell whether a module has an attribute ``name`` that can be called; ``None`` if that cannot be told."""
        if node.opaque is not None:
            return None
        if any(matches(part.name, name) for part in (*node.children, *node.tensors)):
            return True
        if node.cls is None:
            methods = torch_methods(node.type_fqn)
            return None if methods is None else name in methods
        if self.classes.is_stand_in(node.cls):
            return None
        found = [self._has(ancestor, name) for ancestor in self.classes.mro(node.cls)]
        return True if True in found else None if None in found else False

    def _has(self, ancestor: Ancestor, name: str) -> bool | None:
        """Tell whether a class of a resolution order brings ``name``; ``None`` if it may."""
        if is_hf_model(ancestor) and name in PRETRAINED_METHODS:
            return True
        if not isinstance(ancestor, ClassEntity):
            methods = frozenset() if ancestor.fqn.rpartition(".")[2] in _EMPTY else torch_methods(ancestor.fqn)
            return None if methods is None else name in methods
        body = self.model.names.body(ancestor).names
        if name in body:
            return True
        decorated = bool(ancestor.node.decorator_list) and self.classes.in_checkout(ancestor)
        serves = any(n in body for n in _SERVES_ANYTHING) or self._sets(ancestor.module.path, name)
        return None if decorated or serves else False

    def _sets(self, path: str, name: str) -> bool:
        """Whether a file may put something under that name on an object: in an assignment, by ``setattr``."""
        if not self.tree.holds(path, name.encode()):
            return False
        blank, rest = r"[ \t\f]*", r"[^=\r\n]"
        written = rf"""\.{name}\b{blank}(?:[:,]{rest}*)?={rest}|setattr[^\r\n]*["']{name}["']"""
        return self.tree.matches(path, written)

    def _patched(self, call: ChildCall, children: list[ModuleNode]) -> bool:
        """Whether somebody may put the method on the object from outside, or give the object another class."""
        near = {self.model.path, call.view.owner.module.path, *(child.place.path for child in children)}
        if any(self.tree.holds(path, b".__class__ =") for path in near):
            return True
        quoted = (f'"{call.name}"'.encode(), f"'{call.name}'".encode())
        owners = {
            a.module.path for c in children if c.cls for a in self.classes.mro(c.cls) if isinstance(a, ClassEntity)
        }
        for path in near | owners:  # the name may reach a ``setattr`` through a loop
            if self.tree.holds(path, b"setattr") and any(self.tree.holds(path, text) for text in quoted):
                return True
        return any(self._sets(path, call.name) for path in (*near, *self.model.project.package_files()))

    def _known_anywhere(self, name: str) -> bool:
        files = self.model.project.package_files()
        return any(self.tree.holds(path, f"def {name}(".encode()) for path in files)

    def _methods(self, node: ModuleNode) -> set[str]:
        if node.cls is None:
            return set(torch_methods(node.type_fqn) or ()) - MODULE_METHODS
        owners = [a for a in self.classes.mro(node.cls) if isinstance(a, ClassEntity)]
        return {
            name
            for owner in owners
            for name, bound in self.model.names.body(owner).names.items()
            if any(isinstance(b.node, ast.FunctionDef) for b in bound)
        }


def places_below(node: ModuleNode, path: str) -> list[ModuleNode] | None:
    """Return the modules at a path in all their variants; ``None`` if one on the way could not be followed."""
    found = [node]
    for part in path.split("."):
        following: list[ModuleNode] = []
        for owner in found:
            if owner.opaque is not None:
                return None
            if part in (ELEMENT, ITERATED):
                if owner.type_name not in _CONTAINERS or (part == ITERATED and owner.type_name == "ModuleDict"):
                    return None
                following += owner.children
            else:
                following += owner.child(part)
        found = following
    return found
