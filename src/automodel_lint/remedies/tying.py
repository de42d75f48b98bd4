"""Repairs of the tie policy and of what backs it (NAM201, NAM208, NAM209): the class body says what the code does."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator

from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.spelling import spelled
from automodel_lint.domain.tie_policy import KEYS, POLICY, policy_of_code
from automodel_lint.domain.tied_names import TiedNames, declared, fits, tied_names
from automodel_lint.domain.tying import Tying
from automodel_lint.inference.bindings import parts_of
from automodel_lint.inference.values import Ref
from automodel_lint.remedies.tie_gate import gate, own_methods
from automodel_lint.repairs import Repair, Step, add_member, place_of, repair, replace_text, text_behind

_ATTRIBUTES = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")  # no index between the dots
_ALIKE = 0.9
_WIDE = 90


def policy(model: ModelClass) -> Repair | None:
    """The policy that the code keeps, at the top of the class; one under a misspelled name gets the right name."""
    renamed = _renamed(model, POLICY, _is_policy)
    if renamed is not None:
        return repair(f"Call it `{POLICY}`", renamed)
    member, spelling = policy_of_code(model), spelled(model.project, model.entity.module, "TieSupport")
    if member is None or spelling is None:
        return None
    name, needed = spelling
    return repair(f"Declare `{member}`", _declared(model, POLICY, f"{name}.{member}", name), needed)


def keys(model: ModelClass) -> Repair | None:
    """The names of the tensors that the code makes one, below the policy."""
    names = tied_names(model)
    if names is None:
        return None
    renamed = _renamed(model, KEYS, lambda value: value == names)
    if renamed is not None:
        return repair(f"Call it `{KEYS}`", renamed)
    items = [f'"{alias}": "{source}"' for alias, source in names.items()]
    text = "{" + ", ".join(items) + "}"
    if len(text) > _WIDE:
        text = "{\n" + "".join(f"    {item},\n" for item in items) + "}"
    return repair(f"Declare `{KEYS}`", _declared(model, KEYS, text, after=(POLICY,)))


def method(model: ModelClass) -> Repair | None:
    """A ``tie_weights`` that assigns what the keys say, at the end of the class."""
    names = declared(model, KEYS) or tied_names(model)
    renamed = _renamed_method(model, names)
    if renamed is not None:
        return repair("Call it `tie_weights`", renamed)
    if not names or not _can_be_assigned(model, names) or not _may_override(model, names):
        return None
    lines = [f"self.{alias} = self.{source}" for alias, source in names.items()]
    if model.tie_policies != {"TIED_ONLY"}:
        condition = gate(model, model.entity, "self")
        if condition is None:
            return None
        lines = [f"if {condition}:", *(f"    {line}" for line in lines)]
    text = "\n    ".join(("def tie_weights(self, *args, **kwargs):", *lines))
    return repair("Define `tie_weights`", add_member(_place(model), text, where="end"))


def _can_be_assigned(model: ModelClass, names: dict[str, str]) -> bool:
    both = [name for pair in names.items() for name in pair]
    plain = all(_ATTRIBUTES.fullmatch(name) and fits(model.module_tree, name) for name in both)
    return plain and not any(alias == source for alias, source in names.items())


def _may_override(model: ModelClass, names: dict[str, str]) -> bool:
    """Whether a method of the class would do no less than the inherited one, and no attribute hides it."""
    for view in own_methods(model):
        if any(name == f"{view.self_name}.tie_weights" for n in view.walk() for name, _ in parts_of(n)):
            return False
    inherited, pairs = model.method("tie_weights"), TiedNames(model).pairs()
    if pairs is None:
        return inherited is None
    return set(pairs) <= set(names.items()) and (inherited is None or Tying(inherited).only_ties())


def _renamed_method(model: ModelClass, names: dict[str, str] | None) -> Step | None:
    """The right name for a method that ties what the keys say and that nobody calls by the name it has."""
    tree = model.project.tree
    for node in model.entity.node.body:
        if isinstance(node, ast.FunctionDef) and _is_misspelled(model, node.name, "tie_weights"):
            view = model.method(node.name, local=True)
            if view is not None and view.node is node and dict(TiedNames(model).pairs_of(view) or ()) == names:
                return replace_text(tree.name_span(model.path, node), "tie_weights")
    return None


# -- in the class body ------------------------------------------------------------------------------------------------


def _place(model: ModelClass) -> tuple[int, int]:
    return place_of(model.project.tree.span(model.path, model.entity.node))


def _declared(model: ModelClass, name: str, value: str, annotation: str = "", after: tuple[str, ...] = ()) -> Step:
    """``name = value`` in the class body; an annotation that is there without a value gets the value."""
    for statement in model.entity.node.body:
        is_open = isinstance(statement, ast.AnnAssign) and statement.value is None
        if is_open and isinstance(statement.target, ast.Name) and statement.target.id == name:
            return text_behind(model.project.tree.span(model.path, statement), f" = {value}")
    typed = f"{name}: {annotation}" if annotation else name
    return add_member(_place(model), f"{typed} = {value}", after=after)


def _is_policy(value: object) -> bool:
    return isinstance(value, Ref) and value.fqn.split(".")[-2:-1] == ["TieSupport"]


def _renamed(model: ModelClass, name: str, is_meant: Callable[[object], bool]) -> Step | None:
    """The right name for a definition in the class body that has a misspelled one, which nobody else uses."""
    for target in _assigned(model):
        if _is_misspelled(model, target.id, name):
            values = [v for member in model.local(target.id) for v in model.member_values(member) or [None]]
            if len(values) == 1 and is_meant(values[0]):
                return replace_text(model.project.tree.span(model.path, target), name)
    return None


def _is_misspelled(model: ModelClass, word: str, name: str) -> bool:
    """Whether a word is nearly the name, and stands in one line of the file only."""
    if difflib.SequenceMatcher(None, word, name).ratio() <= _ALIKE:
        return False
    lines = model.project.tree.lines(model.path)
    return sum(bool(re.search(rf"\b{word}\b", line)) for line in lines) == 1


def _assigned(model: ModelClass) -> Iterator[ast.Name]:
    """The names that the class body itself assigns a value, one to a statement."""
    for statement in model.entity.node.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                yield targets[0]
