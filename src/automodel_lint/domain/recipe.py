"""A recipe: a YAML file that says what is trained, on what, and how; the things in it that name Python code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from automodel_lint.domain.project import Project
from automodel_lint.domain.recipe_files import recipe_files
from automodel_lint.findings import Finding, Span
from automodel_lint.inference.yaml_document import Document, Node, Unloadable, read

TARGET = "_target_"
AXES = ("tp", "cp", "pp", "ep", "dp", "dp_replicate")
_SIZES = ("distributed", "distributed_config", "fsdp")  # the sections that hold sizes, of all ages of the framework
_WORDS = {"none": None, "None": None, "true": True, "True": True, "false": False, "False": False}
Path = tuple[str | int, ...]


class _Unknown:
    """A value that only the run knows: from the environment, or damaged."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Any = _Unknown()


@dataclass(frozen=True)
class Setting:
    """One key of a recipe with its value, and whether it came through a merge."""

    path: Path
    node: Node
    key_node: Node
    is_merged: bool = False

    @property
    def key_span(self) -> Span:
        """Where the key stands."""
        return self.key_node.span

    @property
    def span(self) -> Span:
        """Where the value stands."""
        return self.node.span

    @property
    def value(self) -> Any:
        """The value as the framework takes it; :data:`UNKNOWN` of a mapping, a list, or what the run decides."""
        return plain(self.node)


@dataclass(frozen=True)
class Target:
    """A Python name that the recipe hands over to be imported.

    ``path`` are the keys that lead to the mapping with the ``_target_`` (numbers are places in lists), or to the entry
    that is one by its own name (``…_fn: a.b.c``, ``is_called`` is false then: it is handed on as it is).
    ``arguments`` are the keys beside.
    """

    path: Path
    text: str
    span: Span
    is_called: bool = True
    arguments: dict[str, Setting] = field(default_factory=dict)

    @property
    def section(self) -> str:
        """The first key on the way."""
        return str(self.path[0]) if self.path else ""


class Recipe:
    """One YAML file; ``path`` is absolute. ``document.root`` is ``None`` where it cannot be read."""

    def __init__(self, project: Project, path: str):
        self.project, self.path = project, path

    @cached_property
    def document(self) -> Document:
        """The file, parsed; who asks for it again in one run, gets the same."""
        data = self.project.tree.read(self.path) or b""
        known = self.project.documents.get(self.path)
        if known is None or known[0] is not data:
            known = self.project.documents[self.path] = (data, read(data))
        return known[1]

    @property
    def relative(self) -> str:
        """The path as findings show it."""
        return self.project.tree.relative(self.path)

    def get(self, dotted: str) -> Setting | None:
        """Return the setting at a dotted path of keys, ``None`` if there is none."""
        node, found = self.document.root, None
        path: Path = ()
        for key in dotted.split("."):
            entry = node.entries.get(key) if node is not None else None
            if entry is None:
                return None
            path, node = (*path, key), entry.node
            found = Setting(path, entry.node, entry.key_node, entry.merged)
        return found

    @property
    def entry(self) -> Setting | None:
        """What runs the recipe: ``recipe: Name``, or the ``_target_`` of a mapping there; ``None`` without one."""
        found = self.get("recipe")
        return self.get(f"recipe.{TARGET}") if found is not None and found.node.is_mapping else found

    def axis(self, name: str) -> tuple[int, Span] | None:
        """Return the size that the recipe gives an axis (one of :data:`AXES`), and where; ``None`` if it gives none."""
        for section in _SIZES:
            found = self.get(f"{section}.{name}_size")
            if found is not None:
                is_size = isinstance(found.value, int) and not isinstance(found.value, bool)
                return (found.value, found.span) if is_size else None
        return None

    @cached_property
    def targets(self) -> list[Target]:
        """Every name to be imported, however deep, in source order; what several aliases share appears once."""
        return sorted(self._targets(), key=lambda target: target.span)

    def _targets(self) -> Iterator[Target]:
        seen: set[int] = set()
        todo: list[tuple[Path, Node]] = [((), self.document.root)] if self.document.root is not None else []
        while todo:
            path, node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            settings = {
                entry.key: Setting((*path, entry.key), entry.node, entry.key_node, entry.merged)
                for entry in node.entries.values()
                if isinstance(entry.key, str)
            }
            target = settings.pop(TARGET, None)
            if target is not None and target.node.text:
                yield Target(path, target.node.text, target.span, True, settings)
            for name, setting in settings.items():
                if name.endswith("_fn") and setting.node.text and not setting.is_merged:
                    yield Target(setting.path, setting.node.text, setting.span, is_called=False)
            todo += [(setting.path, setting.node) for setting in settings.values() if not setting.node.is_scalar]
            todo += [((*path, number), item) for number, item in enumerate(node.items) if not item.is_scalar]

    def loads(self, target: Target) -> bool:
        """Tell whether the framework imports a name when it reads the recipe: a ``…_fn`` only where its loader does."""
        if target.is_called:
            return True
        loader = self.project.names.path_of(f"{self.project.checkout.package}.components.config.loader")
        known = loader is not None and self.project.tree.holds(loader, b'"_fn"')
        return known and self.project.recipe_targets.is_own(target.text) and "." in target.text

    def finding(self, span: Span, **fields: Any) -> Finding:
        """Return a finding at a place of the file."""
        return Finding(self.relative, span, fields=tuple(fields.items()))


def plain(node: Node) -> Any:
    """Return a scalar as the framework's loader translates it: words and literals in texts become values."""
    try:
        value = node.value if node.is_scalar else UNKNOWN
    except Unloadable:
        return UNKNOWN
    if not isinstance(value, str):
        return value
    if "$" in value:
        return UNKNOWN
    if value in _WORDS:
        return _WORDS[value]
    try:
        return ast.literal_eval(value) if len(value) <= 1000 else value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


def recipes(project: Project) -> list[Recipe]:
    """Return the recipes of a checkout: those among its examples."""
    return [Recipe(project, path) for path in recipe_files(project.checkout, project.tree)]
