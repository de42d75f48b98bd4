"""How well an adapter's key map, read from source alone, agrees with what the adapter really does.

    python benchmarks/adapter_keys.py [--python EXE] [--truth JSON] [--arch A ...] [--json OUT]

The truth half runs in EXE, an interpreter that has torch, transformers and nemo-automodel: it constructs every
registered class on a tiny configuration and its variants, hands the state dict to ``to_hf`` and the result to
``from_hf``, and follows every tensor, see ``truth/adapter_keys.py``. Its result may be kept and given again as
``--truth``. The other half runs in this interpreter and reads the sources of the same installed package. Exit code 1 if
any name is wrong.

The rules, for each direction. A pattern that goes in stands for all real names that it matches, in all variants of the
class, and what really comes out is all that comes out of these.

- *right*: decided, and every real name that comes out matches a name of the map, and every name of the map one of them.
- *wrong*: decided, and not so; or conditional, and what really comes out of some name is none of the sides, be it one
  that a condition excludes.
- *conditional*: the source leaves it to the config, with a side for each outcome, and the real one is among them.
- *open*: it could not be followed.
- *unseen*: no real name matches the pattern: the tiny configurations do not take every side of every condition. These
  are not counted.
- *missed*: a real name that no pattern matches; that is the module tree's fault, and shown for completeness.

Names that are made of no tensor are wrong if the map does not have them, or has one that really is made of some.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from automodel_lint.commands.tree import find
from automodel_lint.domain.adapter import Adapter
from automodel_lint.domain.project import Project
from automodel_lint.inference.key_map import Key, KeyMap
from automodel_lint.inference.module_tree import matches

if __package__:
    from .module_tree import DEFAULT_PYTHON, by_class, project_of, real_names
else:
    from module_tree import DEFAULT_PYTHON, by_class, project_of, real_names

DIRECTIONS = ("to_hf", "from_hf")
VERDICTS = ("right", "wrong", "conditional", "open", "unseen")
Pairs = dict[str, list[str]]


@dataclass
class Counted:
    """One direction of one adapter: how many patterns there are of each verdict, and what is wrong or open."""

    counts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    missed: int = 0
    seconds: float = 0.0


@dataclass
class Row:
    """One class with its adapter."""

    cls: str
    module: str
    adapter: str
    architectures: list[str]
    variants: list[str]
    to_hf: Counted = field(default_factory=Counted)
    from_hf: Counted = field(default_factory=Counted)
    failed: str | None = None

    @property
    def wrong(self) -> list[str]:
        return [*self.to_hf.wrong, *self.from_hf.wrong, *([self.failed] if self.failed else [])]


# -- the comparison -------------------------------------------------------------------------------------------------


def agrees(names: Iterable[str], real: Iterable[str]) -> bool:
    """Tell whether patterns and real names match each other, none left over on either side."""
    names, real = list(names), set(real)
    return all(any(matches(n, r) for n in names) for r in real) and all(any(matches(n, r) for r in real) for n in names)


def verdict(key: Key, variants: list[Pairs]) -> tuple[str, set[str]]:
    """Judge a name against what came out of it in every variant; return what really came out as well."""
    seen = [{name: out for name, out in pairs.items() if name and matches(key.name, name)} for pairs in variants]
    real = {out for pairs in seen for names in pairs.values() for out in names}
    if not any(seen):
        return "unseen", real
    if not key.followed:
        return "open", real
    if key.decided:
        return ("right" if agrees(key.images[0].names, real) else "wrong"), real
    each = [names for pairs in seen for names in pairs.values()]
    among = all(any(agrees(image.names, names) for image in key.images) for names in each)
    whole = all(any(agrees(i.names, [n for out in pairs.values() for n in out]) for i in key.images) for pairs in seen)
    return ("conditional" if among or whole else "wrong"), real


def counted(found: KeyMap, variants: list[Pairs]) -> Counted:
    """Compare a map with what every variant really does."""
    made, counts = Counted(), Counter(dict.fromkeys(VERDICTS, 0))
    for name, key in found.keys.items():
        told, real = verdict(key, variants)
        counts[told] += 1
        if told == "wrong":
            sides = " or ".join(str(list(image.names)) for image in key.images)
            made.wrong.append(f"{name}: {sides}, really {sorted(real)[:4]}")
        elif told == "open":
            made.open.append(f"{name}: {key.reason}")
    made.counts = dict(counts)
    made.missed = len({n for p in variants for n in p if n and not any(matches(k, n) for k in found.keys)})
    invented = {name for pairs in variants for name in pairs.get("", ())}
    derived = {name for pairs in variants for origin, out in pairs.items() if origin for name in out}
    too_few = [name for name in sorted(invented) if not any(matches(i, name) for i in found.invented)]
    too_many = [i for i in found.invented if any(matches(i, name) for name in derived - invented)]
    if too_few or too_many:
        made.wrong.append(f"invented: really as well {too_few[:4]}, really not {too_many[:4]}")
    return made


def row(project: Project, records: list[dict[str, Any]]) -> Row | None:
    """Compare the adapter of a class with all that its variants do; ``None`` if no variant has one."""
    records = [r for r in records if r["status"] == "constructed" and r.get("adapter")]
    if not records:
        return None
    first = records[0]
    adapter = first["adapter"]["class"]
    made = Row(first["class"], first["module"], adapter, first["architectures"], [r["variant"] for r in records])
    failed = [r["adapter"]["reason"] for r in records if r["adapter"]["reason"]]
    _, model = find(project, first["architectures"][0])
    chosen = [a for a in model.adapters if a.name == adapter]
    if failed or not chosen:
        made.failed = failed[0] if failed else f"the source does not say that {adapter} serves it"
        return made
    for direction in DIRECTIONS:
        setattr(made, direction, _direction(chosen[0], direction, [r["adapter"][direction] for r in records]))
    return made


def _direction(adapter: Adapter, direction: str, variants: list[Pairs]) -> Counted:
    started = time.process_time()
    try:
        found = getattr(adapter, direction)
    except Exception as error:  # one class must not hide the others
        return Counted(wrong=[f"{direction}: {type(error).__name__}: {error}"])
    seconds = time.process_time() - started
    made = counted(found, variants)
    made.seconds = seconds
    return made


# -- the output -----------------------------------------------------------------------------------------------------

_EACH = f"{'right':>7}{'wrong':>7}{'cond.':>7}{'open':>6}{'unseen':>8}{'ms':>6}"
COLUMNS = f"{'class':50}{'to_hf':>8}{_EACH[8:]}{'from_hf':>10}{_EACH[8:]}"


def lines(made: Row) -> list[str]:
    """Return a row of the table, below it what is wrong or open."""
    each = "".join(_cells(getattr(made, direction)) for direction in DIRECTIONS)
    found = [f"{made.cls:48}{each}"]
    for direction in DIRECTIONS:
        told: Counted = getattr(made, direction)
        found += [f"    wrong   {direction} {text}" for text in told.wrong]
        found += [f"    open    {direction} {text}" for text in told.open]
        if told.missed:
            found.append(f"    missed  {direction}: {told.missed} real names are in no pattern")
    return [*found, *([f"    failed  {made.failed}"] if made.failed else [])]


def _cells(told: Counted) -> str:
    right, wrong, conditional, is_open, unseen = (told.counts.get(v, 0) for v in VERDICTS)
    return f"{right:9}{wrong:7}{conditional:7}{is_open:6}{unseen:8}{told.seconds * 1000:6.0f}"


def summary(rows: list[Row]) -> list[str]:
    """Return a line for each direction: how many names are right, wrong, left to the config, not decided."""
    found = []
    for direction in DIRECTIONS:
        each: list[Counted] = [getattr(made, direction) for made in rows]
        total = Counter({v: sum(told.counts.get(v, 0) for told in each) for v in VERDICTS})
        seen = sum(total[v] for v in VERDICTS) - total["unseen"]
        share = 100 * (total["right"] + total["wrong"]) / seen if seen else 0
        wrong = sum(len(told.wrong) for told in each)
        found.append(
            f"{direction}: {len(rows)} classes, {seen} names: {total['right']} right, {wrong} wrong, "
            f"{total['conditional']} left to the config, {total['open']} not followed; {share:.1f} % decided; "
            f"{sum(told.seconds for told in each):.1f} s"
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Compare and print; exit code 1 if a name is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=DEFAULT_PYTHON, metavar="EXE", help=f"default: {DEFAULT_PYTHON}")
    parser.add_argument("--truth", type=Path, metavar="JSON", help="what truth/adapter_keys.py wrote earlier")
    parser.add_argument("--arch", nargs="+", action="extend", default=[], metavar="A", help="only these architectures")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there")
    options = parser.parse_args(arguments)
    if options.truth:
        truth = json.loads(options.truth.read_text(encoding="utf-8"))
    else:
        truth = real_names(options.python, options.arch, "truth.adapter_keys")
    project = project_of(options.python)
    rows = []
    print(COLUMNS)
    for records in by_class(truth, options.arch):
        made = row(project, records)
        if made is not None:
            rows.append(made)
            print("\n".join(lines(made)), flush=True)
    print("\n".join(summary(rows)))
    if options.json:
        options.json.write_text(json.dumps([asdict(made) for made in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if rows and not any(made.wrong for made in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
