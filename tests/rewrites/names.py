"""Rewrites of names: imports under other names, through modules, second names, keyword arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from . import Files, Rewrite, Source, after_imports, classes, module_name, parsed


@dataclass(frozen=True)
class Imported:
    """A name that a module imports at its top level, and only there, and that nobody takes from it."""

    statement: ast.ImportFrom
    alias: ast.alias

    @property
    def name(self) -> str:
        return self.alias.asname or self.alias.name


class _Takers:
    """What the files of a checkout take from its modules: names they import, reach as attributes, or register."""

    def __init__(self, files: Files):
        self.imports: list[ast.ImportFrom] = []
        self.attributes: dict[str, set[str]] = {}
        self.registered: set[str] = set()
        for path, text in files.items():
            for node in ast.walk(parsed(text)) if path.endswith(".py") else ():
                if isinstance(node, ast.ImportFrom):
                    self.imports.append(node)
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    self.attributes.setdefault(node.value.id, set()).add(node.attr)
                elif isinstance(node, ast.Tuple) and path.endswith("registry.py"):
                    texts = (e.value for e in node.elts if isinstance(e, ast.Constant))
                    self.registered |= {text for text in texts if isinstance(text, str)}

    def taken_from(self, module: str) -> set[str]:
        """Names of a module that somebody else may rely on (a relative import is judged by its last part)."""
        taken = self.registered | self.attributes.get(module.rpartition(".")[2], set())
        for node in self.imports:
            end = node.module or ""
            if module.endswith(end) if node.level else end == module:
                taken |= {a.name for a in node.names}
        return taken


def _private_imports(source: Source, path: str, takers: _Takers) -> list[Imported]:
    """The imported names that can be called otherwise without anybody noticing."""
    taken = takers.taken_from(module_name(path)) | _bound_otherwise(source.tree)
    found = []
    for statement in source.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module and statement.module != "__future__":
            found += [Imported(statement, a) for a in statement.names if a.name != "*"]
    return [one for one in found if one.name not in taken]


def _bound_otherwise(tree: ast.Module) -> set[str]:
    """Names that something else than an import binds, and those that texts of the module may mean."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            bound |= {node.name} if node.name else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            bound |= {word for word in node.value.replace("[", " ").replace("|", " ").split() if word.isidentifier()}
    imports = [a for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
    names = [a.asname or a.name for a in imports]
    return bound | {name for name in names if names.count(name) > 1}


def _uses(tree: ast.Module) -> dict[str, list[ast.Name]]:
    """Where names are used, by name."""
    found: dict[str, list[ast.Name]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(node)
    return found


def _rewritten(files: Files, paths: list[str], change: Callable[[Source, list[Imported]], None]) -> Files:
    """Let ``change(source, imports)`` edit each module that is no package (a package's names are its exports)."""
    result = dict(files)
    takers = _Takers(files)
    for path in paths:
        if not path.endswith("__init__.py"):
            source = Source(files[path])
            change(source, _private_imports(source, path, takers))
            result[path] = source.edited()
    return result


def _aliased(files: Files, paths: list[str]) -> Files:
    def change(source: Source, imports: list[Imported]) -> None:
        uses = _uses(source.tree)
        for number, one in enumerate(imports):
            source.replace(one.alias, f"{one.alias.name} as _i{number}")
            for use in uses.get(one.name, ()):
                source.replace(use, f"_i{number}")

    return _rewritten(files, paths, change)


def _through_modules(files: Files, paths: list[str]) -> Files:
    """``from a.b import C`` becomes ``import a.b as n``, and ``C`` becomes ``n.C``."""

    def change(source: Source, imports: list[Imported]) -> None:
        uses = _uses(source.tree)
        for number, one in enumerate(imports):
            is_submodule = f"{(one.statement.module or '').replace('.', '/')}/{one.alias.name}.py" in files
            if one.statement.level or is_submodule or len(one.statement.names) > 1:
                continue
            source.replace(one.statement, f"import {one.statement.module} as _m{number}")
            for use in uses.get(one.name, ()):
                source.replace(use, f"_m{number}.{one.alias.name}")

    return _rewritten(_one_name_an_import(files, paths), paths, change)


def _one_name_an_import(files: Files, paths: list[str]) -> Files:
    """``from a import b, c`` becomes two statements."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        for statement in source.tree.body:
            if isinstance(statement, ast.ImportFrom) and len(statement.names) > 1 and source.leads_its_line(statement):
                origin = "." * statement.level + (statement.module or "")
                lines = [
                    f"from {origin} import {a.name}" + (f" as {a.asname}" if a.asname else "") for a in statement.names
                ]
                source.replace(statement, "\n".join(lines))
        result[path] = source.edited()
    return result


def _second_names(files: Files, paths: list[str]) -> Files:
    """Imported names are used by a second name that an assignment gives them."""

    def change(source: Source, imports: list[Imported]) -> None:
        lines, behind, uses = [], after_imports(source), _uses(source.tree)
        for number, one in enumerate(imports):
            later = [use for use in uses.get(one.name, ()) if source.start(use) >= behind]
            if later:
                lines.append(f"_s{number} = {one.name}\n")
            for use in later:
                source.replace(use, f"_s{number}")
        source.insert(behind, "".join(lines))

    return _rewritten(files, paths, change)


def _named_bases(files: Files, paths: list[str]) -> Files:
    """``class A(B, C)`` becomes ``_b0 = B`` and ``class A(_b0, C)``."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        for number, cls in enumerate(c for c in classes(source.tree) if c.bases and not c.decorator_list):
            if cls in source.tree.body:
                source.insert(source.line_start(cls.lineno), f"_b{number} = {source.segment(cls.bases[0])}\n\n\n")
                source.replace(cls.bases[0], f"_b{number}")
        result[path] = source.edited()
    return result


def _keyword_arguments(files: Files, paths: list[str]) -> Files:
    """Calls of functions of the checkout name their arguments."""
    signatures = _signatures(files)
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        shadowed = _bound_otherwise(source.tree)
        for call in ast.walk(source.tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id not in shadowed:
                names = signatures.get(call.func.id, [])
                if len(call.args) <= len(names) and not any(isinstance(a, ast.Starred) for a in call.args):
                    for name, argument in zip(names, call.args, strict=False):
                        source.insert(source.start(argument), f"{name}=")
        result[path] = source.edited()
    return result


def _signatures(files: Files) -> dict[str, list[str]]:
    """Parameters of top-level functions by name, where all functions of that name agree."""
    found: dict[str, list[list[str]]] = {}
    for path, text in files.items():
        for node in parsed(text).body if path.endswith(".py") else ():
            if isinstance(node, ast.FunctionDef) and not node.args.posonlyargs and not node.args.vararg:
                found.setdefault(node.name, []).append([a.arg for a in node.args.args])
    return {name: all_[0] for name, all_ in found.items() if len(all_) == 1}


def _own_class(files: Files, paths: list[str]) -> Files:
    """``type(self)`` becomes ``self.__class__``, and ``super()`` gets its two arguments."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        for cls in classes(source.tree):
            for method in (s for s in cls.body if isinstance(s, ast.FunctionDef) and s.args.args):
                first = method.args.args[0].arg
                inside = {n for c in ast.walk(method) if isinstance(c, ast.ClassDef) for n in ast.walk(c)}
                calls = (n for n in ast.walk(method) if isinstance(n, ast.Call) and n not in inside)
                for call in (c for c in calls if isinstance(c.func, ast.Name)):
                    if call.func.id == "type" and len(call.args) == 1 and source.segment(call.args[0]) == first:
                        source.replace(call, f"{first}.__class__")
                    elif call.func.id == "super" and not call.args:
                        source.replace(call, f"super({cls.name}, {first})")
        result[path] = source.edited()
    return result


REWRITES = [
    Rewrite("import-aliases", _aliased),
    Rewrite("imports-through-modules", _through_modules),
    Rewrite("one-name-an-import", _one_name_an_import),
    Rewrite("second-names", _second_names),
    Rewrite("named-bases", _named_bases),
    Rewrite("keyword-arguments", _keyword_arguments),
    Rewrite("dunder-class-and-long-super", _own_class),
]
