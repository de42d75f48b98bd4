"""Things → rules → findings: enumerates the things of a checkout, asks every rule about each, keeps the verdicts."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from automodel_lint.cache import Cache
from automodel_lint.domain.beside import Beside, read_beside
from automodel_lint.domain.checkout import Checkout
from automodel_lint.domain.plan import Plan, Resolution
from automodel_lint.domain.recipe_files import recipe_files
from automodel_lint.findings import Finding, Span, merged
from automodel_lint.processes import Processes
from automodel_lint.source import Dep, ParseProblem, SourceTree

_CLASS = re.compile(rb"^class (\w+)", re.M)
Progress = Callable[[int, int], None]
Unit = tuple[str, Callable[[], list[dict[str, Any]]]]
Place = tuple[str, str, str, int]  # module, qualified name, relative path and line of a class


@dataclass
class Verdict:
    """What all rules say about a checkout, before anything is selected or silenced.

    ``classes`` holds the relative path of each registered class's file, ``files`` those of the package's sources and of
    the recipes.
    ``codes`` are the rules that looked: of the others nothing can be said, nor that a suppression of them is unused.
    """

    findings: list[Finding]
    classes: list[str]
    files: list[str]
    codes: frozenset[str]


class Engine:
    """Runs the rules over one checkout.

    ``fp32_names`` is what the settings say of intrinsically fp32 tensors; ``apart`` lets other processes help;
    ``known`` is what an earlier run of this process found (see :class:`Cache`); ``memory`` stands in for the cache.
    The rules of ``later`` ask about classes in units of their own (``later:…``). ``asked`` are absolute paths below
    which recipes are looked for, beside the examples. ``classes`` holds the registered classes with their architectures
    and tags, once the units are known.
    """

    def __init__(
        self,
        checkout: Checkout,
        tree: SourceTree,
        outside: list[str],
        cache_file: str | None = None,
        fp32_names: list[str] | None = None,
        apart: bool = False,
        known: dict[str, Any] | None = None,
        memory: Any = None,
        later: frozenset[str] = frozenset(),
        asked: Iterable[str] = (),
    ):
        self.checkout, self.tree, self.outside, self.fp32_names = checkout, tree, outside, fp32_names
        self.cache = Cache(cache_file, tree, known) if memory is None else memory
        self._later = later
        self._made: dict[tuple, tuple[Any, set[Dep]]] = {}  # classes that later rules are still to be asked about
        self._keeps_answers = memory is not None  # on disk they would cost a warm run more than they save a cold one
        self.apart = apart
        self._plan: Plan | None = None
        self.classes: dict[Place, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._beside: Beside | None = None
        self._asked_for = tuple(asked)
        self._shared: dict[str, str] = {}  # what another process may compute, with the file that it is about

    @cached_property
    def project(self) -> Any:
        """The domain over the checkout; a warm run, in which nothing is asked, does without."""
        from automodel_lint.domain.project import Project

        project = Project(self.checkout, self.tree, self.outside, self.fp32_names)
        if self._keeps_answers:
            project.kept = lambda key, compute: self.cache.get(f"answer:{key}", compute, lambda value: value)
        if self._plan is not None:
            project.adopt(self._plan)
        if self._beside is not None:
            project.adopt_beside(self._beside)
        return project

    def run(self, progress: Progress | None = None) -> Verdict:
        """Return the verdict on the checkout; kept parts are used where nothing they depend on has changed."""
        units = self.units()
        todo = dict(units)
        processes = self._processes(todo)
        found: dict[str, list[Finding]] = {}

        def take(key: str) -> None:
            if progress is not None:
                progress(len(found), len(todo))
            found[key] = self.findings(key, todo[key])

        for key in processes.mine():
            take(key)
        for key in [key for key in todo if key not in processes.keys]:
            take(key)
        for key, (value, deps) in processes.results().items():
            self.cache.offer(key, value, deps)
        for key in [key for key in todo if key not in found]:
            take(key)
        findings = [finding for key in todo for finding in found[key]]
        self.cache.save()
        return self.verdict(findings)

    def units(self) -> list[Unit]:
        """Read what is registered, and return every thing to ask about, as a key and a computation."""
        plan = self._plan = self.cache.get(
            "plan", lambda: self.project.read_plan().to_json(), lambda data: Plan.from_json(data, self.tree)
        )
        if "project" in self.__dict__:
            self.project.adopt(plan)
        self._beside = read_beside(self.cache.get, self.checkout, self.tree, lambda: self.project)
        if "project" in self.__dict__:
            self.project.adopt_beside(self._beside)
        return self._units(plan)

    def verdict(self, findings: Iterable[Finding]) -> Verdict:
        """Return what is found about all units as one verdict."""
        files = sorted(
            self.tree.relative(p) for p in (*self.tree.python_files(self.checkout.package_dir), *self._recipe_paths)
        )
        return Verdict(merged(findings), [path for _, _, path, _ in self.classes], files, static_codes())

    def about_class(self, place: Place) -> Any:
        """Return a registered class as the thing that rules ask about; ``None`` if the file has changed meanwhile."""
        from automodel_lint.domain.model_class import ModelClass

        module, qualname, _, line = place
        entity = self.project.class_at(module, qualname, line)
        return None if entity is None else ModelClass(self.project, entity, *self.classes[place])

    def _processes(self, units: dict[str, Callable[[], list[dict[str, Any]]]]) -> Processes:
        """Start other processes on what nothing is known of, if that is allowed; a folder is one piece."""
        folders: dict[str, dict[str, Callable[[], list[dict[str, Any]]]]] = {}
        for key, path in self._shared.items() if self.apart else ():
            if self.cache.missing(key):
                folders.setdefault(os.path.dirname(path), {})[key] = units[key]
        if folders:
            self.project  # noqa: B018 - what all need is made before
        return Processes(self.tree, sorted(folders.values(), key=_weight, reverse=True))

    @property
    def recipes(self) -> list[str]:
        """The relative paths of the recipes."""
        return [self.tree.relative(path) for path in self._recipe_paths]

    @cached_property
    def _recipe_paths(self) -> list[str]:
        return recipe_files(self.checkout, self.tree, self._asked_for)

    def findings(self, key: str, compute: Callable[[], list[dict[str, Any]]]) -> list[Finding]:
        """Return what the rules say about one thing; whatever goes wrong on the way costs that thing only."""
        try:
            return self.cache.get(key, compute, lambda data: [Finding.from_json(f) for f in data])
        except Exception as error:
            path = self.tree.relative(self.checkout.registry)
            return completed([_internal_error("a rule", key.partition(":")[0], path, error)])

    # -- things ---------------------------------------------------------------------------------------------------

    def _units(self, plan: Plan) -> list[Unit]:
        """The units of a plan; one class under several names is one thing."""
        classes: dict[Place, tuple[list[str], list[str]]] = {}
        units: dict[str, Callable[[], list[dict[str, Any]]]] = {"registry": self._about_registry}
        self._shared, self.classes = {}, {}
        for entry in plan.architectures:
            resolution = self._resolution(entry.module, entry.cls)
            for place in resolution.classes:
                names, tags = classes.setdefault(place, ([], []))
                names.append(entry.key)
                tags += entry.tags
            units[f"entry:{entry.form}:{entry.path}:{entry.span}:{entry.key}:{entry.module}:{entry.cls}"] = (
                lambda e=entry: self._about_architecture(e)
            )
        for entry in plan.configs:
            units[f"config:{entry.path}:{entry.span}:{entry.key}:{entry.module}:{entry.cls}"] = lambda e=entry: (
                self._about_config(e)
            )
        for place, (names, tags) in classes.items():
            archs, marks = self.classes[place] = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(tags))
            for kind in ("class", "later") if self._later else ("class",):
                key = f"{kind}:{place}:{archs}:{marks}"
                units[key] = lambda k=kind, p=place, a=archs, m=marks: self._about_class(k, p, a, m)
                self._shared[key] = place[2]
        units |= self._file_units(classes)
        for path in self._recipe_paths:
            units[f"recipe:{path}:"] = lambda p=path: self._about_recipe(p)
            self._shared[f"recipe:{path}:"] = path
        return list(units.items())

    def as_if_registered(self, place: tuple[str, str, str, int], name: str) -> list[Unit]:
        """Return the units about a class that no entry leads to yet, as they will be with one under ``name``."""
        names, path, registered = (name,), self.tree.absolute(place[2]), {place[1]: (name,)}
        folder = self.checkout.model_package(path)
        package: Unit = (f"package:{folder}:{names}", lambda: self._about_package(folder or "", names))
        return [
            (f"class:{place}:{names}:()", lambda: self._about_class("class", place, names, ())),
            (f"module:{path}:{registered}", lambda: self._about_module(path, registered)),
            *([package] if folder is not None else []),
        ]

    def _resolution(self, module: str, cls: str) -> Resolution:
        key = f"resolve:{module}:{cls}"
        try:
            return self.cache.get(key, lambda: self.project.resolve(module, cls).to_json(), Resolution.from_json)
        except RecursionError:  # code nested deeper than Python lets us follow
            return Resolution("unparsable")

    def _file_units(self, classes: dict) -> dict[str, Callable[[], list[dict[str, Any]]]]:
        modules: dict[str, dict[str, tuple[str, ...]]] = {}
        packages: dict[str, list[str]] = {}
        for (_, qualname, path, _), (names, _) in classes.items():
            absolute = self.tree.absolute(path)
            modules.setdefault(absolute, {})[qualname] = tuple(dict.fromkeys(names))
            folder = self.checkout.model_package(absolute)
            if folder is not None:
                packages.setdefault(folder, []).extend(names)
        old = self._plan is not None and not self._plan.static
        for path in self.checkout.model_files(self.tree):
            if path not in modules and (self.tree.holds(path, b"ModelClass") or (old and path.endswith("model.py"))):
                modules[path] = {}
        units: dict[str, Callable[[], list[dict[str, Any]]]] = {}
        for path, registered in modules.items():
            units[f"module:{path}:{registered}"] = lambda p=path, r=registered: self._about_module(p, r)
        for path in self.checkout.model_files(self.tree):
            if self._may_be_loose(path, modules):
                units[f"adapters:{path}"] = lambda p=path: self._about_adapters(p)
        for folder, names in packages.items():
            archs = tuple(dict.fromkeys(names))
            units[f"package:{folder}:{archs}"] = lambda f=folder, a=archs: self._about_package(f, a)
        return units

    def _may_be_loose(self, path: str, modules: dict[str, dict[str, tuple[str, ...]]]) -> bool:
        """Tell whether a file has an adapter class that no registered class mentions, or that another class does."""
        if not (self.tree.holds(path, b"def from_hf(") or self.tree.holds(path, b"def to_hf(")):
            return False
        folder = os.path.dirname(path)
        users = sorted((m for m in modules if m != path), key=lambda m: os.path.dirname(m) != folder)
        for name in _CLASS.findall(self.tree.read(path) or b""):
            user = next((u for u in users if self.tree.holds(u, name)), None)
            if user is None or self._others(user, name) - modules[user].keys():
                return True
        return False

    def _others(self, path: str, name: bytes) -> set[str]:
        """The classes at the top of a file that mention a name."""
        _, *parts = _CLASS.split(self.tree.read(path) or b"")
        return {cls.decode() for cls, body in zip(parts[::2], parts[1::2], strict=True) if name in body}

    # Each of these imports what it needs: a warm run asks no rule and should not pay for them.

    def _about_registry(self) -> list[dict[str, Any]]:
        from automodel_lint.domain.things import Registry

        return self._asked(lambda: Registry(self.project), self.tree.relative(self.checkout.registry), "the registry")

    def _about_architecture(self, entry: Any) -> list[dict[str, Any]]:
        from automodel_lint.domain.things import ArchitectureEntry

        return self._asked(lambda: ArchitectureEntry(self.project, entry), entry.path, entry.key)

    def _about_config(self, entry: Any) -> list[dict[str, Any]]:
        from automodel_lint.domain.things import ConfigEntry

        return self._asked(lambda: ConfigEntry(self.project, entry), entry.path, entry.key)

    def _about_class(
        self, kind: str, place: tuple, names: tuple[str, ...], tags: tuple[str, ...]
    ) -> list[dict[str, Any]]:
        from automodel_lint.domain.model_class import ModelClass

        module, qualname, path, line = place
        entity = self.project.class_at(module, qualname, line)
        if entity is None:  # the file changed under our hands
            return []
        known = self._made.pop(place, None)

        def make() -> ModelClass:
            if known is None:
                return ModelClass(self.project, entity, names, tags)
            self.tree.note(*known[1])  # what it has been asked already, it does not read again
            return known[0]

        is_later = kind == "later"
        found, thing, read = self._heard(make, path, qualname, lambda code: (code in self._later) == is_later)
        if self._later and not is_later:
            self._made[place] = (thing, read)
        return found

    def _about_module(self, path: str, registered: dict[str, tuple[str, ...]]) -> list[dict[str, Any]]:
        from automodel_lint.domain.things import ModelModule

        relative = self.tree.relative(path)
        return self._asked(lambda: ModelModule(self.project, path, registered), relative, relative)

    def _about_adapters(self, path: str) -> list[dict[str, Any]]:
        from automodel_lint.domain.loose_adapter import LooseAdapter, adapter_classes

        relative, project = self.tree.relative(path), self.project
        made = [(c.qualname, lambda c=c: LooseAdapter(project, c)) for c in adapter_classes(project, path)]
        return [finding for name, make in made for finding in self._asked(make, relative, name)]

    def _about_package(self, folder: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
        from automodel_lint.domain.things import ModelPackage

        relative = self.tree.relative(folder)
        return self._asked(lambda: ModelPackage(self.project, folder, names), f"{relative}/__init__.py", relative)

    def _about_recipe(self, path: str) -> list[dict[str, Any]]:
        from automodel_lint.domain.recipe import Recipe

        relative = self.tree.relative(path)
        return self._asked(lambda: Recipe(self.project, path), relative, relative)

    # -- rules ----------------------------------------------------------------------------------------------------

    def _asked(self, make: Callable[[], Any], path: str, name: str) -> list[dict[str, Any]]:
        """Ask every rule about a thing. A rule that fails becomes a finding; the others are asked all the same."""
        return self._heard(make, path, name, lambda code: True)[0]

    def _heard(
        self, make: Callable[[], Any], path: str, name: str, is_asked: Callable[[str], bool]
    ) -> tuple[list[dict[str, Any]], Any, set[Dep]]:
        """Ask some rules about a thing; returns what they say, the thing, and what was read."""
        from automodel_lint.rules import checks

        found: list[Finding] = []
        with self.tree.recording() as read:
            thing = make()
            for code, check in checks().get(type(thing), ()):
                if not is_asked(code):
                    continue
                try:
                    found += [replace(finding, code=code) for finding in check(thing)]
                except Exception as error:
                    found.append(_internal_error(code, name, path, error))
        with self.tree.silently():
            found += self._unparsable(read)
        return [finding.to_json() for finding in completed(found)], thing, read

    def _unparsable(self, read: Iterable[tuple[str, ...]]) -> list[Finding]:
        """Return NAM002 for every file of the checkout that was needed and has no syntax tree."""
        found = []
        prefix = self.checkout.source_root
        for kind, path, *_ in read:
            if kind in ("file", "outline") and path.startswith(prefix) and path.endswith(".py"):
                problem = self.tree.syntax(path)
                if isinstance(problem, ParseProblem):
                    place = Span(problem.line, problem.column, problem.line, problem.column + 1)
                    fields = (("reason", problem.reason),)
                    found.append(Finding(self.tree.relative(path), place, fields=fields, code="NAM002"))
        return sorted(found, key=lambda f: f.sort_key)


def static_codes() -> frozenset[str]:
    """Return the codes of the rules that read source; the others are the probe's."""
    from automodel_lint.pages import pages

    return frozenset(code for code, page in pages().items() if not page.is_probed)


def _weight(piece: dict[str, Any]) -> tuple[bool, int]:
    """What takes long comes first: classes, and of these the folders with many."""
    return next(iter(piece)).startswith("class:"), len(piece)


def completed(findings: Iterable[Finding]) -> list[Finding]:
    """Fill in what the rule's page says: the message, and the severity where the rule gave none."""
    from automodel_lint.pages import pages

    result = []
    for finding in findings:
        page = pages()[finding.code]
        severity = page.severity if finding.severity is None else finding.severity
        message = page.message.format(**dict(finding.fields))
        result.append(replace(finding, message=message, severity=severity, fields=()))
    return result


def _internal_error(code: str, thing: str, path: str, error: Exception) -> Finding:
    """NAM000: which rule failed on what, and where in the linter."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    fields = {
        "rule": code,
        "thing": thing,
        "error": f"{type(error).__name__}: {error}",
        "where": f"{frame.filename.replace(chr(92), '/').rpartition('automodel_lint/')[2]}:{frame.lineno}",
    }
    return Finding(path, Span(), symbol=thing, fields=tuple(fields.items()), code="NAM000")
