"""Whose code creates a tensor of a module tree."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.module_tree import ModuleNode, Tensor
from automodel_lint.inference.names import ClassEntity


class Allocations:
    """The tree of one model, asked for the authors of its tensors."""

    def __init__(self, model: ModelClass):
        self.model = model

    def by_author(self, tensors: Iterable[Tensor]) -> dict[ClassEntity | None, list[Tensor]]:
        """Group tensors by the class whose code creates them; ``None`` stands for functions and for libraries."""
        found: dict[ClassEntity | None, list[Tensor]] = {}
        for tensor in tensors:
            found.setdefault(self._author(tensor), []).append(tensor)
        return found

    def _author(self, tensor: Tensor) -> ClassEntity | None:
        """The class of the nearest module, from the tensor's own upwards, in whose file it is created."""
        node: ModuleNode | None = tensor.module
        while node is not None:
            for ancestor in self.model.classes.mro(node.cls) if node.cls is not None else ():
                if isinstance(ancestor, ClassEntity) and ancestor.module.path == tensor.place.path:
                    return ancestor if self.is_ours(ancestor) else None
            node = self._parents.get(id(node))
        return None

    @cached_property
    def _parents(self) -> dict[int, ModuleNode]:
        return {id(child): node for node in self.model.module_tree.nodes() for child in node.children}

    def is_ours(self, cls: ClassEntity) -> bool:
        """Tell whether a class is one of the checkout."""
        return self.model.classes.is_local(cls) and self.model.classes.in_checkout(cls)

    def is_created_here(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is created by code of the checkout."""
        return tensor.place.path.startswith(self.model.project.checkout.package_dir + os.sep)

    def is_of_a_model(self, cls: ClassEntity) -> bool:
        """Tell whether a class belongs to a model, not to the layers that models share."""
        folder = self.model.project.model_package(cls.module.path)
        return os.path.basename(folder) != "common" if folder else self.model.project.checkout.plugin is not None
