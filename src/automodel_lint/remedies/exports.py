"""Repairs of what a module exports and its package re-exports (NAM105, NAM106)."""

from __future__ import annotations

import ast

from automodel_lint.domain.importing import can_import, is_imported_with_care
from automodel_lint.domain.lazy_table import entry_of, has_table
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.reexports import display_of_all, misses
from automodel_lint.domain.things import ModelModule
from automodel_lint.inference.bindings import Binding, surely_binds
from automodel_lint.inference.names import ClassEntity, Module
from automodel_lint.repairs import (
    Repair,
    Step,
    add_name,
    append_in_block,
    first_export,
    import_name,
    place_of,
    repair,
    replace_text,
    text_behind,
)

EXPORT = "ModelClass"


# -- NAM105 ---------------------------------------------------------------------------------------------------------


def exported(module: ModelModule, registered: list[ClassEntity]) -> Repair | None:
    """``ModelClass`` at the end of the block that defines the registered classes, or with their names as its value.

    Classes of several blocks are not exported together; those that stand where the module's own names do come first.
    """
    classes = [entity for entity in registered if entity.qualname == entity.name and _is_only_one(module, entity)]
    if not classes or len(module.exports) > 1 or module.module is None:
        return None
    body = module.module.syntax.body
    block = [e for e in classes if e.node in body] or [e for e in classes if _same_block(body, e, classes[0])]
    names = [entity.name for entity in block]
    value = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
    if module.exports:
        return _with_value(module, module.exports[0], block, value)
    title, tree = f"Export `{value}` as `{EXPORT}`", module.project.tree
    declared = _declaration(module.module)
    if declared is not None and declared.lineno > max(e.node.end_lineno or 0 for e in block):
        return repair(title, text_behind(tree.span(module.path, declared), f" = {value}"))
    return repair(title, append_in_block(place_of(tree.span(module.path, block[-1].node)), f"{EXPORT} = {value}"))


def _is_only_one(module: ModelModule, entity: ClassEntity) -> bool:
    """Whether a name means this class, or a stand-in where it is not there."""
    assert module.module is not None
    bindings = module.module.bindings.real(entity.name)
    others = [b for b in bindings if b.node is not entity.node and isinstance(b.node, ast.ClassDef)]
    classes = [module.project.names.class_entity(b.node, entity.scope) for b in others]  # type: ignore[arg-type]
    return all(module.project.classes.is_stand_in(c) for c in classes) and any(b.node is entity.node for b in bindings)


def _same_block(body: list[ast.stmt], entity: ClassEntity, other: ClassEntity) -> bool:
    blocks = [b for s in body for n in ast.walk(s) for b in vars(n).values() if isinstance(b, list)]
    return any(entity.node in block and other.node in block for block in blocks)


def _declaration(module: Module) -> ast.AnnAssign | None:
    """``ModelClass: type`` without a value, at module level."""
    for statement in module.syntax.body:
        if isinstance(statement, ast.AnnAssign) and statement.value is None and _is_export(statement.target):
            return statement
    return None


def _is_export(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == EXPORT


def _with_value(module: ModelModule, binding: Binding, block: list[ClassEntity], value: str) -> Repair | None:
    """The value of a plain assignment replaced, where nothing but names and ``None`` stands there."""
    assert module.module is not None
    statement = next((s for s in module.module.syntax.body if getattr(s, "value", None) is binding.node), None)
    if isinstance(statement, ast.Assign):
        alone = len(statement.targets) == 1 and _is_export(statement.targets[0])
    else:
        alone = isinstance(statement, ast.AnnAssign) and _is_export(statement.target)
    if not alone or statement is None or not _only_names(binding.node):
        return None
    said = {n.id for n in ast.walk(binding.node) if isinstance(n, ast.Name)}
    annotation = getattr(statement, "annotation", None)
    if annotation is not None and said & {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)}:
        return None  # ``ModelClass: type[Other] = Other``
    if any(e.node not in module.module.syntax.body or (e.node.end_lineno or 0) >= statement.lineno for e in block):
        return None
    span = module.project.tree.span(module.path, binding.node)  # type: ignore[arg-type]
    return repair(f"Export `{value}` as `{EXPORT}`", replace_text(span, value))


def _only_names(value: ast.AST) -> bool:
    kinds = (ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.Set, ast.Starred, ast.BinOp, ast.Add, ast.Constant)
    return all(isinstance(node, (*kinds, ast.expr_context)) for node in ast.walk(value))


# -- NAM106 ---------------------------------------------------------------------------------------------------------


def reexported(model: ModelClass, package: Module) -> Repair | None:
    """The class imported by the package and named in ``__all__``; an entry, where the package imports on demand."""
    source = model.entity.module
    if model.entity.qualname != model.name or not surely_binds(source.syntax.body, model.name):
        return None
    if has_table(package):
        found = entry_of(model.names, package, source)
        if found is None:
            return None
        table, value = found
        steps: list[Step] = [add_name(model.project.tree.span(package.path, table), model.name, value)]
    elif _is_to_be_left(model, package, source):
        return None
    elif _is_empty(package):
        return repair(f"Re-export `{model.name}`", first_export(source.name, model.name))
    else:
        steps = [import_name(source.name, model.name, package.package)]
    if "__all__" in package.bindings.names and misses(model, package):
        listed = _named_in_all(model, package)
        if listed is None:
            return None
        steps.append(listed)
    return repair(f"Re-export `{model.name}`", *steps)


def listed(model: ModelClass, package: Module) -> Repair | None:
    """The class named in ``__all__``."""
    step = _named_in_all(model, package)
    return None if step is None else repair(f"Name `{model.name}` in `__all__`", step)


def _is_to_be_left(model: ModelClass, package: Module, source: Module) -> bool:
    """Whether importing the class could do harm, or undo what the author of the package did on purpose."""
    taken = model.name in package.bindings.names
    lazy = bool(package.bindings.live("__getattr__")) or "sys.modules[__name__]" in ast.unparse(package.syntax)
    if taken or lazy or is_imported_with_care(package, source):
        return True
    project, question = model.project, f"can-import:{package.name}:{source.name}"
    return not project.kept(question, lambda: can_import(project.imports, package, source, project.registered))


def _is_empty(package: Module) -> bool:
    statements = package.syntax.body
    return len(statements) == int(ast.get_docstring(package.syntax, clean=False) is not None)


def _named_in_all(model: ModelClass, package: Module) -> Step | None:
    display = display_of_all(package)
    return None if display is None else add_name(model.project.tree.span(package.path, display), model.name)
