"""Rewrites of lists and tables: sums, spreads, merges, and the forms that a registry can have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from . import Files, Rewrite, Source, classes, each_file


def _table_values(source: Source) -> Iterator[ast.expr]:
    """Lists and dicts that modules and classes assign, as they are or as the argument of a call."""
    bodies = [source.tree.body, *(c.body for c in classes(source.tree))]
    for statement in (s for body in bodies for s in body):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            value = statement.value
            inner = value.args if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Dict") else [value]
            yield from (v for v in inner if isinstance(v, (ast.List, ast.Dict)))


def _lists(change: Callable[[list[str]], str]) -> Callable[[Source], str]:
    def rewritten(source: Source) -> str:
        for value in _table_values(source):
            if isinstance(value, ast.List) and value.elts and not any(isinstance(e, ast.Starred) for e in value.elts):
                source.replace(value, change([source.segment(e) for e in value.elts]))
        return source.edited()

    return rewritten


def _summed(elements: list[str]) -> str:
    return f"[{elements[0]}] + [{', '.join(elements[1:])}]"


def _spread(elements: list[str]) -> str:
    return f"[*[{', '.join(elements[:-1])}], {elements[-1]}]"


def _merged_dicts(source: Source) -> str:
    for value in _table_values(source):
        if isinstance(value, ast.Dict) and value.keys and None not in value.keys:
            pairs = [
                f"{source.segment(k)}: {source.segment(v)}" for k, v in zip(value.keys, value.values, strict=True) if k
            ]
            source.replace(value, f"{{**{{{', '.join(pairs[:-1])}}}, {pairs[-1]}}}")
    return source.edited()


# -- the registry ---------------------------------------------------------------------------------------------------


def _in_registry(name: str, change: Callable[[Source], str]) -> Rewrite:
    def apply(files: Files, paths: list[str]) -> Files:
        changed = {p: change(Source(t)) for p, t in files.items() if p.endswith("_transformers/registry.py")}
        return {**files, **changed}

    return Rewrite(name, apply)


def _entries(source: Source, name: str) -> tuple[ast.stmt, list[tuple[str, str]]] | None:
    """The statement that assigns a table, and the texts of its keys and values."""
    for statement in source.tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if not any(isinstance(t, ast.Name) and t.id == name for t in targets if t is not None):
            continue
        value = statement.value
        value = value.args[0] if isinstance(value, ast.Call) else value
        if isinstance(value, ast.Dict):
            pairs = list(zip(value.keys, value.values, strict=True))
        else:
            pairs = [(e.elts[0], e.elts[1]) for e in value.elts]
        return statement, [(source.segment(k), source.segment(v)) for k, v in pairs]
    return None


def _table_as(form: Callable[[str, list[tuple[str, str]]], str]) -> Callable[[Source], str]:
    def rewritten(source: Source) -> str:
        for name in ("MODEL_ARCH_MAPPING", "_CUSTOM_CONFIG_REGISTRATIONS"):
            found = _entries(source, name)
            if found:
                source.replace(found[0], form(name, found[1]))
        return source.edited()

    return rewritten


def _as_dict(name: str, entries: list[tuple[str, str]]) -> str:
    return f"{name}: dict[str, tuple] = {{\n" + "".join(f"    {k}: {v},\n" for k, v in entries) + "}"


def _as_pairs(name: str, entries: list[tuple[str, str]]) -> str:
    return f"{name} = OrderedDict((\n" + "".join(f"    ({k}, {v}),\n" for k, v in entries) + "))"


def _as_subscripts(name: str, entries: list[tuple[str, str]]) -> str:
    return "\n".join([f"{name} = {{}}", *(f"{name}[{k}] = {v}" for k, v in entries)])


def _as_updates(name: str, entries: list[tuple[str, str]]) -> str:
    return "\n".join([f"{name} = OrderedDict()", *(f"{name}.update({{{k}: {v}}})" for k, v in entries)])


def _module_paths(source: Source, spelled: Callable[[str, str], str], head: str = "") -> str:
    """Module paths of the tables, put together from the package of the models and the rest."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ".components.models." in node.value:
            package, _, rest = node.value.partition(".components.models.")
            if rest and " " not in node.value:
                source.replace(node, spelled(package + ".components.models", rest))
    first = next(s for s in source.tree.body if isinstance(s, (ast.Assign, ast.AnnAssign)))
    source.insert(source.line_start(first.lineno), head)
    return source.edited()


def _paths_summed(source: Source) -> str:
    return _module_paths(source, lambda package, rest: f'"{package}." + "{rest}"')


def _paths_formatted(source: Source) -> str:
    package = "nemo_automodel" if "nemo_automodel." in source.text else "acme_automodel"
    head = f'_MODELS = "{package}.components.models"\n\n'
    return _module_paths(source, lambda _, rest: f'f"{{_MODELS}}.{rest}"', head)


def _paths_in_names(source: Source) -> str:
    """Every module path stands in a name of its own."""
    paths = sorted(
        {
            n.value
            for n in ast.walk(source.tree)
            if isinstance(n, ast.Constant)
            and isinstance(n.value, str)
            and ".components.models." in n.value
            and " " not in n.value
        }
    )
    head = "".join(f'_P{number} = "{path}"\n' for number, path in enumerate(paths))
    return _module_paths(source, lambda package, rest: f"_P{paths.index(f'{package}.{rest}')}", head + "\n")


REWRITES = [
    each_file("lists-summed", _lists(_summed)),
    each_file("lists-spread", _lists(_spread)),
    each_file("dicts-merged", _merged_dicts),
    _in_registry("registry-as-a-dict", _table_as(_as_dict)),
    _in_registry("registry-as-pairs", _table_as(_as_pairs)),
    _in_registry("registry-by-subscripts", _table_as(_as_subscripts)),
    _in_registry("registry-by-updates", _table_as(_as_updates)),
    _in_registry("module-paths-summed", _paths_summed),
    _in_registry("module-paths-formatted", _paths_formatted),
    _in_registry("module-paths-in-names", _paths_in_names),
]
