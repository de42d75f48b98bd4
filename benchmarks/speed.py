"""How fast the linter is, as ratios to parsing the same files in the same run.

    python benchmarks/speed.py [--runs N] [--json FILE]

Lints the published nemo-automodel 0.7.0 (downloaded by pip, as in the tests). Every figure is the median of whole
processes; ``ast.parse`` of ``components/models`` is timed in between, so that a drifting machine does not tilt the
ratios. flake8, ruff and transformers-mlinter are timed on the same folder where they are installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import real_package

PARSE = """
import ast, pathlib, sys, time
texts = [path.read_bytes() for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py"))]
started = time.perf_counter()
for text in texts:
    ast.parse(text)
print(time.perf_counter() - started)
"""


def timed(command: list[str], cwd: Path) -> float:
    """Run a command, return its wall time in seconds."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    elapsed = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
    return elapsed


def peak_memory(command: list[str], cwd: Path) -> float:
    """Run a command in a child of a child, return its peak memory in MB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=cwd, capture_output=True, text=True, check=True)
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return int(done.stdout) / unit


class Bench:
    """Times commands against the parse of the same run."""

    def __init__(self, root: Path, runs: int):
        self.root, self.runs = root, runs
        self.models = root / "nemo_automodel" / "components" / "models"
        self.parses: list[float] = []

    def parse(self) -> float:
        """Seconds that ``ast.parse`` needs for ``components/models``."""
        done = subprocess.run(
            [sys.executable, "-c", PARSE, str(self.models)], capture_output=True, text=True, check=True
        )
        self.parses.append(float(done.stdout))
        return self.parses[-1]

    def against_parse(self, command: list[str], before=lambda: None) -> tuple[float, float]:
        """Return the median time of a command and the median of its ratio to a parse right beside it."""
        times, ratios = [], []
        for _ in range(self.runs):
            before()
            parse = self.parse()
            times.append(timed(command, self.root))
            ratios.append(times[-1] / parse)
        return statistics.median(times), statistics.median(ratios)

    def against(self, command: list[str], other: list[str]) -> tuple[float, float]:
        """Return the median time of a command and the median of its ratio to another one right beside it."""
        times, ratios = [], []
        for _ in range(self.runs * 3):
            base = timed(other, self.root)
            times.append(timed(command, self.root))
            ratios.append(times[-1] / base)
        return statistics.median(times), statistics.median(ratios)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = real_package.copied("0.7.0", Path(folder))
        rows = measured(Bench(root, options.runs))
    for name, seconds, ratio, what in rows:
        print(f"{name:34} {seconds:8.3f} s   {ratio:6.2f} x {what}")
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("name", "seconds", "ratio", "to"), r, strict=True)) for r in rows])
        )


def measured(bench: Bench) -> list[tuple[str, float, float, str]]:
    """Return a row a figure: what, seconds, ratio, ratio to what."""
    lint = os.path.join(os.path.dirname(sys.executable), "automodel-lint")
    check = [lint, "check", "--output-format", "concise"]
    one = "nemo_automodel/components/models/llama/model.py"
    edited = bench.root / one
    cache = bench.root / ".automodel_lint_cache"
    parse = "ast.parse of components/models"
    rows: list[tuple[str, float, float, str]] = []
    rows.append(
        ("start-up (--version)", *bench.against([lint, "--version"], [sys.executable, "-c", "pass"]), "python -c pass")
    )
    rows.append(("whole package, cold", *bench.against_parse([*check, "--no-cache"]), parse))
    rows.append(
        (
            "  and filling the cache",
            *bench.against_parse(check, lambda: shutil.rmtree(cache, ignore_errors=True)),
            parse,
        )
    )
    rows.append(("whole package, warm", *bench.against_parse(check), parse))
    rows.append(
        ("  as JSON, with every repair", *bench.against_parse([lint, "check", "--output-format", "json"]), parse)
    )
    rows.append(("  all repairs as a diff", *bench.against_parse([*check, "--diff"]), parse))
    rows.append(("one file, warm", *bench.against_parse([*check, one]), parse))
    rows.append(("  its repairs as a diff", *bench.against_parse([*check, "--diff", one]), parse))

    def edit() -> None:
        edited.write_text(edited.read_text() + "# edited\n")

    rows.append(("one file, just edited", *bench.against_parse([*check, one], edit), parse))
    for name, command in others(bench):
        rows.append((f"(for comparison) {name}", *bench.against_parse(command), parse))
    megabytes = peak_memory([*check, "--no-cache"], bench.root)
    print(f"{'peak memory, cold':34} {megabytes:8.0f} MB")
    print(f"{'peak memory, warm':34} {peak_memory(check, bench.root):8.0f} MB")
    print(f"{parse:34} {statistics.median(bench.parses):8.3f} s   (median of {len(bench.parses)})")
    return rows


def others(bench: Bench) -> list[tuple[str, list[str]]]:
    """The tools that its users know, on the same folder, each with its defaults and no cache of its own."""
    folder = os.path.dirname(sys.executable)
    models = str(bench.models)
    files = sorted(map(str, bench.models.rglob("*.py")))
    known = {
        "ruff": [os.path.join(folder, "ruff"), "check", "--isolated", "--no-cache", "--quiet", models],
        "flake8 (its own checks, -j 2)": [
            os.path.join(folder, "flake8"),
            "--isolated",
            "--extend-ignore",
            "NAM",
            "-j",
            "2",
            models,
        ],
        "transformers-mlinter": [os.path.join(folder, "mlinter"), "--no-progress", "--no-cache", *files],
    }
    return [(name, command) for name, command in known.items() if os.path.exists(command[0])]


if __name__ == "__main__":
    main()
