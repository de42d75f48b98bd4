"""The language server around the typing: start and end, settings, files that change on disk, hover, failures."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from automodel_lint.integrations.language_server.server import make
from automodel_lint.pages import pages

from .editor import PATIENCE, Editor, editing

MODELS = "acme_automodel/components/models"
FIR, BIRCH = f"{MODELS}/fir/model.py", f"{MODELS}/birch/model.py"
SETTINGS = "pyproject.toml"
POLICY = "    tie_word_embeddings_support: TieSupport = TieSupport.BOTH\n"


def _nothing(codes: list[str]) -> bool:
    return codes == []


def _messages(editor: Editor) -> list[str]:
    return [message.message for message in editor.client.messages]


async def _end(editor: Editor) -> int:
    return await asyncio.wait_for(editor.process.wait(), PATIENCE)


# -- start and end ----------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_what_the_server_says_it_can(example: Path):
    async with editing(example) as editor:
        await editor.when(lambda: bool(editor.asked_for), FIR)
        (watching,) = editor.asked_for
        assert watching.method == "workspace/didChangeWatchedFiles"
        patterns = {watcher["globPattern"] for watcher in _plain(watching.register_options)["watchers"]}
        assert {"**/*.py", "**/pyproject.toml", "**/automodel-lint.toml"} <= patterns


def _plain(options: Any) -> dict[str, Any]:
    return options if isinstance(options, dict) else options._asdict()


@pytest.mark.asyncio
async def test_shutdown_and_exit_end_the_process_in_the_middle_of_a_run(example: Path):
    async with editing(example) as editor:
        for path in sorted((example / MODELS).rglob("model.py")):
            editor.open(path.relative_to(example).as_posix())
        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        assert await _end(editor) == 0


@pytest.mark.asyncio
async def test_an_editor_that_dies_takes_the_server_along(example: Path):
    async with editing(example) as editor:
        editor.open(FIR)
        await editor.until(FIR, _nothing)
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert await _end(editor) == 1


def test_without_its_library_one_line_says_what_to_install():
    without = "import sys; sys.modules['pygls'] = None; sys.argv[1:] = ['server']"
    code = f"{without}; from automodel_lint.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "pip install 'automodel-lint[lsp]'" in done.stderr


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_settings_of_the_editor_hold_and_change(example: Path):
    async with editing(example, {"ignore": ["NAM208"]}) as editor:
        editor.open(BIRCH)
        await editor.until(BIRCH, lambda codes: "NAM209" in codes and "NAM208" not in codes)
        settings = {"automodel-lint": {"select": ["NAM208"]}}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await editor.until(BIRCH, lambda codes: codes == ["NAM208"])


@pytest.mark.asyncio
async def test_settings_that_are_asked_for(example: Path):
    async with editing(example) as editor:
        editor.open(BIRCH)
        await editor.until(BIRCH, lambda codes: "NAM209" in codes)
        editor.client.set_configuration({"select": ["NAM301"]}, section="automodel-lint")
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await editor.until(BIRCH, lambda codes: codes == ["NAM301"])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "options, said", [({"select": ["NAM999"]}, "NAM999"), ({"ignore": "NAM208"}, "ignore must be a list")]
)
async def test_wrong_settings_of_the_editor_are_named_once(example: Path, options: dict[str, Any], said: str):
    async with editing(example, options) as editor:
        editor.open(BIRCH)
        await editor.when(lambda: bool(editor.client.messages), BIRCH)
        for number in range(3):
            editor.type(BIRCH, f"{editor.texts[BIRCH]}# {number}\n")
            await editor.actions(BIRCH)
        (message,) = _messages(editor)
        assert said in message


@pytest.mark.asyncio
async def test_a_broken_settings_file_is_named_once_and_marked_where_it_is_open(example: Path):
    async with editing(example) as editor:
        editor.open(FIR)
        good = editor.open(SETTINGS)
        await editor.until(FIR, _nothing)
        for kind in "first", "second":  # it is named again when it had been right meanwhile
            (example / SETTINGS).write_text(good + "selects = []\n")
            editor.type(SETTINGS, good + "selects = []\n")
            editor.changed_on_disk(SETTINGS)
            shown = await editor.until(SETTINGS, lambda codes: codes == ["None"])
            assert editor.marked(SETTINGS, shown[0]) == "selects = []"
            editor.type(FIR, f"{editor.texts[FIR]}# {kind}\n")
            await editor.actions(FIR)
            (example / SETTINGS).write_text(good)
            editor.type(SETTINGS, good)
            editor.changed_on_disk(SETTINGS)
            await editor.until(SETTINGS, _nothing)
        messages = _messages(editor)
        assert len(messages) == 2 and all("unknown key 'selects'" in message for message in messages)


@pytest.mark.asyncio
async def test_settings_files_count_when_they_are_saved(example: Path):
    async with editing(example) as editor:
        editor.open(BIRCH)
        await editor.until(BIRCH, lambda codes: "NAM208" in codes)
        with (example / SETTINGS).open("a") as stream:
            stream.write('ignore = ["NAM208"]\n')
        editor.changed_on_disk(SETTINGS)
        await editor.until(BIRCH, lambda codes: "NAM208" not in codes and "NAM209" in codes)


@pytest.mark.asyncio
async def test_an_interpreter_that_the_checkout_names_is_not_run(example: Path):
    evil = example / "bin" / "python"
    evil.parent.mkdir()
    evil.write_text(f"#!/bin/sh\ntouch '{example}/was-run'\n")
    evil.chmod(0o755)
    with (example / SETTINGS).open("a") as stream:
        stream.write('python = "bin/python"\n')
    async with editing(example) as editor:
        editor.open(BIRCH)
        await editor.until(BIRCH, lambda codes: "NAM208" in codes)
    assert not (example / "was-run").exists()


# -- the disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_what_others_change_on_disk_shows_in_open_files(example: Path):
    async with editing(example) as editor:
        editor.open(FIR)
        await editor.until(FIR, _nothing)
        init = f"{MODELS}/fir/__init__.py"
        registry = example / "acme_automodel/_transformers/registry.py"
        editor.replace(FIR, POLICY, "")
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        text = registry.read_text()
        entry = '        ("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),\n'
        assert text.count(entry) == 1
        registry.write_text(text.replace(entry, ""))
        editor.changed_on_disk("acme_automodel/_transformers/registry.py", init)
        await editor.until(FIR, lambda codes: "NAM201" not in codes)


@pytest.mark.asyncio
async def test_a_second_start_finds_what_the_first_one_kept(example: Path, cli):
    for _ in range(2):
        async with editing(example) as editor:
            editor.open(FIR)
            await editor.until(FIR, _nothing)
            await editor.actions(FIR)
    kept = list((example / ".automodel_lint_cache").glob("verdicts-*.json"))
    before = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 1
    assert cli("check", cwd=example).returncode == 1
    assert [path.stat().st_mtime_ns for path in kept] == before  # the command line takes them, nothing is computed anew


# -- hover ------------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_hover_shows_the_page_of_a_rule(example: Path):
    page = pages()["NAM201"]
    async with editing(example) as editor:
        editor.open(FIR)
        editor.replace(FIR, POLICY, "    # automodel-lint: ignore[NAM206] as an example\n")
        found = await editor.until(FIR, lambda codes: "NAM201" in codes)
        (missing,) = [d for d in found if d.code == "NAM201"]
        over = await editor.hover(FIR, missing.range.start.line, missing.range.start.character + 2)
        assert over is not None and over.kind == types.MarkupKind.Markdown
        for part in (page.name, page.url, "```diff\n", "\n+    tie_word_embeddings_support"):
            assert part in over.value
        assert page.summary in over.value.replace("\n", " ")
        comment = next(n for n, line in enumerate(editor.texts[FIR].splitlines()) if "NAM206" in line)
        over = await editor.hover(FIR, comment, editor.texts[FIR].splitlines()[comment].index("NAM206") + 3)
        assert over is not None and pages()["NAM206"].name in over.value and page.name not in over.value
        assert await editor.hover(FIR, 0, 0) is None


@pytest.mark.asyncio
async def test_hover_in_a_settings_file(example: Path):
    async with editing(example) as editor:
        text = editor.open(SETTINGS, (example / SETTINGS).read_text() + 'ignore = ["NAM409"]\n')
        line = text.splitlines().index('ignore = ["NAM409"]')
        over = await editor.hover(SETTINGS, line, 14)
        assert over is not None and pages()["NAM409"].name in over.value


@pytest.mark.parametrize("code", pages())
def test_every_page_can_be_hovered(code: str):
    from automodel_lint.integrations.language_server.hover import text_of

    text = text_of([code])
    assert text.startswith(f"**{code}** ") and text.count("```") % 2 == 0
    assert all(len(block.splitlines()) < 20 for block in text.split("```")[1::2])


# -- failures ---------------------------------------------------------------------------------------------------------


def test_a_failure_of_the_linter_is_said_once_and_logged_each_time(monkeypatch: pytest.MonkeyPatch):
    server = make()
    said: list[Any] = []
    logged: list[Any] = []
    monkeypatch.setattr(server, "window_show_message", said.append)
    monkeypatch.setattr(server, "window_log_message", logged.append)
    monkeypatch.setattr(server.schedule, "call", lambda function, *arguments: function(*arguments))

    def fails(*_: object) -> None:
        raise ZeroDivisionError("by nought")

    for _ in range(3):
        monkeypatch.setattr(server.checkouts, "lint", fails)
        server._lint(None, lambda: False)  # type: ignore[arg-type]
    assert [message.message.count("ZeroDivisionError: by nought") for message in said] == [1]
    assert len(logged) == 3 and all("in fails" in message.message for message in logged)
