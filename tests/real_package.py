"""The published wheels of nemo-automodel, unpacked, for tests on real code.

A wheel is downloaded once, into ``$AUTOMODEL_LINT_TEST_CACHE`` or ``.cache/wheels`` of the repository, and unpacked
once. What lies there is shared by all runs: a test that edits must copy first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DISTRIBUTION = "nemo-automodel"


class NotAvailable(Exception):
    """The wheel is neither in the cache nor to be had; the text is the downloader's last line."""


def cache_folder() -> Path:
    """Return the folder that keeps wheels and what was unpacked from them."""
    chosen = os.environ.get("AUTOMODEL_LINT_TEST_CACHE")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[1] / ".cache" / "wheels"


def unpacked(version: str, distribution: str = DISTRIBUTION) -> Path:
    """Return the folder that holds ``nemo_automodel/`` of a published version (or what another distribution brings).

    Raises:
        NotAvailable: if it is not in the cache and cannot be downloaded.
    """
    final = cache_folder() / f"{distribution}-{version}"
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    # Work happens beside the final place and is moved there whole: whoever is killed half-way leaves no half
    # package behind, and of two runs at once the second finds the place taken.
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=f".{final.name}-") as work:
        contents = Path(work) / "contents"
        with zipfile.ZipFile(_downloaded(f"{distribution}=={version}", Path(work))) as wheel:
            wheel.extractall(contents)
        try:
            contents.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    return final


def _downloaded(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--ignore-requires-python", "--disable-pip-version-check", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotAvailable(said[-1] if said else f"{requirement}: pip downloaded nothing")
    return wheels[0]


def copied(version: str, folder: Path) -> Path:
    """Copy the Python files of a published version below ``folder``, which then is a checkout; return it."""
    source = unpacked(version) / "nemo_automodel"
    for path in source.rglob("*.py"):
        target = folder / "nemo_automodel" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder
