"""``check --fix``, ``--unsafe-fixes``, ``--diff`` and ``--add-noqa`` as a person calls them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from automodel_lint.commands import repair, run
from automodel_lint.writing import write_whole

from .clean_example import clean, edited, lay
from .mutations import Edit as Change
from .mutations import model

FIR, SPRUCE = model("fir"), model("spruce")
GUARD = "        reject_unsupported_tie_word_embeddings(type(self), config)\n"
LATE = f"        super().__init__()\n{GUARD}"
CAPABILITIES = "        supports_ep: bool = False\n"


def _broken(*edits: Change) -> dict[str, str]:
    return edited(clean(), edits)


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """The clean example with a guard that comes late in Fir (safe), and a class in Spruce without a policy (unsafe)."""
    policy = "    tie_word_embeddings_support: TieSupport = TieSupport.UNTIED_ONLY\n"
    assert clean()[SPRUCE].count(policy) == 1
    return lay(
        tmp_path / "late",
        _broken(Change(FIR, GUARD + "        super().__init__()\n", LATE), Change(SPRUCE, policy, "")),
    )


def _texts(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}


# -- fix ------------------------------------------------------------------------------------------------------------


def test_fix_repairs_what_is_safe_and_reports_the_rest(late: Path, cli):
    before = _texts(late)
    done = cli("check", "--fix", cwd=late)
    assert done.returncode == 1, "the unsafe one is left"
    assert "NAM201" in done.stdout and "NAM205" not in done.stdout
    assert "Repaired 1 finding in 1 file." in done.stdout
    assert "1 can be repaired with `--fix --unsafe-fixes`." in done.stdout
    after = _texts(late)
    assert {path for path in after if after[path] != before[path]} == {FIR}
    assert after[FIR].decode() == clean()[FIR]


def test_unsafe_fixes_come_only_when_asked_for(late: Path, cli):
    hinted = cli("check", "--unsafe-fixes", cwd=late)
    assert (hinted.returncode, _texts(late)[FIR].decode()) == (1, _broken(_LATE)[FIR]), "alone it changes nothing"
    done = cli("check", "--fix", "--unsafe-fixes", cwd=late)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Repaired 2 findings in 2 files." in done.stdout
    assert b"TieSupport.UNTIED_ONLY" in _texts(late)[SPRUCE]


_LATE = Change(FIR, GUARD + "        super().__init__()\n", LATE)


def test_only_what_is_selected_is_repaired(late: Path, cli):
    done = cli("check", "--fix", "--select", "NAM3", cwd=late)
    assert done.returncode == 0
    assert _texts(late)[FIR].decode() == _broken(_LATE)[FIR]


def test_what_is_silenced_is_not_repaired(tmp_path: Path, cli):
    silenced = LATE.replace("config)\n", "config)  # noqa: NAM205\n")
    root = lay(tmp_path / "late", _broken(Change(FIR, _LATE.old, silenced)))
    before = _texts(root)
    done = cli("check", "--fix", cwd=root)
    assert done.returncode == 0, done.stdout
    assert _texts(root) == before


def test_several_repairs_of_one_file_compose(tmp_path: Path, cli):
    """Late, with the wrong class, beside faults of the capabilities and the export: the original comes back."""
    root = lay(
        tmp_path / "several",
        _broken(
            Change(FIR, _LATE.old, LATE.replace("type(self)", "FirForCausalLM")),
            Change(FIR, CAPABILITIES, ""),
            Change(FIR, "    @dataclass(frozen=True)\n", "    @dataclass\n"),
            Change(FIR, "\n\nModelClass = FirForCausalLM\n", ""),
        ),
    )
    done = cli("check", "--fix", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _texts(root)[FIR].decode() == clean()[FIR]


def test_json_after_a_repair_counts_it(late: Path, cli):
    data = json.loads(cli("check", "--fix", "--output-format", "json", cwd=late).stdout)
    assert data["summary"]["fixed"] == 1
    assert [f["code"] for f in data["findings"]] == ["NAM201"]


def test_an_installed_package_is_not_changed(cli):
    for options in (["--fix"], ["--add-noqa", "known"]):
        done = cli("check", "--installed", "nemo_automodel", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--diff" in done.stderr and len(done.stderr.splitlines()) == 1


def test_standard_input_is_repaired_to_standard_output(tmp_path: Path, cli):
    root = lay(tmp_path / "clean", clean())
    broken = _broken(_LATE)[FIR]
    done = cli("check", "-", "--stdin-filename", root / FIR, "--fix", cwd=root, stdin=broken)
    assert done.stdout == clean()[FIR]
    assert "Repaired 1 finding" in done.stderr
    assert _texts(root)[FIR].decode() == clean()[FIR]
    unchanged = cli("check", "-", "--stdin-filename", root / FIR, "--fix", cwd=root, stdin=clean()[FIR])
    assert (unchanged.returncode, unchanged.stdout) == (0, clean()[FIR])


# -- diff -----------------------------------------------------------------------------------------------------------


def test_diff_writes_nothing_and_is_a_patch_that_does_what_fix_does(late: Path, cli, tmp_path: Path):
    before = _texts(late)
    done = cli("check", "--diff", "--unsafe-fixes", cwd=late)
    assert done.returncode == 1
    assert "would change 2 files (2 repairs)" in done.stderr
    assert _texts(late) == before
    twin = shutil.copytree(late, tmp_path / "twin")
    subprocess.run(["git", "apply", "-p1", "-"], cwd=twin, input=done.stdout, text=True, check=True)
    cli("check", "--fix", "--unsafe-fixes", cwd=late)
    assert _texts(twin) == _texts(late)
    nothing = cli("check", "--diff", cwd=late)
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "")


def test_diff_of_a_file_without_a_last_line_end(tmp_path: Path, cli):
    files = _broken(Change(FIR, "\n\nModelClass = FirForCausalLM\n", ""))
    files[FIR] = files[FIR].rstrip("\n")
    root = lay(tmp_path / "bare", files)
    done = cli("check", "--diff", cwd=root)
    assert "\\ No newline at end of file\n" in done.stdout
    subprocess.run(["git", "apply", "-p1", "-"], cwd=root, input=done.stdout, text=True, check=True)
    assert _texts(root)[FIR].decode() == clean()[FIR]


def test_diff_into_a_file(late: Path, cli, tmp_path: Path):
    target = tmp_path / "repairs.patch"
    done = cli("check", "--diff", "--output-file", target, cwd=late)
    assert (done.returncode, done.stdout) == (1, "")
    assert target.read_text().startswith(f"--- a/{FIR}\n+++ b/{FIR}\n")


# -- files ----------------------------------------------------------------------------------------------------------


def test_permissions_and_links_are_kept(late: Path, cli):
    real = late / "elsewhere.py"
    (late / FIR).rename(real)
    real.chmod(0o640)
    (late / FIR).symlink_to(os.path.relpath(real, (late / FIR).parent))
    cli("check", "--fix", cwd=late)
    assert (late / FIR).is_symlink()
    assert real.stat().st_mode & 0o7777 == 0o640
    assert real.read_text() == clean()[FIR]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + text).encode("latin-1"),
        lambda text: text.replace("    ", "\t").encode(),
    ],
    ids=["crlf", "bom", "latin-1", "tabs"],
)
def test_the_bytes_around_a_repair_stay(encode, late: Path, cli):
    path = late / FIR
    path.write_bytes(encode(path.read_text()))
    cli("check", "--fix", cwd=late)
    assert path.read_bytes() == encode(clean()[FIR])


def test_a_file_that_cannot_be_written_is_an_error_of_one_line(late: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    before = _texts(late)

    def fail(path: str, _: bytes) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(repair, "write_whole", fail)
    monkeypatch.setattr(sys, "argv", ["automodel-lint", "check", "--fix", "--no-cache", str(late)])
    with pytest.raises(SystemExit) as stop:
        run()
    error = capsys.readouterr().err
    assert stop.value.code == 2 and len(error.splitlines()) == 1 and f"{FIR}: cannot be written" in error
    assert _texts(late) == before


def test_a_file_that_changes_meanwhile_is_left_as_it_is(late: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    real = repair.repaired

    def slow(*arguments: object) -> object:
        outcome = real(*arguments)
        (late / FIR).write_text("# somebody saved this\n")
        return outcome

    monkeypatch.setattr(repair, "repaired", slow)
    monkeypatch.setattr(sys, "argv", ["automodel-lint", "check", "--fix", "--no-cache", str(late)])
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2 and "changed while it was repaired" in capsys.readouterr().err
    assert (late / FIR).read_text() == "# somebody saved this\n"


def test_replacing_fails_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file.py"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_whole(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.py"]


def test_a_run_that_is_killed_leaves_every_file_old_or_new(tmp_path: Path):
    """Killed at many moments, most of them while files are replaced."""
    edits = [Change(model(name), GUARD, "") for name in ("fir", "spruce", "cedar", "hawthorn")]
    broken = _broken(*edits)
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        root = lay(tmp_path / f"run{delay}", broken)
        process = subprocess.Popen(
            [sys.executable, "-m", "automodel_lint", "check", "--fix", "--no-cache", "-q"],
            cwd=root,
            stdout=subprocess.DEVNULL,
        )
        first = root / edits[0].path
        while process.poll() is None and first.read_bytes() == broken[edits[0].path].encode():
            time.sleep(0.005)
            if delay == 0.0:
                break
        time.sleep(delay / 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for edit in edits:
            text = (root / edit.path).read_text()
            assert text == broken[edit.path] or GUARD in text
            compile(text, edit.path, "exec")


# -- noqa -----------------------------------------------------------------------------------------------------------


def test_add_noqa_silences_what_remains_with_the_reason(late: Path, cli):
    done = cli("check", "--add-noqa", "kept for the old checkpoints", cwd=late)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 findings suppressed" in done.stdout
    text = _texts(late)[FIR].decode()
    assert f"        # automodel-lint: ignore[NAM205] kept for the old checkpoints\n{GUARD}" in text
    again = cli("check", "--add-noqa", "kept for the old checkpoints", cwd=late)
    assert again.returncode == 0 and _texts(late)[FIR].decode() == text


def test_add_noqa_after_a_repair_silences_only_the_rest(late: Path, cli):
    done = cli("check", "--fix", "--add-noqa", "the policy is open", cwd=late)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _texts(late)[FIR].decode() == clean()[FIR]
    assert b"ignore[NAM201] the policy is open" in _texts(late)[SPRUCE]


def test_add_noqa_as_a_diff(late: Path, cli):
    before = _texts(late)
    done = cli("check", "--add-noqa", "known", "--diff", cwd=late)
    assert done.returncode == 1 and done.stdout.count("+        # automodel-lint: ignore[NAM205] known") == 1
    assert _texts(late) == before


def test_add_noqa_silences_the_whole_example(example: Path, cli):
    """Findings at classes, below decorators, in tables, in calls over several lines, in files without code."""
    done = cli("check", "--add-noqa", "part of the example", "--output-format", "json", cwd=example)
    left = json.loads(done.stdout)["findings"]
    no_place = {"NAM001", "NAM002", "NAM003", "NAM814"}  # a comment in a recipe that does not load is nobody's
    assert {f["code"] for f in left} <= no_place, left
    for path in example.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")


def test_add_noqa_above_texts_and_continued_lines(tmp_path: Path, cli):
    files = dict(clean())
    files[FIR] = files[FIR].replace(
        '    _keep_in_fp32_modules_strict = ["rotary_emb.inv_freq"]\n',
        "    note, _keep_in_fp32_modules_strict = (\n        '''\n  text\n''', 'rotary_emb.inv_freq')\n",
    )
    files[SPRUCE] = files[SPRUCE].replace(
        GUARD, GUARD.replace("reject", "x = 1 + \\\n          1; reject").replace("type(self)", "SpruceForCausalLM")
    )
    root = lay(tmp_path / "odd", files)
    done = cli("check", "--add-noqa", "known", "--select", "NAM207,NAM403,NAM205", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in (FIR, SPRUCE):
        compile((root / path).read_text(), path, "exec")


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines"])
def test_add_noqa_wants_a_reason(reason: str, late: Path, cli):
    before = _texts(late)
    done = cli("check", "--add-noqa", reason, cwd=late)
    assert done.returncode == 2 and "reason" in done.stderr
    assert _texts(late) == before


# -- shapes ---------------------------------------------------------------------------------------------------------


def test_json_edits_do_what_the_repair_does(late: Path, cli):
    data = json.loads(cli("check", "--output-format", "json", cwd=late).stdout)
    finding = next(f for f in data["findings"] if f["code"] == "NAM205")
    assert finding["fix"]["safety"] == "safe"
    lines = (late / FIR).read_text().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = "".join(lines)
    for edit in reversed(finding["fix"]["edits"]):
        start = starts[edit["line"] - 1] + edit["column"] - 1
        end = starts[edit["end_line"] - 1] + edit["end_column"] - 1
        text = text[:start] + edit["text"] + text[end:]
    assert text == clean()[FIR]
    assert next(f for f in data["findings"] if f["code"] == "NAM201")["fix"]["safety"] == "unsafe"
