"""A registered class: the thing that most contracts are about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from automodel_lint.domain.causal_head import owns_causal_head
from automodel_lint.domain.class_thing import ClassThing
from automodel_lint.domain.fp32_pins import Pins
from automodel_lint.domain.project import Project
from automodel_lint.domain.tie_guard import Guarding, guarding
from automodel_lint.inference.classes import Ancestor, Member, MethodView, is_hf_model
from automodel_lint.inference.module_tree import ModuleNode, ModuleTree, Tensor
from automodel_lint.inference.names import ClassEntity, Scope
from automodel_lint.inference.values import Ref, Undecided

if TYPE_CHECKING:
    from automodel_lint.domain.adapter import Adapter

POLICIES = ("BOTH", "TIED_ONLY", "UNTIED_ONLY")


class ModelClass(ClassThing):
    """One registered class, under all its architecture names.

    Attributes:
        project: the checkout it lies in.
        entity: its definition.
        architectures: the names it is registered under.
        tags: the tags of its registrations.
    """

    def __init__(self, project: Project, entity: ClassEntity, architectures: tuple[str, ...], tags: tuple[str, ...]):
        super().__init__(project, entity, architectures)
        self.tags = tags

    @cached_property
    def mro(self) -> tuple[Ancestor, ...]:
        """The method resolution order, the class itself first."""
        return self.classes.mro(self.entity)

    # -- members ----------------------------------------------------------------------------------------------

    def local(self, name: str) -> list[Member]:
        """Return the definitions of ``name`` in the class body."""
        return self.classes.local(self.entity, name)

    def defines(self, name: str) -> bool:
        """Tell whether the class body binds ``name``, in whatever branch."""
        return bool(self.local(name))

    def inherited(self, name: str) -> tuple[list[Member], bool]:
        """Return the definitions that win along the MRO, and whether an unknown base comes first."""
        return self.classes.find(self.entity, name)

    def method(self, name: str, local: bool = False) -> MethodView | None:
        """Return the method that runs for ``name`` if its source is in the checkout."""
        members, opaque = (self.local(name), False) if local else self.inherited(name)
        if opaque or not members or members[-1].function is None or not self.classes.is_local(members[-1].owner):
            return None
        return MethodView(self.classes, self.entity, members[-1])

    def own_functions(self) -> Iterator[tuple[ClassEntity, ast.FunctionDef]]:
        """Yield every method of the class and of its bases that know the framework, with the class that has it."""
        for ancestor in self.mro:
            if isinstance(ancestor, ClassEntity) and self.classes.is_local(ancestor):
                yield from ((ancestor, function) for function in self.classes.methods(ancestor))

    def member_scope(self, member: Member) -> Scope:
        """Return the scope of a class body, in which a member's value is evaluated."""
        return Scope(member.owner.module, (self.names.body(member.owner), *member.owner.scope.frames))

    def member_values(self, member: Member) -> list[Any] | None:
        """Return what a member can evaluate to, or ``None`` if that cannot be told."""
        if member.binding.kind == "from":
            return [Ref(f"{member.binding.target}.{member.binding.name}")]
        if member.value is None:
            return None
        try:
            return self.values.possible(member.value, self.member_scope(member))
        except Undecided:
            return None

    # -- what the contracts ask ---------------------------------------------------------------------------------

    @cached_property
    def has_opaque_base(self) -> bool:
        """Whether some base could be any class, so that nothing can be said to be missing."""
        return any(self.classes.is_opaque(a) for a in self.mro)

    @cached_property
    def owns_causal_head(self) -> bool:
        """Whether the class owns a causal language-model head."""
        return owns_causal_head(self.classes, self.entity, lambda: self.module_tree)

    @cached_property
    def pins(self) -> Pins:
        """What the class keeps in fp32."""
        return Pins(self)

    @cached_property
    def module_tree(self) -> ModuleTree:
        """Everything that constructing the class can produce."""
        return self._tree()

    @cached_property
    def adapters(self) -> tuple[Adapter, ...]:
        """The state-dict adapters that the class can have, one for each side of a condition; most have one or none."""
        from automodel_lint.domain.adapter import adapters_of

        return adapters_of(self)

    @cached_property
    def tree_by_caller(self) -> ModuleTree:
        """The tree if the caller gives what the constructor takes beside the config: overrides, a backend."""
        return self._tree(by_caller=True)

    @cached_property
    def _by_default(self) -> frozenset[tuple[str, str]]:
        """The names in the tree, with their kinds, if all fields that may be none have their defaults."""
        tree = self._tree(self.module_tree.unsettled)
        return frozenset(_named(part) for part in (*tree.tensors, *tree.nodes()))

    def _tree(self, assumed: frozenset[str] = frozenset(), by_caller: bool = False) -> ModuleTree:
        from automodel_lint.domain.model_config import constructed_with, names_outside_config
        from automodel_lint.inference.construction.flatten import module_tree

        config, guessed = constructed_with(self)
        outside = config is None and names_outside_config(self)
        return module_tree(
            self.classes, self.project.torch_names, self.entity, config, guessed, outside, assumed, by_caller
        )

    def may_surely_hold(self, part: ModuleNode | Tensor) -> bool:
        """Tell whether a part of the tree surely is possible.

        What depends on a field that may be none of the config's is, if the field's default allows it.
        """
        return self.module_tree.is_settled(part.conditions) or _named(part) in self._by_default

    @cached_property
    def is_pretrained_model(self) -> bool:
        """Whether ``PreTrainedModel`` of transformers is among the ancestors."""
        return any(is_hf_model(a) for a in self.mro)

    @cached_property
    def constructors(self) -> list[Guarding]:
        """What the constructor does about the tie guard, then the base constructors through which the guard runs."""
        found: list[Guarding] = []
        current: Guarding | None = guarding(self.classes, self.entity)
        while current is not None:
            found.append(current)
            current = current.base
        return found

    def has_ancestor(self, name: str) -> bool:
        """Tell whether a class called ``name`` is among the ancestors."""
        return any(a.fqn.rpartition(".")[2] == name for a in self.mro)

    @cached_property
    def tie_policies(self) -> set[str] | None:
        """The members of ``TieSupport`` that the declared policy can be; ``None`` if there is none to be told."""
        members, opaque = self.inherited("tie_word_embeddings_support")
        if opaque or not members:
            return None
        policies = set()
        for member in members:
            for value in self.member_values(member) or [None]:
                if not isinstance(value, Ref) or value.fqn.split(".")[-2:-1] != ["TieSupport"]:
                    return None
                policies.add(value.name)
        return policies

    @property
    def tie_policy(self) -> str | None:
        """The one declared policy (``BOTH``, ``TIED_ONLY`` or ``UNTIED_ONLY``), if it is one and valid."""
        policies = self.tie_policies
        if policies is None or len(policies) != 1:
            return None
        (policy,) = policies
        return policy if policy in POLICIES else None

    @property
    def ties(self) -> bool:
        """Whether the policy lets the head be tied, whichever branch declares it."""
        policies = self.tie_policies
        return bool(policies) and policies <= {"BOTH", "TIED_ONLY"}


def registered_classes(project: Project, architectures: tuple[str, ...]) -> list[ModelClass]:
    """Return the registered classes that answer to some architecture names, each once."""
    found: dict[ClassEntity, ModelClass] = {}
    for entry in project.architectures:
        places = project.resolve(entry.module, entry.cls).classes if entry.key in architectures else ()
        for module, qualname, _, line in places:
            entity = project.class_at(module, qualname, line)
            if entity is not None and entity not in found:
                found[entity] = ModelClass(project, entity, architectures, entry.tags)
    return list(found.values())


def _named(part: ModuleNode | Tensor) -> tuple[str, str]:
    return part.fqn, part.type_fqn if isinstance(part, ModuleNode) else part.kind
