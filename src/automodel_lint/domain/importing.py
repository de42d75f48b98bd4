"""What importing a module runs: which modules, which libraries, and whether a package can import one of its own."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from automodel_lint.inference.bindings import absolute_module, branches, dotted
from automodel_lint.inference.names import Module, Names
from automodel_lint.source import remembered

# What torch and transformers are themselves, or bring.
_AT_HAND = frozenset(
    "torch transformers numpy safetensors huggingface_hub tokenizers yaml packaging regex tqdm filelock fsspec"
    " typing_extensions sympy networkx jinja2".split()
)


class Importing:
    """What runs when a module is imported for the first time.

    ``modules`` are those of the checkout in whatever branch, ``libraries`` the top-level packages of others that it
    cannot do without.
    """

    def __init__(self, names: Names, start: Module):
        self.names = names
        self.modules: dict[str, Module] = {}
        self.libraries: set[str] = set()
        self._needed: set[str] = set()
        todo = [(start.name, True)]
        while todo:
            todo += self._entered(*todo.pop())

    def _entered(self, name: str, sure: bool) -> Iterator[tuple[str, bool]]:
        if name in self._needed or (name in self.modules and not sure):
            return
        module = self.names.module(name)
        if not self.names.at_hand(name) or module is None:
            if sure and not self.names.at_hand(name):
                self.libraries.add(name.partition(".")[0])
            return
        self.modules[name] = module
        if sure:
            self._needed.add(name)
        for target, always in imports_of(self.names, module):
            yield target, sure and always

    def libraries_beyond(self, other: Importing | None) -> set[str]:
        """Return the libraries that neither torch, transformers nor ``other`` need, and Python does not have."""
        known = _AT_HAND | sys.stdlib_module_names | (other.libraries if other else set())
        return {library for library in self.libraries if library and library not in known}


@remembered
def imports_of(names: Names, module: Module) -> tuple[tuple[str, bool], ...]:
    """Return the modules that importing one imports, with the packages around them; of each whether it surely is."""
    found = {}
    for statement, sure in _run(module.syntax.body, True):
        by_statement = isinstance(statement, (ast.Import, ast.ImportFrom))
        for target in _targets(statement, module, names) if by_statement else _named_in_call(statement):
            parts = target.split(".")
            for number in range(1, len(parts) + 1):
                name = ".".join(parts[:number])
                found[name] = found.get(name, False) or (sure and by_statement)
    return tuple(found.items())


def _run(body: list[ast.stmt], sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    for statement in body:
        inner = list(branches(statement))
        if isinstance(statement, ast.If) and dotted(statement.test).rpartition(".")[2] == "TYPE_CHECKING":
            inner = [(statement.orelse, True)]
        elif isinstance(statement, ast.ClassDef):
            inner = [(statement.body, True)]
        yield statement, sure
        for branch, always in inner:
            yield from _run(branch, sure and always)


def _targets(statement: ast.Import | ast.ImportFrom, module: Module, names: Names) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
        return
    target = absolute_module(statement, module.package)
    yield target
    if names.at_hand(target):
        submodules = (f"{target}.{alias.name}" for alias in statement.names)
        yield from (name for name in submodules if names.path_of(name))


def _named_in_call(statement: ast.stmt) -> Iterator[str]:
    """``safe_import_from("a.b", "c")``, ``import_module("a.b")``: a call that imports by name, and may do without."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and "import" in dotted(value.func):
        yield from (a.value for a in value.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str))


def can_import(names: Names, package: Module, source: Module) -> bool:
    """Tell whether a package's ``__init__`` can import one of its modules without harm to whoever imports the package.

    It cannot where a module outside it, that the source needs, itself imports from the package: whoever comes to that
    one first would find it half done. Nor where the source needs names of the ``__init__`` itself, or a library that
    so far the package could do without.
    """
    needed = Importing(names, source)
    if needed.libraries_beyond(Importing(names, package)):
        return False
    inside = f"{package.name}."
    for name, module in needed.modules.items():
        if name == package.name:
            continue
        if not name.startswith(inside):
            if any(f"{t}.".startswith(inside) for t, _ in imports_of(names, module)):
                return False
        elif any(_takes_names_of(statement, module, package, names) for statement, _ in _run(module.syntax.body, True)):
            return False
    return True


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


def _takes_names_of(statement: ast.stmt, module: Module, package: Module, names: Names) -> bool:
    """Whether a statement imports something from the package's own ``__init__``, not one of its modules."""
    if not isinstance(statement, ast.ImportFrom) or absolute_module(statement, module.package) != package.name:
        return False
    return any(names.path_of(f"{package.name}.{alias.name}") is None for alias in statement.names)
