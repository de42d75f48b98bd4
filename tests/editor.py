"""An editor for tests of the language server: opens files, types, applies edits, sees diagnostics."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities

PATIENCE = 120.0  # a guard, not a measure: machines that run tests may be slow


class Editor:
    """A client with open files; texts are what is on the screen."""

    def __init__(self, root: Path, encoding: str):
        self.root, self.encoding = root, encoding
        self.client = LanguageClient(converter_factory=default_converter)
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.asked_for: list[types.Registration] = []
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)
            self.client.diagnostics[params.uri] = params.diagnostics
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self.client.messages.append(params)
            self._news.set()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.client.log_messages.append(params)

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def configuration(params: types.ConfigurationParams) -> list[Any]:
            return [self.client.get_configuration(section=item.section) for item in params.items]

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.asked_for += params.registrations

    def uri(self, path: str) -> str:
        """Return the address of a file, given relative to the root or absolute."""
        return (self.root / path).as_uri()

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server."""
        assert self.client._server is not None
        return self.client._server

    # -- typing -----------------------------------------------------------------------------------------------------

    def open(self, path: str, text: str | None = None) -> str:
        """Open a file, as it is on disk or with another text; returns the text."""
        text = (self.root / path).read_text(encoding="utf-8") if text is None else text
        self.texts[path], self.versions[path] = text, 1
        language = "toml" if path.endswith(".toml") else "python"
        item = types.TextDocumentItem(self.uri(path), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return text

    def type(self, path: str, text: str) -> None:
        """Make ``text`` the text on the screen."""
        self.texts[path] = text
        self.versions[path] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[path], self.uri(path))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def replace(self, path: str, old: str, new: str) -> None:
        """Type over a stretch that is there once."""
        assert self.texts[path].count(old) == 1
        self.type(path, self.texts[path].replace(old, new))

    def close(self, path: str) -> None:
        """Close a file."""
        del self.texts[path], self.versions[path]
        identifier = types.TextDocumentIdentifier(self.uri(path))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def changed_on_disk(self, *paths: str) -> None:
        """Tell that files were changed by somebody else."""
        events = [types.FileEvent(self.uri(path), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    # -- seeing -----------------------------------------------------------------------------------------------------

    async def until(self, path: str, is_so: Callable[[list[str]], bool]) -> Sequence[types.Diagnostic]:
        """Wait until the codes shown for the present text of a file satisfy somebody; returns the diagnostics."""
        return await self.when(lambda: self._is_shown(path, is_so), path)

    async def when(self, is_so: Callable[[], bool], path: str) -> Sequence[types.Diagnostic]:
        """Wait until something is so; returns the diagnostics of a file."""

        async def wait() -> None:
            while not is_so():
                self._news.clear()
                with_timeout = asyncio.wait_for(self._news.wait(), 0.2)
                try:
                    await with_timeout
                except asyncio.TimeoutError:
                    continue

        try:
            await asyncio.wait_for(wait(), PATIENCE)
        except asyncio.TimeoutError:
            raise AssertionError(f"{path} shows {self.codes(path)}, {self.client.messages}") from None
        return self.client.diagnostics.get(self.uri(path), ())

    def codes(self, path: str) -> list[str]:
        """Return the codes that a file shows, in order."""
        return [str(d.code) for d in self.client.diagnostics.get(self.uri(path), ())]

    def _is_shown(self, path: str, is_so: Callable[[list[str]], bool]) -> bool:
        last = next((p for p in reversed(self.published) if p.uri == self.uri(path)), None)
        return last is not None and last.version == self.versions[path] and is_so(self.codes(path))

    # -- asking -----------------------------------------------------------------------------------------------------

    async def actions(
        self, path: str, at: types.Range | None = None, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        """Return what can be done at a place (the whole first line, where none is given)."""
        at = types.Range(types.Position(0, 0), types.Position(0, 0)) if at is None else at
        context = types.CodeActionContext([], only)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(self.uri(path)), at, context)
        )
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    def apply(self, action: types.CodeAction) -> str:
        """Apply the edit of an action to the one file that it is for, as an editor does; returns the path."""
        assert action.edit is not None
        if action.edit.document_changes:
            (change,) = action.edit.document_changes
            assert isinstance(change, types.TextDocumentEdit)
            uri, edits, version = change.text_document.uri, change.edits, change.text_document.version
        else:
            ((uri, edits),) = (action.edit.changes or {}).items()
            version = None
        path = next(path for path in self.texts if self.uri(path) == uri)
        assert version in (None, self.versions[path])
        text = self.texts[path]
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            start, end = self.offset(text, edit.range.start), self.offset(text, edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        self.type(path, text)
        return path

    def offset(self, text: str, position: types.Position) -> int:
        """Return where in a text a position of the protocol is, in the units that were agreed on."""
        lines = text.split("\n")
        units = lines[position.line].encode(f"{self.encoding}-le" if self.encoding != "utf-8" else "utf-8")
        width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[self.encoding]
        name = self.encoding if width == 1 else f"{self.encoding}-le"
        column = len(units[: position.character * width].decode(name))
        return sum(len(line) + 1 for line in lines[: position.line]) + column

    def marked(self, path: str, diagnostic: types.Diagnostic) -> str:
        """Return the text that a diagnostic marks."""
        text, place = self.texts[path], diagnostic.range
        return text[self.offset(text, place.start) : self.offset(text, place.end)]

    async def hover(self, path: str, line: int, character: int) -> types.MarkupContent | None:
        """Return what is shown where the mouse rests."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(self.uri(path)), types.Position(line, character))
        )
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return None if found is None else found.contents


@asynccontextmanager
async def editing(
    root: Path, options: Any = None, encoding: str = "utf-16", like: str = "visual-studio-code"
) -> AsyncIterator[Editor]:
    """Start a server and a client that behaves ``like`` an editor; end both in the order that the protocol has."""
    editor = Editor(root, encoding)
    capabilities = client_capabilities(like)
    if encoding != "utf-16":
        capabilities.general = types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(encoding)]
        )
    await editor.client.start_io(sys.executable, "-m", "automodel_lint", "server", cwd=str(root.parent))
    params = types.InitializeParams(
        capabilities, process_id=os.getpid(), root_uri=root.as_uri(), initialization_options=options
    )
    await editor.client.initialize_session(params)
    try:
        yield editor
    finally:
        if editor.process.returncode is None:
            await asyncio.wait_for(editor.client.shutdown_session(), PATIENCE)
        await editor.client.stop()
