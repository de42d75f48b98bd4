"""Reads a constructed object off as a module tree, and the entry to all of it."""

from __future__ import annotations

import ast
from typing import Any

from automodel_lint.inference.classes import Classes
from automodel_lint.inference.construction import torch_modules
from automodel_lint.inference.construction.heap import merged
from automodel_lint.inference.construction.interpreter import Interpreter, TooLong
from automodel_lint.inference.construction.module_methods import member_items
from automodel_lint.inference.construction.truth import text_of
from automodel_lint.inference.construction.values import (
    ABSENT,
    UNKNOWN,
    Callable_,
    Choice,
    Known,
    Obj,
    TensorValue,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import (
    Built,
    Condition,
    ModuleNode,
    ModuleTree,
    Place,
    Symbol,
    Tensor,
)
from automodel_lint.inference.names import ClassEntity, Names

ADAPTER = "state_dict_adapter"  # the attribute under which the framework looks for a model's adapter
_DEEPEST = 40  # levels of the tree


def module_tree(
    classes: Classes,
    torch_names: Names,
    cls: ClassEntity,
    config: ClassEntity | None,
    guessed: bool = False,
    outside: bool = False,
    assumed: frozenset[str] = frozenset(),
    by_caller: bool = False,
) -> ModuleTree:
    """Return the tree of what ``cls(config)`` constructs.

    ``config`` is the class of its config, if known; a ``guessed`` one may have fields that its source does not show.
    ``outside`` says that the class of the config is named, but its source is not at hand; ``assumed`` are fields that
    are taken to have the default they are read with. What the constructor takes beside the config has its default, or
    is open if it is said to be given ``by_caller``.
    """
    given = Thing("config", config)
    given.guessed, given.outside = guessed, outside
    run, made = _constructed(classes, torch_names, cls, given, assumed, _optional(classes, cls) if by_caller else {})
    if run.left_early:  # by a default that a caller may replace
        run, made = _constructed(classes, torch_names, cls, given, assumed, _optional(classes, cls))
    root = _Reader().node(made, "", (), frozenset())
    built = [_built(*record) for record in run.built]
    return ModuleTree(root, built, frozenset(run.unsettled - run.read_plainly), _adapter(run, made))


def _adapter(run: Interpreter, made: Obj) -> Value:
    """Return what a finished model has as its adapter: an attribute, or what a property of the class gives."""
    found = made.slots.get(ADAPTER)
    if found is None and made.cls is not None and run.globals.class_member(made.cls, ADAPTER) is not None:
        try:
            found = run.instances.attribute(made, ADAPTER, made.place.node)
        except (TooLong, RecursionError):
            found = UNKNOWN
    return ABSENT if found is None else found


def _constructed(
    classes: Classes,
    torch_names: Names,
    cls: ClassEntity,
    config: Thing,
    assumed: frozenset[str],
    keywords: dict[str, Value],
) -> tuple[Interpreter, Obj]:
    """Run the constructor of a class; return the interpreter and the object."""
    run = Interpreter(classes, torch_names, assumed)
    made = Obj(cls, cls.fqn, True, Place(cls.module.path, cls.node))
    torch_modules.prepare(run, made, cls)
    run.making.append(cls)
    run.constructing.append(made)
    try:
        run.instances.construct(made, None, [config], keywords)
    except TooLong:
        made.opaque = made.opaque or "construction is too long to be followed"
    except RecursionError:
        made.opaque = made.opaque or "construction is nested too deeply to be followed"
    return run, made


def _optional(classes: Classes, cls: ClassEntity) -> dict[str, Value]:
    """What a caller may give beside the config, as values that only the caller knows."""
    members, _ = classes.find(cls, "__init__")
    function = members[-1].function if members else None
    arguments = function.args if function is not None else ast.arguments([], [], None, [], [], None, [])
    with_default = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    names = [a.arg for a in (*with_default, *arguments.kwonlyargs)]
    return {name: Thing(name) for name in names}


class _Reader:
    """Turns objects into nodes, one alternative after the other."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def node(self, made: Obj, fqn: str, conditions: tuple[Condition, ...], above: frozenset[int]) -> ModuleNode:
        """Return the node of a module at a name."""
        node = ModuleNode(fqn, made.cls, made.type_fqn, conditions, made.place, opaque=made.opaque)
        node.shared = id(made) in self.seen
        self.seen.add(id(made))
        if len(above) > _DEEPEST:
            node.opaque = "nested too deeply to be followed"
            return node
        for name, value in member_items(made):
            self._member(node, f"{fqn}.{name}" if fqn else str(name), value, conditions, above | {id(made)}, made)
        return node

    def _member(
        self, node: ModuleNode, fqn: str, value: Value, conditions: tuple[Condition, ...], above: frozenset, made: Obj
    ) -> None:
        alternatives = value.alternatives if isinstance(value, Choice) else [((), value)]
        for more, single in alternatives:
            both = merged(conditions, more)
            if both is None:
                continue
            if isinstance(single, Obj) and single.is_module and id(single) not in above:
                node.children.append(self.node(single, fqn, both, above))
            elif isinstance(single, TensorValue) and (single.role or made.holds_parameters):
                node.tensors.append(_tensor(node, fqn, single, both))
            elif isinstance(single, Unknown) and single.module:
                child = ModuleNode(fqn, None, "torch.nn.Module", both, made.place, opaque=single.module)
                node.children.append(child)


def _tensor(node: ModuleNode, fqn: str, value: TensorValue, conditions: tuple[Condition, ...]) -> Tensor:
    return Tensor(
        fqn,
        value.role or "parameter",
        node,
        conditions,
        value.dtype,
        value.shape,
        value.place if value.place.path else node.place,
        value.persistent,
        value.trainable,
    )


def _built(made: Obj, conditions: tuple[Condition, ...], owner: ClassEntity | None) -> Built:
    assert made.cls is not None
    fields = {str(k): _data(v) for k, v in made.slots.items() if v is not ABSENT}
    return Built(made.cls, fields, conditions, made.place, owner)


def _data(value: Value) -> Any:
    """Return a field as plain data where the source decides it."""
    if isinstance(value, Known):
        return value.value
    return Symbol(text_of(value, ast.Name("?")) if not isinstance(value, Callable_) else "a function")
