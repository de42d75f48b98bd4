"""What importing a module runs: which modules, which libraries, and whether a package can import one of its own."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from automodel_lint.inference.bindings import FUNCTIONS, absolute_module, branches, collect, dotted
from automodel_lint.inference.names import Module, Names
from automodel_lint.source import Dep, remembered

# What torch and transformers are themselves, or bring.
_AT_HAND = frozenset(
    "torch transformers numpy safetensors huggingface_hub tokenizers yaml packaging regex tqdm filelock fsspec"
    " typing_extensions sympy networkx jinja2".split()
)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.ClassDef, *FUNCTIONS)
_ANY = {"*", "__getattr__"}  # what makes that a module may have any name

Target = tuple[str, tuple[str, ...]]  # a module, and the names that are taken from it
Assumed = dict[str, list[Target]]  # what packages import that is not in their source (yet)


@dataclass(frozen=True)
class _Node:
    """A module with what it imports; ``module`` is ``None`` outside the checkout, ``read`` what it was told by."""

    at_hand: bool
    module: Module | None
    imports: tuple[tuple[str, bool], ...]
    read: frozenset[Dep]


class ImportGraph:
    """Which module of a checkout imports which; a module is looked into once, whoever asks."""

    def __init__(self, names: Names):
        self.names = names
        self._nodes: dict[str, _Node] = {}

    def node(self, name: str) -> _Node:
        """Return the node of a module; what was read for it has to be noted by whoever builds on it."""
        if name not in self._nodes:
            with self.names.tree.recording() as read:
                at_hand = self.names.at_hand(name)
                module = self.names.module(name) if at_hand else None
                imports = _imports(self.names, module) if module is not None else ()
            self._nodes[name] = _Node(at_hand, module, imports, frozenset(read))
        return self._nodes[name]


class Importing:
    """What runs when a module is imported for the first time.

    ``modules`` are those of the checkout in whatever branch, ``libraries`` the top-level packages of others that it
    cannot do without.
    """

    def __init__(self, graph: ImportGraph, start: Module, assumed: Assumed | None = None):
        self.graph, self.assumed = graph, assumed or {}
        self.modules: dict[str, Module] = {}
        self.libraries: set[str] = set()
        self._needed: set[str] = set()
        self._read: set[Dep] = set()
        todo = [(start.name, True)]
        while todo:
            name, sure = todo.pop()
            if name not in self._needed and (sure or name not in self.modules):
                todo += self._entered(name, sure)
        graph.names.tree.note(*self._read)

    def _entered(self, name: str, sure: bool) -> Iterable[tuple[str, bool]]:
        node = self.graph.node(name)
        self._read |= node.read
        if node.module is None:
            if sure and not node.at_hand:
                self.libraries.add(name.partition(".")[0])
            return ()
        self.modules[name] = node.module
        further = [(target, False) for target, _ in self.assumed.get(name, ())]
        if not sure:
            return [*((target, False) for target, _ in node.imports), *further]
        self._needed.add(name)
        return [*node.imports, *further]

    def libraries_beyond(self, other: Importing) -> set[str]:
        """Return the libraries that neither torch, transformers nor ``other`` need, and Python does not have."""
        return {name for name in self.libraries - other.libraries - _AT_HAND if name not in sys.stdlib_module_names}

    def leading_to(self, package: str) -> set[str]:
        """Return the modules from which importing comes to a package, or to a module in it."""
        importers = defaultdict(list)
        for name in self.modules:
            for target, _ in (*self.graph.node(name).imports, *self.assumed.get(name, ())):
                importers[target].append(name)
        found: set[str] = set()
        todo = [name for target in importers if _is_inside(target, package) for name in importers[target]]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += importers[name]
        return found


def _is_inside(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


# -- statements -----------------------------------------------------------------------------------------------------


def _imports(names: Names, module: Module) -> tuple[tuple[str, bool], ...]:
    """The modules that importing one imports, with the packages around them; of each whether it surely is."""
    found: dict[str, bool] = {}
    for statement, sure in _run(module.syntax.body, True):
        by_statement = isinstance(statement, (ast.Import, ast.ImportFrom))
        for target, taken in _targets(statement, module.package):
            parts = target.split(".")
            inner = [f"{target}.{name}" for name in taken if names.at_hand(target)]
            reached = [".".join(parts[:n]) for n in range(1, len(parts) + 1)] + [n for n in inner if names.path_of(n)]
            for name in reached:
                found[name] = found.get(name, False) or (sure and by_statement)
    return tuple(found.items())


@remembered
def _steps(names: Names, module: Module) -> tuple[tuple[frozenset[str], tuple[Target, ...]], ...]:
    """What each statement of a module binds and imports when the module is run, in order."""
    found = []
    for statement, _ in _run(module.syntax.body, True):
        bindings = collect([statement], module.package) if isinstance(statement, _SIMPLE) else None
        bound = {*bindings.names, *("*" for _ in bindings.stars)} if bindings else set()
        found.append((frozenset(bound), tuple(_targets(statement, module.package))))
    return tuple(found)


def _run(body: list[ast.stmt], sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that importing may run, each with whether it surely does."""
    for statement in body:
        inner = list(branches(statement))
        if isinstance(statement, ast.If) and dotted(statement.test).rpartition(".")[2] == "TYPE_CHECKING":
            inner = [(statement.orelse, True)]
        yield statement, sure
        for branch, always in inner:
            yield from _run(branch, sure and always)


def _targets(statement: ast.stmt, package: str) -> Iterator[Target]:
    """Yield what a statement imports; ``safe_import_from("a.b", "c")`` and ``import_module("a.b")`` import, too."""
    if isinstance(statement, ast.Import):
        yield from ((alias.name, ()) for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        taken = tuple(alias.name for alias in statement.names if alias.name != "*")
        yield absolute_module(statement, package), taken
    else:
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and "import" in dotted(value.func):
            texts = [a.value for a in value.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            yield from ((text, tuple(texts[1:2])) for text in texts[:1])


# -- running --------------------------------------------------------------------------------------------------------


class _HalfDone(Exception):
    """A name is imported from a module that has not got to it yet."""


class _Run:
    """Imports of one process, played through statement by statement; every branch runs."""

    def __init__(self, graph: ImportGraph, assumed: Assumed):
        self.graph, self.names, self.assumed = graph, graph.names, assumed
        self.bound: dict[str, set[str]] = {}  # of each module that was begun
        self.done: set[str] = set()

    def enter(self, name: str) -> None:
        """Import a module; raises :class:`_HalfDone` if that fails."""
        if name in self.bound:
            return
        module = self.graph.node(name).module
        if module is None:
            return
        if "." in name:
            self.enter(name.rpartition(".")[0])
        if name in self.bound:
            return
        self.bound[name] = set()
        for target in self.assumed.get(name, ()):  # at the worst place: before the package has any name
            self._take(*target)
        for bound, targets in _steps(self.names, module):
            for target in targets:
                self._take(*target)
            self.bound[name] |= bound
        self.done.add(name)

    def _take(self, target: str, taken: tuple[str, ...]) -> None:
        self.enter(target)
        for name in taken:
            known = self.bound.get(target, _ANY) if target not in self.done else _ANY
            if name in known or known & _ANY:
                continue
            inner = f"{target}.{name}"
            if self.names.path_of(inner) is None:
                raise _HalfDone
            self.enter(inner)


def _fails(graph: ImportGraph, entry: str, assumed: Assumed) -> bool:
    try:
        _Run(graph, assumed).enter(entry)
    except (_HalfDone, RecursionError):
        return True
    return False


# -- what packages may do -------------------------------------------------------------------------------------------


def can_import(graph: ImportGraph, package: Module, source: Module, registered: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a package's ``__init__`` can import one of its modules without harm to whoever imports the package.

    It cannot where somebody who comes to one of the modules around first would find another one half done, be it that
    the other packages import their ``registered`` classes (module and name), too. Nor where the package could do
    without a library so far that the source needs.
    """
    with graph.names.tree.outlining():
        return _can_import(graph, package, source, registered)


def _can_import(graph: ImportGraph, package: Module, source: Module, registered: Iterable[tuple[str, str]]) -> bool:
    needed = Importing(graph, source)
    if needed.libraries_beyond(Importing(graph, package)):
        return False
    assumed = _missing(graph.names, package.name.rpartition(".")[0], registered)
    assumed.setdefault(package.name, []).append((source.name, ()))
    entries = Importing(graph, source, assumed).leading_to(package.name)
    return not any(_fails(graph, entry, assumed) for entry in sorted({*entries, package.name}))


def _missing(names: Names, models: str, registered: Iterable[tuple[str, str]]) -> Assumed:
    """The registered classes that the packages of a folder do not import themselves, by package."""
    found: Assumed = {}
    for module, cls in dict.fromkeys(registered):
        if module.startswith(f"{models}."):
            package = ".".join(module.split(".")[: models.count(".") + 2])
            parsed = names.module(package) if package != module else None
            if parsed is not None and not parsed.bindings.real(cls):
                found.setdefault(package, []).append((module, (cls.partition(".")[0],)))
    return found


def is_imported_with_care(package: Module, source: Module) -> bool:
    """Tell whether a package names one of its modules in a branch or in a call: it must do without that at times."""
    if any(source.name == f"{package.package}{text}" or source.name == text for text in _texts(package.syntax)):
        return True
    inner = [n for s in package.syntax.body if not isinstance(s, ast.ImportFrom) for n in ast.walk(s)]
    for node in inner:
        if isinstance(node, ast.ImportFrom):
            target = absolute_module(node, package.package)
            if source.name in (target, *(f"{target}.{alias.name}" for alias in node.names)):
                return True
    return False


def _texts(tree: ast.Module) -> Iterator[str]:
    return (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
