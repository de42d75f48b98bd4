"""How well the module tree, read from source alone, agrees with the models that really come out of construction.

    python benchmarks/module_tree.py [--python EXE] [--truth JSON] [--arch A ...] [--json OUT]

The truth half runs in EXE, an interpreter that has torch, transformers and nemo-automodel (``make bench-tree`` makes
one): it constructs every registered class on a tiny configuration, and once more for each variant that changes a name,
see ``truth/construct.py``. Its result may be kept and given again as ``--truth``. The tree half runs in this
interpreter and reads the sources of the same installed package. Exit code 1 if any class differs.

The rules. All variants of a class count together, and its names are those of its parameters and buffers:

- *missed*: a name of a real model that no pattern of the tree matches. A missed name below an opaque node is missed
  all the same: the tree says there that it does not know.
- *flags*: a real name that patterns match, but none of them with the same kind (parameter or buffer) and, for a buffer,
  the same persistence.
- *phantom*: a pattern that the tree has unconditionally and that matches no name of any variant. A conditional pattern
  is none: the tiny configurations do not take every side of every condition.
- *without a difference*: nothing missed, no flag, no phantom, nothing failed. An opaque node is no difference; it is
  shown in the last column, and the tree is *complete* if there is none.
- *failed*: a variant that could not be constructed, or a class on which the linter itself failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from automodel_lint.commands.tree import find
from automodel_lint.domain.project import Project
from automodel_lint.inference.module_tree import ModuleTree
from automodel_lint.probe.static_tree import difference
from automodel_lint.session import Request, Session

HERE = Path(__file__).resolve().parent
PACKAGE = "nemo_automodel"
DEFAULT_PYTHON = HERE.parent / ".venv-truth" / "bin" / "python"


@dataclass
class Row:
    """One class: the tree against all its variants."""

    cls: str
    module: str
    architectures: list[str]
    variants: list[str]
    names: int = 0
    patterns: int = 0
    missed: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return not self.opaque

    @property
    def agrees(self) -> bool:
        return not (self.missed or self.flags or self.phantom or self.failed)


# -- the truth ------------------------------------------------------------------------------------------------------


def real_names(python: str | Path, architectures: Iterable[str] = (), half: str = "truth.construct") -> dict[str, Any]:
    """Run the truth half in ``python`` and return what it wrote."""
    only = ["--arch", *architectures] if architectures else []
    python = os.path.abspath(shutil.which(python) or python)  # the child runs in another folder
    if not os.path.isfile(python):
        raise SystemExit(f"{python}: no interpreter there; `make bench-tree` makes one")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "truth.json")
        command = [python, "-m", half, str(out), *only]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if not out.is_file():
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-800:]}")
        return json.loads(out.read_text(encoding="utf-8"))


def by_class(truth: dict[str, Any], architectures: Iterable[str] = ()) -> list[list[dict[str, Any]]]:
    """Group the records by class; ``architectures`` restricts to the classes with one of these names."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in truth["classes"]:
        if not architectures or set(architectures) & set(record["architectures"]):
            found.setdefault((record["module"], record["class"]), []).append(record)
    return list(found.values())


# -- the comparison -------------------------------------------------------------------------------------------------


def project_of(python: str | Path) -> Project:
    """Return the installed package of an interpreter as the linter sees it."""
    return Session(Request(paths=["."], installed=PACKAGE, python=str(python), cache=False)).project()


def row(project: Project, records: list[dict[str, Any]]) -> Row:
    """Build the tree of a class and compare it with the records of its variants."""
    first = records[0]
    _, model = find(project, first["architectures"][0])
    assert (model.entity.module.name, model.name) == (first["module"], first["class"]), model.entity.fqn
    made = Row(model.name, first["module"], first["architectures"], [r["variant"] for r in records])
    made.failed = {r["variant"]: r["reason"] for r in records if r["status"] != "constructed"}
    try:
        compare(made, model.module_tree, [r for r in records if r["status"] == "constructed"])
    except Exception as error:  # one class must not hide the others
        made.failed["tree"] = f"{type(error).__name__}: {error}"
    return made


def compare(made: Row, tree: ModuleTree, records: list[dict[str, Any]]) -> None:
    """Fill in how a tree differs from the real models, by the rules at the top of this file."""
    found = difference(tree, records)
    made.names = len({name for record in records for name in (*record["parameters"], *record["buffers"])})
    made.patterns = len(tree.by_fqn)
    made.missed, made.flags, made.phantom = found.missed, found.flags, found.phantom
    made.opaque = {node.fqn: node.opaque or "" for node in tree.opaque}


# -- the output -----------------------------------------------------------------------------------------------------

COLUMNS = f"{'':4}{'class':52}{'names':>7}{'patterns':>10}{'missed':>8}{'flags':>7}{'phantom':>9}  tree"


def lines(made: Row) -> list[str]:
    """Return a row of the table, below it what differs (layers under one name) and what is opaque."""
    tree = "complete" if made.complete else f"{len(made.opaque)} opaque"
    counts = f"{made.names:7}{made.patterns:10}{len(made.missed):8}{len(made.flags):7}{len(made.phantom):9}"
    found = [f"{'' if made.agrees else '!':4}{made.cls:52}{counts}  {tree}"]
    shown = {"missed": made.missed, "flag": made.flags, "phantom": made.phantom}
    shown |= {"failed": [f"{variant}: {why}" for variant, why in made.failed.items()]}
    for label, texts in shown.items():
        folded = Counter(re.sub(r"\.\d+(?=\.)", ".*", text) for text in texts)
        found += [f"        {label:8} {text}" + (f"  ({n}x)" if n > 1 else "") for text, n in folded.items()]
    return found + [f"        opaque   {fqn or 'the class itself'}: {why}" for fqn, why in made.opaque.items()]


def summary(rows: list[Row]) -> str:
    """The last line."""
    without, complete = sum(r.agrees for r in rows), sum(r.complete for r in rows)
    return f"{len(rows)} classes, {without} without a difference, {complete} complete"


def main(arguments: list[str] | None = None) -> int:
    """Compare and print; exit code 1 if a class differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=DEFAULT_PYTHON, metavar="EXE", help=f"default: {DEFAULT_PYTHON}")
    parser.add_argument("--truth", type=Path, metavar="JSON", help="what truth/construct.py wrote earlier")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="A", help="only these architectures")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there")
    options = parser.parse_args(arguments)
    if options.truth:
        truth = json.loads(options.truth.read_text(encoding="utf-8"))
    else:
        truth = real_names(options.python, options.arch)
    unknown = set(options.arch) - {name for record in truth["classes"] for name in record["architectures"]}
    if unknown:
        parser.error(f"not registered: {', '.join(sorted(unknown))}")
    project = project_of(options.python)
    rows = []
    print(COLUMNS)
    for records in by_class(truth, options.arch):
        rows.append(row(project, records))
        print("\n".join(lines(rows[-1])), flush=True)
    print(summary(rows))
    if options.json:
        found = [asdict(made) | {"complete": made.complete, "agrees": made.agrees} for made in rows]
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0 if rows and all(made.agrees for made in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
