"""The language server: what the protocol asks for, and what is published."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from automodel_lint import __version__
from automodel_lint.findings import Finding
from automodel_lint.integrations.language_server import actions, diagnostics, hover
from automodel_lint.integrations.language_server.checkouts import Checkouts, Document, Job, Trouble
from automodel_lint.integrations.language_server.files import Superseded
from automodel_lint.integrations.language_server.live import Outcome
from automodel_lint.integrations.language_server.positions import Positions
from automodel_lint.integrations.language_server.schedule import Schedule
from automodel_lint.integrations.language_server.settings import SECTION, BadSetting, Settings

SETTINGS_FILES = ("automodel-lint.toml", "pyproject.toml")
WATCHED = (
    "**/*.py",
    "**/*.yaml",
    "**/*.yml",
    *(f"**/{name}" for name in SETTINGS_FILES),
    "**/automodel-lint-baseline.json",
)
_PATIENCE = 3.0  # seconds that a request waits for the verdict on what was just typed


@dataclass
class _Shown:
    """What a document shows, and the text it was found in."""

    text: str
    version: int | None
    findings: list[Finding]
    is_exact: bool
    sent: list[types.Diagnostic]


class Server(LanguageServer):
    """Publishes findings for open files, and says what can be done about them."""

    def __init__(self) -> None:
        # The whole text each time: pygls counts lines at form feeds, and would put increments in the wrong place.
        super().__init__(SECTION, __version__, types.TextDocumentSyncKind.Full)
        self.settings = Settings()
        self.checkouts = Checkouts()
        self.schedule = Schedule(self._job, self._lint)
        self.requests = ThreadPoolExecutor(1, "automodel-lint-requests")
        self._shown: dict[str, _Shown] = {}
        self._said: set[str] = set()
        self._troubled: set[str] = set()
        self._edited, self._looks_again = "", True
        self.was_shut_down = False  # in the order that the protocol has it

    # -- in the loop --------------------------------------------------------------------------------------------------

    def changed(self, uri: str, delay: float | None = None) -> None:
        """Lint soon, the file first that ``uri`` names; everything anew about files on disk with a ``delay``."""
        self._edited = (to_fs_path(uri) if uri.startswith("file:") else None) or ""
        self._looks_again = self._looks_again or delay is not None
        self.schedule.ask(delay)

    def closed(self, uri: str) -> None:
        """Take a document's diagnostics away."""
        self._shown.pop(uri, None)
        self._publish(uri, [], None)
        self.changed(uri, 0.0)

    def configure(self, data: Any) -> None:
        """Take over settings of the editor; wrong ones are named, and leave the old ones in force."""
        try:
            self.settings = Settings.read(data)
        except BadSetting as error:
            self.say(str(error), types.MessageType.Error)

    def say(self, text: str, kind: types.MessageType) -> None:
        """Show a message, once until what it is about is gone."""
        if text not in self._said:
            self._said.add(text)
            self.window_show_message(types.ShowMessageParams(kind, f"automodel-lint: {text}"))

    def documents(self) -> list[Document]:
        """Return the open documents that are files."""
        found = []
        for document in self.workspace.text_documents.values():
            path = to_fs_path(document.uri) if document.uri.startswith("file:") else None
            if path is not None and path.endswith((".py", ".toml", ".yaml", ".yml")):
                found.append(Document(document.uri, path, document.version, document.source))
        return found

    def positions(self, text: str) -> Positions:
        """Return the places of a text, as the client counts."""
        return Positions(text, self.workspace.position_codec)

    async def exact(self, uri: str) -> _Shown | None:
        """Return what a document shows, once it is the verdict on the present text; ``None`` if that takes too long."""
        await self.schedule.rest(_PATIENCE)
        shown, document = self._shown.get(uri), self.workspace.text_documents.get(uri)
        if shown is None or document is None or not shown.is_exact or shown.text != document.source:
            return None
        return shown

    def showing(self, uri: str) -> list[Finding]:
        """Return what a document shows, if that is about its present text."""
        shown = self._shown.get(uri)
        document = self.workspace.text_documents.get(uri)
        return shown.findings if shown and document and shown.text == document.source else []

    def _job(self) -> Job:
        job = Job(self.documents(), self.settings, self._edited, self._looks_again)
        self._looks_again = False
        return job

    def _show(self, documents: Sequence[Document], outcome: Outcome) -> None:
        for document in documents:
            now = self.workspace.text_documents.get(document.uri)
            if now is None or now.version != document.version or now.source != document.text:
                continue  # a newer edit is under way, or it was closed (and perhaps opened again)
            findings = outcome.findings.get(document.path, [])
            places = self.positions(document.text)
            sent = [diagnostics.diagnostic(f, places) for f in findings]
            known = self._shown.get(document.uri)
            is_exact = document.path in outcome.exact
            self._shown[document.uri] = _Shown(document.text, document.version, findings, is_exact, sent)
            if known is None or known.version != document.version or known.sent != sent:
                self._publish(document.uri, sent, document.version)

    def _publish(self, uri: str, sent: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, sent, version))

    def _complain(self, documents: Sequence[Document], troubles: list[Trouble]) -> None:
        """Say what is wrong with settings, and mark the place where the file is open."""
        texts = {trouble.text for trouble in troubles}
        self._said -= self._troubled - texts
        self._troubled = texts
        for trouble in troubles:
            self.say(trouble.text, types.MessageType.Error)
            for document in documents:
                if document.path == trouble.path:
                    place = diagnostics.of_settings(trouble.line, trouble.message, self.positions(document.text))
                    self._shown[document.uri] = _Shown(document.text, document.version, [], False, [place])
                    self._publish(document.uri, [place], document.version)

    def _failed(self, error: BaseException) -> None:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))
        name = f"{type(error).__name__}: {error}"
        self.say(f"linting failed ({name}): please report it, with the log", types.MessageType.Error)

    # -- in the thread ------------------------------------------------------------------------------------------------

    def _lint(self, job: Job, superseded: Any) -> None:
        def tell(documents: Sequence[Document], outcome: Outcome) -> None:
            self.schedule.call(self._show, documents, outcome)

        try:
            troubles = self.checkouts.lint(job, tell, superseded)
        except Superseded:
            raise
        except BaseException as error:
            self.checkouts = Checkouts()  # whatever state it was left in
            self.schedule.call(self._failed, error)
            return
        self.schedule.call(self._complain, job.documents, troubles)

    def stop(self) -> None:
        """End all threads."""
        self.schedule.stop()
        self.requests.shutdown(wait=False, cancel_futures=True)


def make() -> Server:
    """Return a server, ready to be started."""
    server = Server()
    _documents(server)
    _questions(server)
    _settings(server)
    return server


def _documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.changed(params.text_document.uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.changed("", 0.1)  # a checkout of another branch changes many


def _questions(server: Server) -> None:
    options = types.CodeActionOptions(code_action_kinds=[*actions.KINDS])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        uri = params.text_document.uri
        shown = await server.exact(uri)
        if shown is None:
            return None
        places = server.positions(shown.text)
        span = places.place(params.range.start), places.place(params.range.end)
        text = actions.Text(uri, shown.version, shown.text, places, _takes_versions(server.client_capabilities))
        arguments = (text, shown.findings, span, params.context.only, server.settings.unsafe_fixes)
        return await asyncio.get_running_loop().run_in_executor(server.requests, actions.actions, *arguments)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        places = server.positions(server.workspace.get_text_document(uri).source)
        place = places.place(params.position)
        codes = hover.codes_at(places.lines[place[0] - 1], place, server.showing(uri))
        if not codes:
            return None
        return types.Hover(types.MarkupContent(_markup(server.client_capabilities), hover.text_of(codes)))


def _takes_versions(capabilities: types.ClientCapabilities) -> bool:
    workspace = capabilities.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    return edit is not None and bool(edit.document_changes)


def _markup(capabilities: types.ClientCapabilities) -> types.MarkupKind:
    document = capabilities.text_document
    hovering = document.hover if document is not None else None
    formats = (hovering.content_format if hovering is not None else None) or ()
    return types.MarkupKind.Markdown if types.MarkupKind.Markdown in formats else types.MarkupKind.PlainText


def _settings(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.configure(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration("automodel-lint-files", method, options)
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        data = params.settings
        workspace = server.client_capabilities.workspace
        if not data and workspace is not None and workspace.configuration:
            item = types.ConfigurationItem(section=SECTION)
            (data,) = await server.workspace_configuration_async(types.ConfigurationParams([item]))
        if data is not None:
            server.configure(data)
        server.changed("", 0.0)

    @server.feature(types.SHUTDOWN)
    def shut_down(params: None) -> None:
        server.was_shut_down = True
        server.stop()
