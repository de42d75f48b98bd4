"""A checkout as the rules see it: one source tree, its names, classes and values, and what is registered."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from automodel_lint.domain.builtin import builtin_model_types, config_of_architecture
from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.coverage_docs import FACT as DOCS
from automodel_lint.domain.coverage_docs import CoverageDocs, read_docs
from automodel_lint.domain.plan import Plan, Registration, Resolution
from automodel_lint.domain.precision import NAMES
from automodel_lint.domain.recipe_index import RecipeIndex, attributed
from automodel_lint.domain.registry import RegistryReader
from automodel_lint.domain.test_index import TestIndex, read_tests
from automodel_lint.inference.classes import Classes
from automodel_lint.inference.names import ClassEntity, External, Module, Names, Scope, Value
from automodel_lint.inference.values import Ref, Undecided, Values
from automodel_lint.source import ParseProblem, SourceTree, remembered

if TYPE_CHECKING:
    from automodel_lint.domain.beside import Beside
    from automodel_lint.domain.importing import ImportGraph
    from automodel_lint.domain.recipe_reads import RecipeReads
    from automodel_lint.domain.recipe_targets import RecipeTargets

FRAMEWORK = "nemo_automodel"
FOLLOWED = ("transformers",)
# Names that came into the framework with a contract; a release without the name does not have the contract.
NEWER = (
    "HFCheckpointingMixin",
    "TieSupport",
    "_keep_in_fp32_modules_strict",
    "_pp_keep_self_forward",
    "initialize_weights",
    "query_capabilities",
    "reject_tie_word_embeddings_flip",
    "reject_unsupported_tie_word_embeddings",
)


Unseen = External("")  # something that may be there, of which nothing is known


class Project:
    """The domain over one source tree.

    ``outside`` are folders where libraries such as transformers may lie; ``fp32_names`` the names of tensors that are
    intrinsically fp32, where the settings give others than :data:`NAMES`.
    """

    def __init__(
        self, checkout: Checkout, tree: SourceTree, outside: list[str], fp32_names: Iterable[str] | None = None
    ):
        self.checkout, self.tree = checkout, tree
        self.fp32_names = NAMES if fp32_names is None else tuple(fp32_names)
        followed = FOLLOWED if checkout.package == FRAMEWORK else (*FOLLOWED, FRAMEWORK)
        self.names = Names(tree, [checkout.source_root], outside, followed, checkout.package)
        self.torch_names = Names(tree, (), outside, ("torch",))
        self.classes = Classes(self.names)
        self.values = Values(self.names)
        self.reader = RegistryReader(checkout, self.names, self.values)
        self._plan: Plan | None = None
        self.kept: Callable[[str, Callable[[], Any]], Any] = lambda key, compute: compute()  # answers of earlier runs
        self.documents: dict[str, tuple[bytes, Any]] = {}  # recipes, parsed: the index and the rules read the same

    @cached_property
    def imports(self) -> ImportGraph:
        """Which module imports which."""
        from automodel_lint.domain.importing import ImportGraph

        return ImportGraph(self.names)

    @cached_property
    def recipe_targets(self) -> RecipeTargets:
        """Where the names in recipes lead."""
        from automodel_lint.domain.recipe_targets import RecipeTargets

        return RecipeTargets(self)

    @cached_property
    def recipe_reads(self) -> RecipeReads:
        """What the recipe classes read by name."""
        from automodel_lint.domain.recipe_reads import RecipeReads

        return RecipeReads(self)

    # -- registrations ----------------------------------------------------------------------------------------

    def read_plan(self) -> Plan:
        """Read what is registered from source."""
        static = self.reader.has_static_mapping()
        architectures = self.reader.architectures()
        if not architectures and not static and not self.reader.is_unreadable():
            architectures = list(self._exports())
        known = {name: self._mentions(name) for name in NEWER}
        configs, bound = self.reader.configs(), self.reader.bound()
        return Plan(static, architectures, configs, known, self.reader.complete, bound)

    def adopt(self, plan: Plan) -> None:
        """Take over a plan, just read or kept from an earlier run."""
        self._plan = plan

    def adopt_beside(self, beside: Beside) -> None:
        """Take over what lies beside the package, just read or kept from an earlier run."""
        self.tests, self.docs, self.recipes = beside.tests, beside.docs, beside.recipes

    @property
    def architectures(self) -> list[Registration]:
        """The registered architectures; a verdict that asks depends on them, not on the registry's text."""
        assert self._plan is not None
        self.tree.note(("fact", "architectures"))
        return self._plan.architectures

    @property
    def configs(self) -> list[Registration]:
        """The registered config classes."""
        assert self._plan is not None
        self.tree.note(("fact", "configs"))
        return self._plan.configs

    @property
    def registered(self) -> list[tuple[str, str]]:
        """Module and class of the registered architectures, for who need not know where they stand."""
        assert self._plan is not None
        self.tree.note(("fact", "registered"))
        return self._plan.registered

    @property
    def configured(self) -> list[tuple[str, str, str]]:
        """``model_type``, module and class of the registered configs, for who need not know where they stand."""
        assert self._plan is not None
        self.tree.note(("fact", "configured"))
        return self._plan.configured

    def file_of(self, mapping: str) -> str | None:
        """Return the relative path of the registry module where it binds a mapping, else ``None``."""
        assert self._plan is not None
        self.tree.note(("fact", "bound"))
        return self._plan.bound.get(mapping)

    def reads_all_of(self, mapping: str) -> bool:
        """Tell whether a mapping could be read to the last entry, so that what is not in it is nowhere."""
        assert self._plan is not None
        self.tree.note(("fact", "complete"))
        return self._plan.complete.get(mapping, True)

    # -- what lies beside the package -------------------------------------------------------------------------

    @cached_property
    def tests(self) -> TestIndex:
        """Which test files are about which model package; see :mod:`automodel_lint.domain.artefacts`."""
        return read_tests(self.checkout, self.tree, self.architectures)

    @cached_property
    def docs(self) -> CoverageDocs:
        """What the coverage pages name; see :mod:`automodel_lint.domain.artefacts`."""
        return read_docs(self.checkout, self.tree, self.architectures)

    @cached_property
    def recipes(self) -> RecipeIndex:
        """Which recipe trains which registered class; see :mod:`automodel_lint.domain.artefacts`."""
        return self.read_recipes(self.docs)

    def read_recipes(self, docs: CoverageDocs) -> RecipeIndex:
        """Attribute the recipes of the checkout, with what its coverage pages say."""
        from automodel_lint.domain.recipe import recipes
        from automodel_lint.domain.recipe_subject import subject_of

        architectures = self.architectures
        self.tree.note(("fact", f"{DOCS}recipes"))
        return attributed(map(subject_of, recipes(self)), docs, architectures)

    @property
    def has_static_mapping(self) -> bool:
        """Whether the checkout has a static mapping (or is so old that ``ModelClass`` exports are all there is)."""
        assert self._plan is not None
        return self._plan.static

    def _exports(self) -> Iterator[Registration]:
        """An old checkout: every ``ModelClass`` below the models folder registers the classes it names."""
        for path in self.model_files():
            if not self.tree.holds(path, b"ModelClass"):
                continue
            name = self.names.module_name(path)
            module = self.names.module(name) if name else None
            if module is None:
                continue
            for binding in module.bindings.names.get("ModelClass", ()):
                if binding.kind != "value":
                    continue
                assert isinstance(binding.node, ast.expr)
                for entity in self.class_entities(binding.node, Scope(module)) or ():
                    if isinstance(entity, ClassEntity) and self.classes.in_checkout(entity):
                        yield Registration(
                            entity.name,
                            entity.module.name,
                            entity.qualname,
                            (),
                            "export",
                            self.tree.relative(path),
                            self.tree.span(path, binding.node),
                        )

    def class_entities(self, expr: ast.expr, scope: Scope) -> list[ClassEntity | External] | None:
        """Return the classes that an expression names, alone or in a list; ``None`` if that cannot be told."""
        try:
            possible = self.values.possible(expr, scope)
        except Undecided:
            return None
        refs = [v for value in possible for v in (value if isinstance(value, (list, tuple, set)) else [value])]
        found: list[ClassEntity | External] = []
        for ref in refs:
            if isinstance(ref, Ref):
                found += self.by_fqn(ref.fqn)
        return found

    def by_fqn(self, fqn: str) -> list[ClassEntity | External]:
        """Return the class definitions (or the outside name) that a dotted name stands for."""
        module, _, name = fqn.rpartition(".")
        entities = self.names.from_module(module, name)
        return [e for e in entities if isinstance(e, (ClassEntity, External))]

    @remembered
    def builtin_model_types(self) -> set[str] | None:
        """Return the ``model_type`` texts that the transformers at hand knows by itself; ``None`` if there is none."""
        return builtin_model_types(self.names)

    def config_of_architecture(self, architectures: tuple[str, ...]) -> ClassEntity | None:
        """Return the config class that transformers has for one of these architecture names."""
        return config_of_architecture(self.names, architectures)

    # -- what registrations lead to ---------------------------------------------------------------------------

    @remembered
    def resolve(self, module: str, cls: str) -> Resolution:
        """Follow a registration to the class definitions it leads to."""
        if not module or not cls:
            return Resolution("undecided")
        path = self.names.path_of(module)
        if path is None:
            return Resolution("outside" if module.partition(".")[0] in self.names.followed else "no-module")
        if isinstance(self.tree.syntax(path), ParseProblem):
            return Resolution("unparsable")
        found = self.names.module(module)
        entities = self.definitions(module, cls)
        if not entities and found is not None and self._may_bind(found):
            entities = self._lazily_served(found, cls) or [Unseen]
        if entities is None:
            return Resolution("no-class")
        real = [e for e in entities if isinstance(e, ClassEntity) and self._is_ours(e)]
        if real:
            places = [(e.module.name, e.qualname, self.tree.relative(e.module.path), e.node.lineno) for e in real]
            return Resolution("class", tuple(dict.fromkeys(places)))
        if Unseen in entities:
            return Resolution("undecided")
        if any(isinstance(e, ClassEntity) and self.classes.is_stand_in(e) for e in entities):
            return Resolution("stand-in")
        if any(isinstance(e, Value) and self.classes.makes_stand_in(e) for e in entities):
            return Resolution("stand-in")
        if entities and all(isinstance(e, External) and self._is_missing_here(e.fqn) for e in entities):
            return Resolution("no-class")
        return Resolution("outside" if entities else "undecided")

    def _is_ours(self, entity: ClassEntity) -> bool:
        return self.classes.in_checkout(entity) and not self.classes.is_stand_in(entity)

    def definitions(self, module: str, qualname: str) -> list[Any] | None:
        """Return what a qualified name in a module stands for; ``None`` if nothing there has that name."""
        found = self.names.module(module)
        name, *parts = qualname.split(".")
        entities: list[Any] | None = self.names.in_module(found, name) if found else None
        if found and found.bindings.live(name) and not found.bindings.real(name):
            return None
        for part in parts:
            owners = entities or []
            entities = [e for owner in owners for e in self.names.attribute(owner, part)]
            if not entities and owners and all(isinstance(o, ClassEntity) for o in owners):
                return None
        return entities

    def _may_bind(self, module: Module) -> bool:
        """Whether a module may bind names that cannot be seen: ``__getattr__``, ``globals()[…]``, an unread star."""
        if module.bindings.live("__getattr__") or any(self.names.module(s) is None for s in module.bindings.stars):
            return True
        return self.tree.holds(module.path, b"globals()") or self.tree.holds(module.path, b"sys.modules[__name__]")

    def _lazily_served(self, module: Module, cls: str) -> list[ClassEntity]:
        """The class that a package serves on demand, looked for in the files of the package."""
        if not module.path.endswith("__init__.py"):
            return []
        found: list[ClassEntity] = []
        for path in self.tree.python_files(os.path.dirname(module.path)):
            if self.tree.holds(path, f"class {cls}".encode()):
                name = self.names.module_name(path)
                found += self.classes.real(self.definitions(name, cls) or []) if name else []
        return found

    def _is_missing_here(self, fqn: str) -> bool:
        """Whether a dotted name leads into a file of the checkout that does not bind it."""
        owner, _, _ = fqn.rpartition(".")
        module = self.names.module(owner) if self.names.at_hand(fqn) else None
        return module is not None and not self._may_bind(module)

    def class_at(self, module: str, qualname: str, line: int) -> ClassEntity | None:
        """Return the class definition that a resolution names."""
        for entity in self.definitions(module, qualname) or []:
            if isinstance(entity, ClassEntity) and entity.node.lineno == line:
                return entity
        return None

    def knows(self, name: str) -> bool:
        """Tell whether the framework in the checkout is new enough to have ``name`` (one of :data:`NEWER`) at all.

        A contract cannot be broken before it exists: in an old release that never mentions ``TieSupport`` no class
        lacks a policy. A package that is not the framework itself (a plug-in, a fragment) is held to the present one.
        """
        assert self._plan is not None
        self.tree.note(("fact", "known"))
        return self._plan.known[name]

    def _mentions(self, name: str) -> bool:
        framework = os.path.join(self.checkout.package_dir, "_transformers", "auto_model.py")
        if self.tree.read(framework) is None:
            return True
        return any(self.tree.holds(path, name.encode()) for path in self.package_files())

    # -- files ------------------------------------------------------------------------------------------------

    def model_files(self) -> Iterator[str]:
        """Yield the files of the models folder; of the whole package where it has no such folder (a plug-in)."""
        return self.checkout.model_files(self.tree)

    def package_files(self) -> Iterator[str]:
        """Yield every source file of the package."""
        return self.tree.python_files(self.checkout.package_dir)

    def model_package(self, path: str) -> str | None:
        """Return the folder ``components/models/<name>`` that holds ``path``, if one does."""
        return self.checkout.model_package(path)
