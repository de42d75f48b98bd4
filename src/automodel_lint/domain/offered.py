"""Models that the framework offers without registering them: by a function of its models folder that makes one."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.project import Project
from automodel_lint.inference.bindings import parts_of, statements_here
from automodel_lint.inference.names import ClassEntity, FunctionEntity


def offered(project: Project) -> Iterator[ModelClass]:
    """Yield the classes that functions make which the models folder itself exports (``build_gpt2_model``).

    A recipe names such a function as its model; the class answers to no architecture.
    """
    path = os.path.join(project.checkout.package_dir, "components", "models", "__init__.py")
    name = project.names.module_name(path)
    module = project.names.module(name) if name and project.tree.holds(path, b"__all__") else None
    registered = {(entry.module, entry.cls) for entry in project.architectures}
    for bound in module.bindings.names if module is not None else ():
        for entity in project.names.in_module(module, bound) or ():  # type: ignore[arg-type]
            for cls in _made(project, entity) if isinstance(entity, FunctionEntity) else ():
                if (cls.module.name, cls.qualname) not in registered:
                    yield ModelClass(project, cls, (cls.name,), ())


def _made(project: Project, function: FunctionEntity) -> list[ClassEntity]:
    """The module classes of the checkout that a function returns an object of."""
    scope = function.scope.entered(function.node.body, function.node.args)
    statements = list(statements_here(function.node.body))
    bound = {target: value for statement in statements for target, value in parts_of(statement)}
    found: list[ClassEntity] = []
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Return) else None
        value = bound.get(value.id) if isinstance(value, ast.Name) else value
        if isinstance(value, ast.Call):
            found += project.classes.real(project.names.resolve(value.func, scope))
    return [c for c in found if project.classes.in_checkout(c) and project.classes.has_module_base(c)]
