"""The only door to the file system: text, syntax trees, an overlay for unsaved buffers, and what was read.

Whoever computes a verdict does so inside :meth:`SourceTree.recording`; the set it yields names everything that
was read or looked for, and :meth:`SourceTree.state` gives each name's present state, so that a kept verdict is
used again only while all of it is unchanged.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from automodel_lint.findings import Span
from automodel_lint.outlines import outline

try:  # hashlib pulls in OpenSSL, which costs more at start-up than hashing a whole package
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another Python implementation
    from hashlib import blake2b

Dep = tuple[str, ...]
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.M)


def digest(data: bytes) -> str:
    """Return a short content hash of ``data`` (32 hexadecimal digits)."""
    return blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True)
class ParseProblem:
    """Why a file has no syntax tree, and where the parser stopped (line and column from 1)."""

    reason: str
    line: int = 1
    column: int = 1


class SourceTree:
    """Files below and beside a checkout, as on disk or as an editor's unsaved buffers have them."""

    def __init__(self, root: str, overlay: Mapping[str, bytes] | None = None):
        self.root = os.path.abspath(root)
        self._overlay = {os.path.abspath(path): data for path, data in (overlay or {}).items()}
        self._bytes: dict[str, bytes | None] = {}
        self._entries: dict[str, list[str] | None] = {}
        self._digests: dict[str, str] = {}
        self._syntax: dict[str, ast.Module | ParseProblem | None] = {}
        self._lines: dict[str, list[str]] = {}
        self._recorders: list[set[Dep]] = []
        self._facts: dict[str, str] = {}
        self._outlines: dict[str, str] = {}

    # -- what was read ------------------------------------------------------------------------------------

    @contextmanager
    def recording(self) -> Iterator[set[Dep]]:
        """Yield a set that collects a name for everything read or looked for until the block ends."""
        deps: set[Dep] = set()
        self._recorders.append(deps)
        try:
            yield deps
        finally:
            self._recorders.pop()
            if self._recorders:
                self._recorders[-1] |= deps

    @contextmanager
    def outlining(self) -> Iterator[None]:
        """Take down of the Python files read until the block ends only what stands outside functions and classes."""
        recorders, self._recorders = self._recorders, [set()]
        try:
            yield
        finally:
            (deps,), self._recorders = self._recorders, recorders
            self.note(*(("outline", d[1]) if d[0] == "file" and d[1].endswith(".py") else d for d in deps))

    def note(self, *deps: Dep) -> None:
        """Record ``deps`` as read; for whoever answers from a memory of an earlier reading."""
        if self._recorders:
            self._recorders[-1].update(deps)

    @property
    def is_recording(self) -> bool:
        """Whether somebody takes down what is read."""
        return bool(self._recorders)

    def publish(self, name: str, value: str) -> None:
        """Make a computed text known under ``name``, so that verdicts may depend on it instead of on files."""
        self._facts[name] = digest(value.encode())

    def state(self, dep: Dep) -> str:
        """Return the present state of a recorded name; equal texts mean that nothing has changed there."""
        kind, *rest = dep
        if kind == "file":
            return self._digest(rest[0])
        if kind == "dir":
            return "\n".join(self.entries(rest[0]) or ["<none>"])
        if kind == "holds":
            return str(self.holds(rest[0], rest[1].encode()))
        if kind == "exists":
            return str(self.exists(rest[0]))
        if kind == "matches":
            return str(self.matches(rest[0], rest[1]))
        if kind == "outline":
            return self._outline(rest[0])
        return self._facts.get(rest[0], "")

    def is_still(self, dep: Dep, state: str) -> bool:
        """Tell whether the present state of a recorded name means the same as an earlier one."""
        if dep[0] != "outline":
            return self.state(dep) == state
        whole, _, essence = state.partition(" ")
        if whole == self._digest(dep[1]):  # then there is no need to parse it
            self._outlines[dep[1]] = state
            return True
        return self._outline(dep[1]).partition(" ")[2] == essence

    def _outline(self, path: str) -> str:
        """The content hash of a file, and that of its outline (of all of it, if it has no syntax tree)."""
        known = self._outlines.get(path)
        if known is None:
            whole = self._digest(path)
            with self.silently():
                syntax = self.syntax(path)
            is_parsed = isinstance(syntax, ast.Module)
            essence = digest(outline(self.lines(path), syntax).encode()) if is_parsed else f"broken:{whole}"
            known = self._outlines[path] = f"{whole} {essence}"
        return known

    def _digest(self, path: str) -> str:
        known = self._digests.get(path)
        if known is None:
            data = self.read(path)
            known = self._digests[path] = "" if data is None else digest(data)
        return known

    # -- files --------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; ``None`` if there is no readable file (missing, a folder, a dangling link)."""
        self.note(("file", path))
        if path not in self._bytes:
            data = self._overlay.get(path)
            if data is None:
                try:
                    with open(path, "rb") as stream:
                        data = stream.read()
                except (OSError, ValueError):
                    data = None
            self._bytes[path] = data
        return self._bytes[path]

    def exists(self, path: str) -> bool:
        """Tell whether there is a readable file, remembered as just that."""
        self.note(("exists", path))
        with self.silently():
            return self.read(path) is not None

    def holds(self, path: str, needle: bytes) -> bool:
        """Tell whether a file contains ``needle``: the cheap mark before a parse, remembered as just that."""
        self.note(("holds", path, needle.decode()))
        with self.silently():
            data = self.read(path)
        return data is not None and needle in data

    def matches(self, path: str, pattern: str) -> bool:
        """Tell whether something in a file's bytes matches a regular expression, remembered as just that."""
        self.note(("matches", path, pattern))
        with self.silently():
            data = self.read(path)
        return data is not None and re.search(pattern.encode(), data) is not None

    @contextmanager
    def silently(self) -> Iterator[None]:
        """Take down nothing that is read until the block ends, for who knows that it has been taken down."""
        recorders, self._recorders = self._recorders, []
        try:
            yield
        finally:
            self._recorders = recorders

    def entries(self, path: str) -> list[str] | None:
        """Return the sorted names in a folder, folders with a trailing slash; ``None`` if there is none."""
        self.note(("dir", path))
        if path not in self._entries:
            self._entries[path] = self._scanned(path)
        return self._entries[path]

    def _scanned(self, path: str) -> list[str] | None:
        try:
            with os.scandir(path) as found:
                names = {entry.name + "/" if entry.is_dir() else entry.name for entry in found}
        except OSError:
            names = set()
        prefix = path + os.sep
        names |= {p[len(prefix) :] for p in self._overlay if p.startswith(prefix) and os.sep not in p[len(prefix) :]}
        return sorted(names) or None

    def python_files(self, path: str) -> Iterator[str]:
        """Yield every ``.py`` file below a folder, in a stable order; caches and hidden folders are passed over."""
        for name in self.entries(path) or []:
            if name.endswith("/"):
                if not name.startswith((".", "__pycache__")) and not os.path.islink(os.path.join(path, name[:-1])):
                    yield from self.python_files(os.path.join(path, name[:-1]))
            elif name.endswith(".py"):
                yield os.path.join(path, name)

    # -- text and syntax ----------------------------------------------------------------------------------

    def lines(self, path: str) -> list[str]:
        """Return a file's lines as Python sees them, without line ends; empty if it cannot be read."""
        if path not in self._lines:
            self._lines[path] = split_lines(decoded(self.read(path) or b""))
        return self._lines[path]

    def lines_with(self, path: str, text: str) -> set[int]:
        """Return the numbers of the lines that contain ``text``."""
        return {number for number, line in enumerate(self.lines(path), 1) if text in line}

    def syntax(self, path: str) -> ast.Module | ParseProblem | None:
        """Return the syntax tree of a file, why it has none, or ``None`` if there is no readable file."""
        self.note(("file", path))
        if path not in self._syntax:
            data = self.read(path)
            self._syntax[path] = None if data is None else parsed(data)
        return self._syntax[path]

    def give_up(self, path: str, reason: str) -> None:
        """Treat a file as one that cannot be parsed."""
        self._syntax[path] = ParseProblem(reason)

    def relative(self, path: str) -> str:
        """Return ``path`` as findings show it: relative to the root with forward slashes, if it lies below."""
        if path.startswith(self.root + os.sep):
            path = path[len(self.root) + 1 :]
        return path.replace(os.sep, "/")

    def absolute(self, path: str) -> str:
        """Inverse of :meth:`relative`."""
        return os.path.normpath(os.path.join(self.root, path))

    def span(self, path: str, node: ast.AST) -> Span:
        """Return where ``node`` stands in its file, in characters (syntax trees count bytes)."""
        lines = self.lines(path)

        def column(line: int, offset: int) -> int:
            text = lines[line - 1] if 0 < line <= len(lines) else ""
            return 1 + (offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")))

        start, end = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return Span(
            start,
            column(start, node.col_offset),  # type: ignore[attr-defined]
            end,
            column(end, node.end_col_offset or node.col_offset),  # type: ignore[attr-defined]
        )

    def text_at(self, path: str, span: Span) -> str:
        """Return the text that a span covers, its lines joined by ``\\n``; empty behind the end of the file."""
        lines = self.lines(path)[span.line - 1 : span.end_line]
        if lines:
            lines[-1] = lines[-1][: span.end_column - 1]
            lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    def name_span(self, path: str, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
        """Return where the name of a class or function definition stands."""
        lines = self.lines(path)
        text = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
        match = re.search(rf"\b(?:class|def)\s+({re.escape(node.name)})\b", text[node.col_offset :])
        if match is None:
            return Span(node.lineno, node.col_offset + 1, node.lineno, len(text) + 1)
        start = node.col_offset + match.start(1) + 1
        return Span(node.lineno, start, node.lineno, start + len(node.name))


def decoded(data: bytes) -> str:
    """Decode source text by its own encoding line or byte order mark; damage shows as replacement characters."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:].decode("utf-8", "replace")
    match = _CODING.search(b"\n".join(data.split(b"\n", 2)[:2]))
    if match:
        try:
            return data.decode(match[1].decode(), "replace")
        except LookupError:
            pass
    return data.decode("utf-8", "replace")


def encoded(text: str) -> bytes:
    """Encode source text so that :func:`decoded` gives it back (by its own encoding line, if it has a usable one)."""
    match = _CODING.search(b"\n".join(text[:400].encode("utf-8", "replace").split(b"\n", 2)[:2]))
    try:
        return text.encode(match[1].decode() if match else "utf-8")
    except (LookupError, UnicodeEncodeError):
        return text.encode("utf-8", "surrogateescape")


def split_lines(text: str) -> list[str]:
    """Split at the line ends that Python's tokenizer knows (not at form feeds, as ``str.splitlines`` does)."""
    return re.split(r"\r\n|\r|\n", text)


def parsed(data: bytes) -> ast.Module | ParseProblem:
    """Parse source text; never raises on bad input."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except SyntaxError as error:
        return ParseProblem(error.msg or "invalid syntax", error.lineno or 1, max(error.offset or 1, 1))
    except (ValueError, LookupError) as error:
        return ParseProblem(str(error))
    except (RecursionError, MemoryError):
        return ParseProblem("nested too deeply for the parser")


def remembered(function: Callable) -> Callable:
    """Memoise a method of an object with a ``tree``, replaying what the first call read to whoever asks again."""

    attribute = f"_memo_{function.__name__}_{id(function)}"  # other modules have functions of the same name

    def method(self, *args):  # type: ignore[no-untyped-def]
        memo = self.__dict__.setdefault(attribute, {})
        known = memo.get(args)
        if known is None:
            with self.tree.recording() as deps:
                value = function(self, *args)
            known = memo[args] = (value, frozenset(deps))
        else:
            self.tree.note(*known[1])
        return known[0]

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method
