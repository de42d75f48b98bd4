"""Bad input gives one clear line and exit code 2, or a finding; it never takes the run down."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from automodel_lint.session import Request, Session
from automodel_lint.source import SourceTree

MODELS = "acme_automodel/components/models"
FIR = f"{MODELS}/fir/model.py"


def _codes(root: Path, path: str) -> list[str]:
    report = Session(Request(paths=[str(root)], cache=False)).run()
    return sorted(f.code for f in report.findings if f.path == path)


def _fir_registry_codes(root: Path) -> list[str]:
    report = Session(Request(paths=[str(root)], cache=False)).run()
    return sorted(f.code for f in report.findings if "FirForCausalLM" in f.architectures)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"class FirForCausalLM(\n", 1, "never closed"),
        (b"x = 1\ny = '\xff\xfe'\n", 1, "utf-8"),
        (b"x = 1\n\0y = 2\n", 1, "null"),
        (b"# coding: no-such-codec\nx = 1\n", 1, "codec"),
    ],
    ids=["does not parse", "not utf-8", "null byte", "unknown encoding"],
)
def test_unreadable_source_is_a_finding(example: Path, content: bytes, line: int, words: str):
    (example / FIR).write_bytes(content)
    report = Session(Request(paths=[str(example)], cache=False)).run()
    (finding,) = [f for f in report.findings if f.path == FIR]
    assert finding.code == "NAM002"
    assert words in finding.message.lower()
    assert abs(finding.span.line - line) <= 1
    assert len(report.findings) > 20, "the other models are still linted"


def test_an_empty_module_binds_no_class(example: Path):
    (example / FIR).write_bytes(b"")
    assert _fir_registry_codes(example) == ["NAM102"]


def _make_directory(path: Path) -> None:
    path.mkdir()


def _make_dangling(path: Path) -> None:
    path.symlink_to("nowhere.py")


def _make_loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_make_directory, _make_dangling, _make_loop])
def test_a_module_that_is_no_file_is_missing(example: Path, make):
    (example / FIR).unlink()
    make(example / FIR)
    assert "NAM101" in _fir_registry_codes(example)


@pytest.mark.parametrize("make", [_make_dangling, _make_loop])
def test_a_named_path_that_leads_nowhere_is_wrong_use(example: Path, cli, make):
    make(example / "odd.py")
    done = cli("check", example / "odd.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "odd.py" in done.stderr


def test_a_named_path_that_is_not_there(example: Path, cli):
    done = cli("check", example / "no_such.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("no_such.py: no such file or folder\n")


def test_a_file_that_vanishes_during_the_run(example: Path, monkeypatch: pytest.MonkeyPatch):
    victim = str(example / FIR)
    read = SourceTree.read
    seen: list[str] = []

    def vanishing(self: SourceTree, path: str) -> bytes | None:
        if path.endswith("registry.py") and not seen:
            seen.append(path)
            found = read(self, path)
            os.unlink(victim)
            return found
        return read(self, path)

    monkeypatch.setattr(SourceTree, "read", vanishing)
    assert _fir_registry_codes(example) == ["NAM101"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_an_unwritable_cache_folder_is_no_error(example: Path, cli):
    blocked = example / ".automodel_lint_cache"
    blocked.write_text("a file where the folder should be")
    blocked.chmod(stat.S_IRUSR)
    first = cli("check", example, "--output-format", "concise")
    assert first.returncode == 1
    assert first.stderr == ""
    assert len(first.stdout.splitlines()) > 20


@pytest.mark.parametrize(
    ("settings", "line", "words"),
    [
        ("package = \n", 2, "not valid TOML"),
        (f"package = {'[' * 9999}\n", None, "not valid TOML: nested too deeply"),
        ('pakcage = "x"\n', 2, "unknown key 'pakcage'; did you mean 'package'?"),
        ('select = ["NAM9999"]\n', 2, "unknown rule code 'NAM9999'"),
        ('ignore = ["tie-guard-config"]\n', 2, "rules are selected by code; tie-guard-config is NAM206"),
        ("package = 3\n", 2, "package must be a text"),
        ('select = "NAM1"\n', 2, "select must be a list"),
        ('[tool.automodel-lint.severity]\nNAM105 = "fatal"\n', 3, "unknown severity 'fatal'"),
        ('[tool.automodel-lint.exempt]\nNAM201 = { Willow = "" }\n', 3, "needs a reason"),
        ('package = "acme_automodel"\nbaseline = "gone.json"\n', None, "no usable baseline"),
    ],
)
def test_broken_settings(example: Path, cli, settings: str, line: int | None, words: str):
    (example / "pyproject.toml").write_text("[tool.automodel-lint]\n" + settings)
    done = cli("check", example)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    if line is not None:
        assert f"pyproject.toml:{line}:" in done.stderr


def test_no_registry(tmp_path: Path, cli):
    (tmp_path / "code.py").write_text("x = 1\n")
    done = cli("check", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    for word in ("no registry found", "_transformers/registry.py", "components/models", "entry points", str(tmp_path)):
        assert word in done.stderr


def test_an_installed_package_that_is_not_there(cli):
    done = cli("check", "--installed", "no_such_package")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no_such_package: not installed" in done.stderr


def test_an_interpreter_that_is_none(cli, example: Path):
    done = cli("check", example, "--python", example / "README.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no usable Python interpreter" in done.stderr


def test_a_broken_registry_is_a_finding(example: Path):
    path = "acme_automodel/_transformers/registry.py"
    (example / path).write_text("MODEL_ARCH_MAPPING = {\n")
    assert _codes(example, path) == ["NAM002"]


def test_nothing_half_written(example: Path, cli):
    target = example / "no-such-folder" / "report.json"
    done = cli("check", example, "--output-format", "json", "--output-file", target)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert not target.parent.exists()
