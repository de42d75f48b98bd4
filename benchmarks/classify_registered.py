"""How well what a config says agrees with what the registered class of it constructs.

    python benchmarks/classify_registered.py [--python EXE]

EXE has torch, transformers and nemo-automodel (``make .venv-truth/.ready`` makes one): it gives the default config of
each registered class, see ``truth/default_configs.py``. The other side is the class's module tree, read from source. A
config speaks of one model and a tree of all that a class can be; so *contradicted* (the config says that a thing is
there, and the tree has none) counts apart from *silent* (the tree may have it, the config does not say so).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from automodel_lint.onboarding.classification import Classification, classify
from automodel_lint.onboarding.component import ATTENTION, EXPERTS
from automodel_lint.onboarding.config_file import config_of
from automodel_lint.onboarding.kind import ENCODER
from automodel_lint.onboarding.registered import Registered, registered_classes
from automodel_lint.session import Request, Session

HERE = Path(__file__).resolve().parent
DEFAULT_PYTHON = HERE.parent / ".venv-truth" / "bin" / "python"
_RECURRENT = ("linear attention", "state space")


def questions(found: Classification, one: Registered) -> dict[str, tuple[bool, bool]]:
    """Return, for each thing, whether the config says it and whether the tree shows it."""
    asked = {
        "experts": (found.experts is not None, (EXPERTS, "routed") in one.built),
        "shared experts": (found.has(EXPERTS, "shared"), (EXPERTS, "shared") in one.built),
        "correction bias": (found.has(EXPERTS, "correction bias"), (EXPERTS, "correction bias") in one.built),
        "recurrence": (
            any(found.has(ATTENTION, name) for name in _RECURRENT),
            any((ATTENTION, name) in one.built for name in _RECURRENT),
        ),
        "encoder": (found.is_(ENCODER), "retrieval" in one.model.tags),
    }
    for name in ("MLA", "sinks", "sparse", "QK norm"):
        asked[name] = found.has(ATTENTION, name), (ATTENTION, name) in one.built
    for medium in ("image", "audio"):
        asked[f"{medium} tower"] = medium in found.modalities.inputs, ("tower", medium) in one.built
    return asked


def main() -> None:
    """Print a line for each question, and the classes that differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=str(DEFAULT_PYTHON))
    python = parser.parse_args().python
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "configs.json"
        script = HERE / "truth" / "default_configs.py"
        subprocess.run([python, script, HERE.parent / "src", out], check=True, stderr=subprocess.DEVNULL)
        rows = json.loads(out.read_text())
    configs = {name: row["config"] for row in rows for name in row["architectures"]}
    project = Session(Request(installed="nemo_automodel", python=python)).project()
    results: dict[str, dict[str, list[str]]] = {}
    for one in registered_classes(project):
        name = one.model.architectures[0]
        if not configs.get(name):
            print(f"{name}: no default config")
            continue
        for thing, (says, shows) in questions(classify(config_of(configs[name])), one).items():
            verdict = "agree" if says is shows else "contradicted" if says else "silent"
            results.setdefault(thing, {}).setdefault(verdict, []).append(name)
    for thing, verdicts in results.items():
        counts = ", ".join(f"{len(names)} {verdict}" for verdict, names in sorted(verdicts.items()))
        print(f"\n{thing}: {counts}")
        for verdict in ("contradicted", "silent"):
            if verdicts.get(verdict):
                print(f"  {verdict}: {', '.join(verdicts[verdict])}")


if __name__ == "__main__":
    main()
