"""Metamorphic tests: source rewritten without a change of meaning gives the same findings, line and column apart."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from automodel_lint.findings import Finding

from . import real_models, real_package
from .clean_example import MODELS, lay, lay_library, lint, whole
from .mutations import REGISTRY
from .rewrites import Files, Rewrite, in_turn, layout, names, structure, tables

SINGLE: list[Rewrite] = [*layout.REWRITES, *names.REWRITES, *structure.REWRITES, *tables.REWRITES]
REWRITES = [
    *SINGLE,
    in_turn(SINGLE, "import-aliases", "lists-summed", "availability-branch", "comments-and-blank-lines"),
    in_turn(SINGLE, "imports-through-modules", "methods-reversed", "policy-from-a-base", "moved-class", "unparsed"),
]
# A rewrite that finds little to rewrite would prove little. The rest has to change this many files of the example.
FEWEST = 12
FEW = {"dicts-merged": 10}
ONE_FILE = ("registry-", "module-paths-")

each_rewrite = pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.name)


def _seen(findings: list[Finding], rewrite: Rewrite | None = None) -> Counter[tuple]:
    """What of findings a rewrite must not change."""
    symbols, paths = (
        rewrite is None or kept for kept in (rewrite and rewrite.keeps_symbols, rewrite and rewrite.keeps_paths)
    )
    return Counter((f.code, f.symbol if symbols else "", f.architectures, f.path if paths else "") for f in findings)


def _difference(before: Counter[tuple], after: Counter[tuple]) -> str:
    gone = [f"gone  {' '.join(map(str, f))}" for f in sorted((before - after).elements(), key=str)]
    return "\n".join([*gone, *(f"new   {' '.join(map(str, f))}" for f in sorted((after - before).elements(), key=str))])


def _example_paths() -> list[str]:
    return [p for p in whole() if p.startswith(MODELS) and p.endswith(".py")] + [REGISTRY]


def _changed(before: Files, after: Files) -> list[str]:
    return [path for path, text in after.items() if before.get(path) != text]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def example_findings(library: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    return lint(lay(tmp_path_factory.mktemp("example"), whole()), library).findings


@pytest.fixture(scope="module")
def real_files() -> Files:
    return real_models.real_models()


@pytest.fixture(scope="module")
def real_findings(real_files: Files, tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    return lint(lay(tmp_path_factory.mktemp("real"), real_files)).findings


@each_rewrite
def test_example_keeps_its_findings(
    rewrite: Rewrite, example_findings: list[Finding], library: Path, tmp_path: Path
) -> None:
    after = rewrite.apply(whole(), _example_paths())
    changed = _changed(whole(), after)
    assert len(changed) >= (1 if rewrite.name.startswith(ONE_FILE) else FEW.get(rewrite.name, FEWEST)), changed
    for path in changed:
        compile(after[path], path, "exec")
    found = lint(lay(tmp_path, after), library).findings
    problem = _difference(_seen(example_findings, rewrite), _seen(found, rewrite))
    assert not problem, f"{rewrite.name}\n{problem}"


@each_rewrite
def test_real_models_keep_their_findings(
    rewrite: Rewrite, real_files: Files, real_findings: list[Finding], tmp_path: Path
) -> None:
    after = rewrite.apply(real_files, real_models.chosen_paths())
    changed = _changed(real_files, after)
    assert len(changed) >= (1 if rewrite.name.startswith(ONE_FILE) else 5), changed
    found = lint(lay(tmp_path, after)).findings
    problem = _difference(_seen(real_findings, rewrite), _seen(found, rewrite))
    assert not problem, f"{rewrite.name}\n{problem}"


def test_rewrites_of_looks_leave_the_syntax_tree_alone() -> None:
    """These may not change anything that the interpreter sees."""
    for name in ("unparsed", "comments-and-blank-lines", "values-in-parentheses", "split-texts"):
        rewrite = next(r for r in REWRITES if r.name == name)
        for path, text in rewrite.apply(whole(), _example_paths()).items():
            if path.endswith(".py"):
                assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(whole()[path])), f"{name}: {path}"


def test_the_cut_out_has_the_findings_of_the_whole_package(real_files: Files, real_findings: list[Finding]) -> None:
    """What was left out plays no part: the chosen packages are judged as in the package itself."""
    full = lint(real_package.unpacked(real_models.VERSION)).findings
    folders = tuple(f"{real_models.MODELS}{name}/" for name in real_models.CHOSEN)
    chosen = [f for f in real_findings if f.path.startswith(folders)]
    assert _seen([f for f in full if f.path.startswith(folders)]) == _seen(chosen)
    assert len(chosen) >= 10


def test_there_are_enough_rewrites() -> None:
    assert len(REWRITES) >= 12
    assert len({rewrite.name for rewrite in REWRITES}) == len(REWRITES)
