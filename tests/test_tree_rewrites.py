"""A constructor written in other words builds the same module tree, as it builds the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automodel_lint.inference.module_tree import ModuleTree

from . import tree_cases, tree_compare
from .rewrites import Files, Rewrite, construction, in_turn, layout, names, structure
from .tree_cases import MODELS, OF_LIBRARIES, cases, marked

# Those of the other rewrites that change what construction runs through.
OTHERS = (
    "import-aliases",
    "imports-through-modules",
    "second-names",
    "named-bases",
    "dunder-class-and-long-super",
    "methods-reversed",
    "module-under-if-true",
    "bodies-under-if-true",
    "bodies-in-a-with",
    "unparsed",
    "split-texts",
    "annotated-locals",
    "quoted-annotations",
)
KNOWN: list[Rewrite] = [*layout.REWRITES, *names.REWRITES, *structure.REWRITES, *construction.REWRITES]
OF_CONSTRUCTORS = [
    *construction.REWRITES,
    in_turn(KNOWN, "sides-swapped", "tests-named", "rest-in-a-helper", "locals-renamed", "import-aliases"),
    in_turn(KNOWN, "comprehensions-as-loops", "through-locals", "set-by-name", "classes-through-partial"),
    in_turn(KNOWN, "conditional-expressions-as-statements", "classes-through-a-function", "arguments-spread"),
]
REWRITES = [*(r for r in KNOWN if r.name in OTHERS), *OF_CONSTRUCTORS]
FEWEST = 8  # files that a rewrite must change to prove something
FEW = {"conditions-in-a-ladder": 2, "comparisons-turned": 5, "methods-reversed": 5, "dunder-class-and-long-super": 4}


def _files() -> Files:
    paths = [path for path in sorted(MODELS.glob("*.py")) if path.stem not in OF_LIBRARIES]
    return {f"{MODELS.name}/{path.name}": path.read_text(encoding="utf-8") for path in paths}


def _seen(tree: ModuleTree) -> set[tuple[Any, ...]]:
    """What of a tree must not change: everything but the wording of conditions and shapes."""
    tensors = {
        (t.fqn, t.kind, t.persistent, t.trainable, t.dtype and t.dtype.name, tree.is_conditional(t.fqn))
        for t in tree.tensors
    }
    return tensors | {(n.fqn, n.type_name, n.opaque is None) for n in tree.nodes()}


def _trees(folder: Path) -> dict[tuple[str, str], set[tuple[Any, ...]]]:
    project = tree_compare.project_of(folder, [])
    compared = (case for case in cases() if case[0] not in OF_LIBRARIES)
    return {case: _seen(tree_compare.tree_of(project, *case)) for case in compared}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The models after each rewrite."""
    found = {}
    for rewrite in REWRITES:
        root = tmp_path_factory.mktemp("rewritten")
        after = rewrite.apply(_files(), list(_files()))
        for path, text in after.items():
            target = root / path
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
        found[rewrite.name] = root / MODELS.name
    return found


@pytest.fixture(scope="module")
def constructed(folders: dict[str, Path], torch_python: str) -> dict[str, Any]:
    """What is really constructed, by rewrite of constructors; under the empty name that of the models as they are."""
    names = [rewrite.name for rewrite in OF_CONSTRUCTORS]
    truth = tree_cases.constructed(torch_python, MODELS, *(folders[name] for name in names))
    return dict(zip(("", *names), truth["packages"], strict=True))


@pytest.fixture(scope="module")
def originals() -> dict[tuple[str, str], set[tuple[Any, ...]]]:
    return _trees(MODELS)


@pytest.mark.parametrize("name", [rewrite.name for rewrite in OF_CONSTRUCTORS])
def test_rewrite_keeps_what_is_constructed(name: str, constructed: dict[str, Any]) -> None:
    for module, found in constructed[name].items():
        classes = constructed[""].get(module, {})
        assert isinstance(found, dict), f"{module}: {found}"
        for cls, records in classes.items():
            assert found[cls] == records, f"{module}.{cls}"


@pytest.mark.parametrize("name", marked(rewrite.name for rewrite in REWRITES))
def test_rewrite_keeps_the_tree(
    name: str, folders: dict[str, Path], originals: dict[tuple[str, str], set[tuple[Any, ...]]]
) -> None:
    texts = _files()
    changed = [p.name for p in folders[name].glob("*.py") if p.read_text() != texts.get(f"{MODELS.name}/{p.name}")]
    assert len(changed) >= FEW.get(name, FEWEST), changed
    found = _trees(folders[name])
    lines = []
    for case, before in originals.items():
        lines += [f"{'.'.join(case)} gone {' '.join(map(str, line))}" for line in sorted(before - found[case], key=str)]
        lines += [f"{'.'.join(case)} new  {' '.join(map(str, line))}" for line in sorted(found[case] - before, key=str)]
    assert not lines, "\n" + "\n".join(lines[:40])
