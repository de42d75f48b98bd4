"""Repairs of a declared profile (NAM301, NAM303, NAM304): written, frozen, its fields put right."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from automodel_lint.domain.capabilities import (
    AXES,
    DYNAMIC,
    NESTED,
    Field,
    canonical_fields,
    dataclass_decorator,
    default_of,
    field_call,
    fields,
    is_frozen_dataclass,
)
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled_from
from automodel_lint.inference.bindings import FUNCTIONS, dotted, literal_truth
from automodel_lint.inference.names import ClassEntity
from automodel_lint.repairs import (
    Repair,
    Step,
    add_argument,
    add_member,
    decorate,
    place_of,
    repair,
    replace_text,
    text_behind,
)

_FROZEN = "frozen=True"
_NO = frozenset({"", "no", "none", "false", "off", "0", "n", "f"})
_YES = frozenset({"yes", "true", "on", "1", "y", "t"})
_PLAIN_TYPES = frozenset({"bool", "int", "float", "str", "object"})


# -- a profile at all (NAM301) ----------------------------------------------------------------------------------------


def declared(model: ModelClass) -> Repair | None:
    """The declaration that has another name, renamed; else a profile that claims nothing."""
    tree = model.project.tree
    meant = _misnamed(model)
    if meant is not None:
        name = NESTED if isinstance(meant, ast.ClassDef) else DYNAMIC
        return repair(f"Call it `{name}`", replace_text(tree.name_span(model.path, meant), name))
    spelling = spelled_from(model.entity.module, "dataclasses", "dataclass")
    if spelling is None:
        return None
    dataclass, needed = spelling
    lines = [f"@{dataclass}({_FROZEN})", f"class {NESTED}:", *(f"    {axis}: bool = False" for axis in AXES)]
    place = place_of(tree.span(model.path, model.entity.node))
    return repair("Declare what is supported: nothing yet", add_member(place, "\n".join(lines), (), "methods"), needed)


def _misnamed(model: ModelClass) -> ast.ClassDef | ast.FunctionDef | None:
    """What was meant to be the declaration: the one nested class with all axes, or a query with nearly its name."""
    found = [s for s in model.entity.node.body if _is_meant(model, s)]
    statement = found[0] if len(found) == 1 else None
    if not isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return None
    word = re.compile(rf"\b{re.escape(statement.name)}\b")
    mentions = sum(len(word.findall(line)) for line in model.project.tree.lines(model.path))
    return statement if mentions == 1 else None


def _is_meant(model: ModelClass, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        members = model.local(statement.name)
        entity = model.names.class_entity(statement, model.member_scope(members[0]), f"{model.name}.")
        return len(members) == 1 and set(AXES) <= set(fields(model.project, entity))
    if not isinstance(statement, ast.FunctionDef):
        return False
    decorators = {f for d in statement.decorator_list for f in model.names.fqns(d, model.entity.scope)}
    near = difflib.SequenceMatcher(None, statement.name, DYNAMIC).ratio() >= 0.85
    return near and "builtins.classmethod" in decorators and len(statement.args.args) == 2


# -- frozen (NAM303) --------------------------------------------------------------------------------------------------


def frozen(model: ModelClass, nested: ClassEntity) -> Repair | None:
    """The decorator, or its argument; ``None`` where the class could not be made any more, or is not only data."""
    if not _may_be_frozen(model, nested):
        return None
    decorator = dataclass_decorator(model.project, nested)
    if decorator is None:
        return _decorated(model, nested)
    span = model.project.tree.span(nested.module.path, decorator)
    if not isinstance(decorator, ast.Call):
        return repair("Freeze the profile", text_behind(span, f"({_FROZEN})"))
    given = next((k.value for k in decorator.keywords if k.arg == "frozen"), None)
    if given is None:
        return repair("Freeze the profile", add_argument(span, _FROZEN))
    return repair("Freeze the profile", replace_text(model.project.tree.span(nested.module.path, given), "True"))


def _may_be_frozen(model: ModelClass, nested: ClassEntity) -> bool:
    """Whether Python lets the class be frozen, and its own methods do not write to it."""
    bases_fit = all(
        isinstance(base, ClassEntity)
        and (is_frozen_dataclass(model.project, base) or (not dataclass_decorator(model.project, base)))
        for base in model.classes.mro(nested)[1:]
    )
    return bases_fit and not any(map(_writes, nested.node.body)) and not _has_other_heirs(nested)


def _writes(member: ast.stmt) -> bool:
    """Whether a method stores something in its object."""
    if not isinstance(member, FUNCTIONS):
        return False
    stored = (n for n in ast.walk(member) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
    return member.name in ("__init__", "__new__", "__setattr__", "__delattr__") or any(stored)


def _has_other_heirs(nested: ClassEntity) -> bool:
    """Whether a class of the file that is decorated, but not as frozen, derives from this one: Python forbids that."""
    for node in ast.walk(nested.module.syntax):
        if isinstance(node, ast.ClassDef) and node is not nested.node and node.decorator_list:
            heir = any(dotted(base).rpartition(".")[2] == nested.name for base in node.bases)
            if heir and not any(_FROZEN in ast.unparse(d) for d in node.decorator_list):
                return True
    return False


def _decorated(model: ModelClass, nested: ClassEntity) -> Repair | None:
    """A plain class made a dataclass; what it assigns becomes a field."""
    spelling = spelled_from(nested.module, "dataclasses", "dataclass")
    body = [s for s in nested.node.body if isinstance(s, (ast.Assign, ast.AnnAssign))]
    if spelling is None or nested.node.keywords or not all(_may_be_field(model, nested, s) for s in body):
        return None
    name, needed = spelling
    tree, path = model.project.tree, nested.module.path
    known = {*AXES, *(canonical_fields(model.project) or ())}
    targets = [s.targets[0] for s in body if isinstance(s, ast.Assign) and len(s.targets) == 1]
    annotated = [text_behind(tree.span(path, t), ": bool") for t in targets if dotted(t) in known]
    place = place_of(tree.span(path, nested.node))
    return repair("Make it a frozen dataclass", decorate(place, f"{name}({_FROZEN})"), *annotated, needed)


def _may_be_field(model: ModelClass, nested: ClassEntity, statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a dataclass can have this in its body: a default, and none that can be changed."""
    if isinstance(statement, ast.AnnAssign) and "ClassVar" in ast.unparse(statement.annotation):
        return True
    is_field = field_call(model.project, Field(statement, nested)) is not None
    return is_field or isinstance(statement.value, (ast.Constant, ast.UnaryOp, ast.Compare, ast.BoolOp))


# -- names of fields (NAM304) -----------------------------------------------------------------------------------------


def renamed(model: ModelClass, name: str, declared: Mapping[str, Field]) -> Repair | None:
    """A misspelled field under its right name; ``None`` if something reads it, or it is not only misspelled."""
    meant = _meant(name, canonical_fields(model.project) or (), declared)
    if meant is None:
        return None
    field = declared[name]
    path = field.owner.module.path
    targets = _targets(field.statement, name)
    if not targets or _is_read(field.owner, name):
        return None
    spans = (model.project.tree.span(path, target) for target in targets)
    return repair(f"Call it `{meant}`", *(replace_text(span, meant) for span in spans))


def _meant(name: str, known: Iterable[str], declared: Collection[str]) -> str | None:
    """The one field that a wrong name spells, if nothing else in the class does."""
    near = [k for k in known if _misspells(name, k)]
    if len(near) != 1 or near[0] in declared:
        return None
    alike = [other for other in declared if _misspells(other, near[0])]
    return near[0] if alike == [name] else None


def _misspells(name: str, field: str) -> bool:
    """Whether a name is the field but for case, underscores, or letters of its first word: the axis must be right."""
    if name.lower().replace("_", "") == field.replace("_", ""):
        return True
    word, _, axis = name.lower().partition("_")
    right, _, right_axis = field.partition("_")
    alike = difflib.SequenceMatcher(None, word, right).ratio() >= 0.8
    return axis == right_axis and word[:1] == right[:1] and alike


def _targets(statement: ast.Assign | ast.AnnAssign, name: str) -> list[ast.expr]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [t for t in targets if dotted(t) == name]


def _is_read(owner: ClassEntity, name: str) -> bool:
    """Whether the file reads or passes a field under this name."""
    for node in ast.walk(owner.module.syntax):
        if isinstance(node, ast.Attribute) and node.attr == name:
            return True
        if isinstance(node, ast.keyword) and node.arg == name:
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
    return False


# -- defaults (NAM304) ------------------------------------------------------------------------------------------------


def with_bool(model: ModelClass, name: str, field: Field) -> Repair | None:
    """The bool that Python takes a literal default for, ``False`` where there is no default at all."""
    given = default_of(model.project, field)
    tree, path = model.project.tree, field.owner.module.path
    if given is None:
        return _with_default(model, name, field)
    truth = _truth(given)
    if truth is None:
        return None
    # A text such as "no" is true for Python, so what it says is not what happened.
    contrary = isinstance(given, ast.Constant) and isinstance(given.value, str) and bool(given.value) != truth
    step = replace_text(tree.span(path, given), str(truth))
    return repair(f"Write `{truth}`", step, *_as_bool(model, field), unsafe=contrary)


def _truth(value: ast.expr) -> bool | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        text = value.value.strip().lower()
        return text in _YES if text in _YES | _NO else None
    if isinstance(value, ast.Constant) and value.value is Ellipsis:
        return None
    return literal_truth(value)


def _with_default(model: ModelClass, name: str, field: Field) -> Repair | None:
    tree, path, statement = model.project.tree, field.owner.module.path, field.statement
    call = field_call(model.project, field)
    if name not in (canonical_fields(model.project) or AXES):
        return None
    if call is not None:
        open_to_it = all(k.arg not in (None, "default_factory", "init") for k in call.keywords)
        return repair("Write `False`", add_argument(tree.span(path, call), "default=False")) if open_to_it else None
    if not isinstance(statement, ast.AnnAssign):
        return None
    written = text_behind(tree.span(path, statement.annotation), " = False")
    return repair("Write `False`", written, *_as_bool(model, field))


def _as_bool(model: ModelClass, field: Field) -> Iterator[Step]:
    """``bool`` for an annotation that only fitted the old default."""
    annotation = getattr(field.statement, "annotation", None)
    if annotation is None or dotted(annotation) == "bool":
        return
    allowed = (ast.Name, ast.BinOp, ast.BitOr, ast.Load, ast.Constant)
    parts = list(ast.walk(annotation))
    names = {n.id for n in parts if isinstance(n, ast.Name)}
    values = {n.value for n in parts if isinstance(n, ast.Constant)}
    if all(isinstance(n, allowed) for n in parts) and names <= _PLAIN_TYPES and values <= {None}:
        yield replace_text(model.project.tree.span(field.owner.module.path, annotation), "bool")


# -- axes (NAM304) ----------------------------------------------------------------------------------------------------


def completed(
    model: ModelClass, nested: ClassEntity, declared: Mapping[str, Field], missing: Iterable[str]
) -> Repair | None:
    """The missing axes: those that are only misspelled under their names, the others as ``False`` behind the fields."""
    if any(model.classes.is_opaque(a) for a in model.classes.mro(nested)):
        return None
    known = canonical_fields(model.project) or ()
    left, steps = list(missing), []
    for name in (n for n in declared if known and n not in known):
        meant, mended = _meant(name, known, declared), renamed(model, name, declared)
        if mended is not None and meant in left and declared[name].owner.module is nested.module:
            left.remove(meant)
            steps += mended.steps
        elif set(difflib.get_close_matches(name, known, 1, cutoff=0.5)) & set(left):
            return None  # whoever wrote that field may have meant the axis
    if left:
        own = {name: field for name, field in declared.items() if field.owner is nested}
        plain = own and all(isinstance(f.statement, ast.Assign) for f in own.values())
        kind = "" if plain and is_frozen_dataclass(model.project, nested) else ": bool"
        text = "\n".join(f"{axis}{kind} = False" for axis in left)
        place = place_of(model.project.tree.span(nested.module.path, nested.node))
        steps.append(add_member(place, text, tuple(own), "methods"))
    return repair("Say something about every axis", *steps)
