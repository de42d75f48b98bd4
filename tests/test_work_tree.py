"""Where a folder lies in git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from automodel_lint.work_tree import WorkTree, work_tree


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_a_folder_knows_its_commit_and_its_place(tmp_path: Path):
    inner = tmp_path / "a folder" / "inner"
    inner.mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    assert work_tree(str(tmp_path)) is None  # no commit yet
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert work_tree(str(tmp_path)) == WorkTree(head, "")
    assert work_tree(str(inner)) == WorkTree(head, "a folder/inner")
    link = tmp_path / "link"
    link.symlink_to(inner)
    assert work_tree(str(link)) == WorkTree(head, "a folder/inner")


def test_outside_git_there_is_none(tmp_path: Path):
    assert work_tree(str(tmp_path)) is None
    assert work_tree(str(tmp_path / "missing")) is None
