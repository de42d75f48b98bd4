"""What a rule proposes to write: a repair as plain data. Known to all rooms, knows none but ``findings``.

A repair is a list of steps, each about one place of the file that the finding points into. Rules build them with the
functions of this module; :mod:`automodel_lint.fixes` turns them into edits of the text when somebody wants to see
them. So a rule never touches text, and a run that nobody asks for repairs pays for none.

A *place* is where a statement begins: line and column from 1, in characters, of its ``class``, ``def`` or first word
(decorators stand before it). Texts are written with ``\\n`` and four spaces; the file's own line ends and indentation
are put in their stead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from automodel_lint.findings import Span

Place = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """One change; ``kind`` names the function of :mod:`automodel_lint.fixes` that makes it, of these ``arguments``."""

    kind: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Repair:
    """What mends a finding: a title in the imperative, and the steps, all in the file of the finding.

    ``unsafe`` marks a repair that wants a human look although those of its rule usually do not.
    """

    title: str
    steps: tuple[Step, ...]
    unsafe: bool = False

    def to_json(self) -> list[Any]:
        """Return what :meth:`from_json` takes."""
        return [self.title, self.unsafe, [[step.kind, *step.arguments] for step in self.steps]]

    @classmethod
    def from_json(cls, data: list[Any] | None) -> Repair | None:
        """Inverse of :meth:`to_json`; raises ``ValueError`` or ``TypeError`` on damage."""
        if data is None:
            return None
        title, unsafe, steps = data
        return cls(title, tuple(Step(kind, tuple(map(_frozen, arguments))) for kind, *arguments in steps), unsafe)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def repair(title: str, *steps: Step | None, unsafe: bool = False) -> Repair:
    """Return a repair; steps that are ``None`` (nothing to import) are left out."""
    return Repair(title, tuple(step for step in steps if step is not None), unsafe)


def place_of(span: Span) -> Place:
    """Return where a span begins."""
    return span.line, span.column


def _plain(span: Span) -> tuple[int, int, int, int]:
    return span.line, span.column, span.end_line, span.end_column


# -- text -----------------------------------------------------------------------------------------------------------


def replace_text(span: Span, text: str) -> Step:
    """Write ``text`` in place of what ``span`` covers (an expression, a name, a comment)."""
    return Step("replace_text", (*_plain(span), text))


def text_before(span: Span, text: str) -> Step:
    """Write ``text`` in front of what ``span`` covers."""
    return replace_text(Span(span.line, span.column, span.line, span.column), text)


def text_behind(span: Span, text: str) -> Step:
    """Write ``text`` behind what ``span`` covers."""
    return replace_text(Span(span.end_line, span.end_column, span.end_line, span.end_column), text)


def remove_comment(span: Span) -> Step:
    """Take a comment out, with the blanks in front of it; a line that held nothing else goes with it."""
    return Step("remove_comment", _plain(span))


def append_line(text: str) -> Step:
    """Write a statement at the end of the module, two blank lines below what is there."""
    return Step("append_line", (text,))


def append_in_block(place: Place, text: str) -> Step:
    """Write a statement at the end of the block that the statement at a place stands in (the module, a branch)."""
    return Step("append_in_block", (*place, text))


# -- brackets ---------------------------------------------------------------------------------------------------------


def add_item(span: Span, text: str) -> Step:
    """Put an item at the end of the list, tuple, set or dict that ``span`` covers."""
    return Step("add_item", (*_plain(span), text))


def add_name(span: Span, name: str, value: str = "") -> Step:
    """Put a name, as a text, into the list that ``span`` covers, with a ``value`` into a dict; in order, if that is."""
    return Step("add_name", (*_plain(span), name, value))


def first_export(module: str, name: str) -> Step:
    """Write the import of a name of a module and an ``__all__`` of it into a file that has no statements."""
    return Step("first_export", (module, name))


def add_argument(span: Span, text: str) -> Step:
    """Put an argument at the end of the call that ``span`` covers."""
    return Step("add_argument", (*_plain(span), text))


def add_base(place: Place, text: str, first: bool) -> Step:
    """Put a base at the beginning of a class's bases, or behind the last one (before keywords)."""
    return Step("add_base", (*place, text, first))


def base_to_front(place: Place, index: int) -> Step:
    """Make the base with this ``index`` (from 0) of a class its first; the others keep their order."""
    return Step("base_to_front", (*place, index))


def add_parameters(place: Place, text: str) -> Step:
    """Put parameters at the end of a function's signature."""
    return Step("add_parameters", (*place, text))


def remove_parameters(place: Place, *names: str) -> Step:
    """Take parameters out of a function's signature; ``*`` is the one that sets keyword-only ones apart."""
    return Step("remove_parameters", (*place, *names))


# -- statements -------------------------------------------------------------------------------------------------------


def first_statement(place: Place, text: str) -> Step:
    """Make ``text`` the first statement of a function, behind its docstring and the imports that follow it."""
    return Step("first_statement", (*place, text))


def move_first(place: Place, statement: Place, text: str) -> Step:
    """Take a statement of a function away, with its comments, and write ``text`` as the first one in its stead."""
    return Step("move_first", (*place, *statement, text))


def add_member(place: Place, text: str, after: tuple[str, ...] = (), where: str = "top") -> Step:
    """Write ``text`` into a class body: behind the last of the names ``after`` that the body binds, else at ``where``.

    ``where`` is ``top`` (behind the docstring), ``methods`` (before the first method) or ``end``.
    """
    return Step("add_member", (*place, text, after, where))


def put_under(statement: Place, condition: str, count: int = 1) -> Step:
    """Put a simple statement, or ``count`` that follow each other in lines of their own, under ``if condition:``."""
    return Step("put_under", (*statement, condition, count))


def statement_below(statement: Place, text: str) -> Step:
    """Write statements on lines of their own directly below a simple one that has its line to itself."""
    return Step("statement_below", (*statement, text))


def replace_statement(statement: Place, text: str) -> Step:
    """Write statements in place of a simple one; several need it to have its line to itself."""
    return Step("replace_statement", (*statement, text))


def decorate(place: Place, text: str) -> Step:
    """Write ``@text`` directly above a class or function, below the decorators that it has."""
    return Step("decorate", (*place, text))


def import_name(module: str, name: str, package: str = "") -> Step:
    """See that ``name`` of ``module`` is imported: ``from module import name`` (``import module`` without a name).

    It joins an import from that module if there is one, else it is put among the imports where the order of the file
    has it. ``package`` is the package that the file lies in: its relative imports start there.
    """
    return Step("import_name", (module, name, package))
