"""How long an editor waits: from a key to the diagnostic it brings, and whether a long session grows.

    python benchmarks/language_server.py [--edits N] [--json FILE] [FILE…]

Drives ``automodel-lint server`` over stdio with a real client, on the published nemo-automodel 0.7.0 (downloaded by
pip, as in the tests). In each file a fault is typed and taken back, as often as ``--runs`` says; a figure is the time
from the change being sent to the diagnostic of the fault being there, the pause after the key included. ``all`` is the
time until everything that depends on the file has been linted again. Memory is that of the server's process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import real_package

MODELS = "nemo_automodel/components/models"
FILES = [
    f"{MODELS}/llama/model.py",
    f"{MODELS}/deepseek_v3/model.py",
    f"{MODELS}/deepseek_v4/model.py",
    f"{MODELS}/nemotron_omni/model.py",
    f"{MODELS}/qwen3_omni_moe/model.py",
    f"{MODELS}/qwen3_5_moe/model.py",
    f"{MODELS}/kimi_k3/model.py",
    f"{MODELS}/minimax_m3_vl/model.py",
    f"{MODELS}/deepseek_v3/state_dict_adapter.py",
    f"{MODELS}/deepseek_v3/layers.py",
    f"{MODELS}/deepseek_v4/layers.py",
    f"{MODELS}/llama/__init__.py",
    f"{MODELS}/common/tie_word_embeddings.py",
    "nemo_automodel/_transformers/registry.py",
]
STALE = "# automodel-lint: ignore[NAM206] nothing to ignore\n"
FAULTS = (
    (r"^    tie_word_embeddings_support\b", "    no_policy", "NAM201"),
    (r'"(LlamaForCausalLM)",?\s*\)', r'"\1Mistyped")', "NAM102"),
)


class Editor:
    """A client with open files."""

    def __init__(self, root: Path):
        self.root = root
        self.client = LanguageClient("benchmark", "1")
        self.versions: dict[str, int] = {}
        self.came: asyncio.Queue[tuple[float, types.PublishDiagnosticsParams]] = asyncio.Queue()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.came.put_nowait((time.perf_counter(), params))

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            raise SystemExit(params.message)

    async def start(self) -> None:
        """Start the server."""
        await self.client.start_io(sys.executable, "-m", "automodel_lint", "server")
        root = self.root.as_uri()
        await self.client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=root, process_id=None)
        )
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        """End the server."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def open(self, path: str, text: str) -> None:
        uri = self.uri(path)
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self, path: str) -> None:
        identifier = types.TextDocumentIdentifier(self.uri(path))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def change(self, path: str, text: str) -> float:
        """Send a text; returns when."""
        uri = self.uri(path)
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        return time.perf_counter()

    async def until(self, path: str, code: str, there: bool, seconds: float = 120) -> float:
        """Wait until the present version shows a code (or no longer); returns when."""
        uri = self.uri(path)
        while True:
            when, params = await asyncio.wait_for(self.came.get(), seconds)
            is_present = params.uri == uri and params.version == self.versions[uri]
            if is_present and any(d.code == code for d in params.diagnostics) == there:
                return when

    async def settled(self, path: str) -> float:
        """Wait until all is linted that depends on what was typed (a request waits for that); returns when."""
        start = types.Position(0, 0)
        while True:
            result = await self.client.text_document_code_action_async(
                types.CodeActionParams(
                    types.TextDocumentIdentifier(self.uri(path)), types.Range(start, start), types.CodeActionContext([])
                )
            )
            if result is not None:
                return time.perf_counter()

    def memory(self) -> float:
        """Return the resident memory of the server in MB."""
        status = Path(f"/proc/{self.client._server.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def faulty(text: str) -> tuple[str, str]:
    """Return a text with a fault in it, and its code: a class without a policy, an entry without a class.

    The first takes the place of all that rules ask about the class, its module tree among it. Where there is neither,
    a comment that silences nothing.
    """
    for pattern, instead, code in FAULTS:
        bad = re.sub(pattern, instead, text, flags=re.M)
        if bad != text:
            return bad, code
    return text + STALE, "NAM001"


async def keystrokes(root: Path, files: list[str], runs: int) -> list[dict]:
    """Measure a row a file."""
    editor = Editor(root)
    await editor.start()
    rows = []
    for path in files:
        text = (root / path).read_text()
        bad, code = faulty(text)
        editor.open(path, text)
        await editor.until(path, code, False)
        await editor.settled(path)
        shown, whole = [], []
        for _ in range(runs):
            await asyncio.sleep(0.5)
            sent = editor.change(path, bad)
            shown.append(await editor.until(path, code, True) - sent)
            whole.append(await editor.settled(path) - sent)
            await asyncio.sleep(0.5)
            editor.change(path, text)
            await editor.settled(path)
        editor.close(path)
        rows.append({"file": path, "lines": text.count("\n"), "code": code, "shown": shown, "whole": whole})
        print(row(rows[-1]), flush=True)
    await editor.stop()
    return rows


def row(figures: dict) -> str:
    """Return a row of the table."""
    name = figures["file"].removeprefix(f"{MODELS}/")
    shown, whole = figures["shown"], figures["whole"]
    p50, worst, done = statistics.median(shown), max(shown), statistics.median(whole)
    return (
        f"{name:42} {figures['lines']:5}  {figures['code']}  {p50 * 1000:6.0f} {worst * 1000:6.0f} {done * 1000:7.0f}"
    )


async def start_up(root: Path) -> float:
    """Seconds from starting the server to the first diagnostics of an open file."""
    editor = Editor(root)
    started = time.perf_counter()
    await editor.start()
    editor.open(FILES[0], (root / FILES[0]).read_text())
    when, _ = await asyncio.wait_for(editor.came.get(), 300)
    await editor.settled(FILES[0])
    await asyncio.sleep(1)  # for the cache to be written
    await editor.stop()
    return when - started


async def growth(root: Path, edits: int) -> tuple[float, float, float]:
    """Memory in MB after a tenth of the edits and after all, and the seconds that an edit took."""
    editor = Editor(root)
    await editor.start()
    path = FILES[0]
    text = (root / path).read_text()
    editor.open(path, text)
    await editor.settled(path)
    first = 0.0
    started = time.perf_counter()
    for number in range(edits):
        bad = faulty(text)[0] if number % 2 else text
        editor.change(path, f"{bad}# {number}\n")
        await editor.settled(path)
        if number == edits // 10:
            first = editor.memory()
    last = editor.memory()
    await editor.stop()
    return first, last, (time.perf_counter() - started) / max(edits, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = real_package.copied("0.7.0", Path(folder))
        cold = asyncio.run(start_up(root))
        warm = asyncio.run(start_up(root))
        print(f"start to first diagnostics: {cold:.2f} s without a cache, {warm:.2f} s with one")
        print(f"{'file':42} {'lines':>5}  {'code':6}  {'p50 ms':>6} {'max ms':>6} {'all ms':>7}")
        rows = asyncio.run(keystrokes(root, options.files, options.runs))
        memory = asyncio.run(growth(root, options.edits)) if options.edits else None
    if memory:
        first, last, seconds = memory
        print(f"memory: {first:.0f} MB after {options.edits // 10} edits, {last:.0f} MB after {options.edits}", end="")
        print(f" ({seconds * 1000:.0f} ms each)")
    if options.json:
        options.json.write_text(json.dumps({"cold": cold, "warm": warm, "rows": rows, "memory": memory}))


if __name__ == "__main__":
    main()
