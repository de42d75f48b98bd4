"""Steps that move or add whole statements, on the lossless tree of libcst."""

from __future__ import annotations

import ast
from typing import Any

from automodel_lint.fixes.draft import Change, Draft, NotEditable
from automodel_lint.fixes.lossless import Rewrite, Way, get, parsed, rewritten, rewritten_at, way_to

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


# -- steps ----------------------------------------------------------------------------------------------------------


def first_statement(draft: Draft, line: int, column: int, text: str) -> list[Change]:
    """Make a text the first statement of a function, behind its docstring and the imports that follow it."""
    node = draft.statement(line, column, _FUNCTIONS)
    return rewritten(draft, node, lambda function: _opened(draft, function, text, (), None))


def move_first(draft: Draft, line: int, column: int, at_line: int, at_column: int, text: str) -> list[Change]:
    """Take a statement out of a function and write a text as its first one, with the comments of the old one."""
    node = draft.statement(line, column, _FUNCTIONS)
    moved = draft.statement(at_line, at_column)
    way = way_to(draft, node, moved)

    def rewrite(function: Any) -> Any:
        comments, trailing = _comments_of(function, way)
        return _opened(draft, _without(function, way), text, comments, trailing)

    return rewritten(draft, node, rewrite)


def add_member(draft: Draft, line: int, column: int, text: str, after: tuple[str, ...], where: str) -> list[Change]:
    """Write a text into a class body, behind what binds one of ``after``, else at ``where``."""
    node = draft.statement(line, column, ast.ClassDef)
    index = _member_index(node, after, where)
    return rewritten(draft, node, lambda cls: _with_member(draft, cls, text, index, bool(node.body[:index])))


def put_under(draft: Draft, line: int, column: int, condition: str, count: int = 1) -> list[Change]:
    """Put simple statements under a condition: one, or several that have lines of their own."""
    node = draft.statement(line, column)
    outer = _function_around(draft, node)
    way = way_to(draft, outer, node)
    return rewritten(
        draft, outer, lambda function: rewritten_at(function, way[:-2], _conditional(way, condition, count))
    )


def _function_around(draft: Draft, node: ast.stmt) -> ast.stmt:
    functions = [n for n in ast.walk(draft.syntax) if isinstance(n, _FUNCTIONS) and any(m is node for m in ast.walk(n))]
    if not functions:
        raise NotEditable("the statement stands in no function")
    return functions[-1]


def _is_line(statement: Any) -> bool:
    """Whether a libcst statement is a line of simple ones."""
    import libcst as cst

    return isinstance(statement, cst.SimpleStatementLine)


def _is_suite(body: Any) -> bool:
    """Whether a body stands in the line of its header."""
    import libcst as cst

    return isinstance(body, cst.SimpleStatementSuite)


def _indented(suite: Any) -> Any:
    """Give a body that stands in the line of its header lines of its own."""
    import libcst as cst

    if isinstance(suite, cst.IndentedBlock):
        return suite
    line = cst.SimpleStatementLine(suite.body, trailing_whitespace=suite.trailing_whitespace)
    return cst.IndentedBlock([line])


# -- first in a function --------------------------------------------------------------------------------------------


def _opened(draft: Draft, function: Any, text: str, comments: tuple[Any, ...], trailing: Any) -> Any:
    import libcst as cst

    body = _indented(function.body)
    statements = list(body.body)
    index = int(_is_documented(statements))
    if index and len(statements[0].body) > 1:
        statements[0:1] = _split_docstring(statements[0])
    while index < len(statements) and _is_import(statements[index]):
        index += 1
    (new,) = parsed(draft, text)
    new = new.with_changes(
        leading_lines=comments, **({"trailing_whitespace": trailing} if trailing is not None else {})
    )
    if index < len(statements) and index > 0:
        statements[index], blank = _after_blank(statements[index])
        new = new.with_changes(leading_lines=(*blank, *new.leading_lines))
    assert isinstance(body, cst.IndentedBlock)
    return function.with_changes(body=body.with_changes(body=[*statements[:index], new, *statements[index:]]))


def _is_documented(statements: list[Any]) -> bool:
    """Whether the first line of a body begins with a docstring."""
    return bool(statements) and _is_line(statements[0]) and _is_text(statements[0].body[0])


def _is_import(statement: Any) -> bool:
    """Whether a line has nothing but imports."""
    import libcst as cst

    return _is_line(statement) and all(isinstance(small, (cst.Import, cst.ImportFrom)) for small in statement.body)


def _is_text(small: Any) -> bool:
    import libcst as cst

    is_text = isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
    return is_text and isinstance(small.value.evaluated_value, str)


def _split_docstring(statement: Any) -> tuple[Any, Any]:
    """Part a docstring from what stands behind it in its line."""
    import libcst as cst

    first = statement.body[0].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    head = cst.SimpleStatementLine([first], leading_lines=statement.leading_lines)
    return head, statement.with_changes(body=statement.body[1:], leading_lines=())


def _after_blank(statement: Any) -> tuple[Any, tuple[Any, ...]]:
    """Take the blank lines above a statement, which then stand above what is written in front of it."""
    lines = list(statement.leading_lines)
    count = next((i for i, line in enumerate(lines) if line.comment is not None), len(lines))
    return statement.with_changes(leading_lines=lines[count:]), tuple(lines[:count])


# -- taking out -----------------------------------------------------------------------------------------------------


def _comments_of(function: Any, way: Way) -> tuple[tuple[Any, ...], Any]:
    """The comment lines directly above a statement that has its line to itself, and what trails it."""
    line = get(function, way[:-1])
    if not _is_line(line) or len(line.body) != 1:
        return (), None
    return tuple(_attached(line.leading_lines)[1]), line.trailing_whitespace


def _attached(lines: Any) -> tuple[list[Any], list[Any]]:
    """Part the lines above a statement: up to the last blank one, and the comments that touch the statement."""
    last = max((i for i, line in enumerate(lines) if line.comment is None), default=-1)
    return list(lines[: last + 1]), list(lines[last + 1 :])


def _without(function: Any, way: Way) -> Any:
    line = get(function, way[:-1])
    small_index = way[-1][1]
    assert small_index is not None
    is_suite = _is_suite(line)
    if not _is_line(line) and not is_suite:
        raise NotEditable("only a simple statement can be moved")
    if len(line.body) > 1 or is_suite:  # beside others in a line, or in that of a header
        return rewritten_at(function, way[:-1], lambda whole: _less_small(whole, small_index))
    index = way[-2][1]
    return rewritten_at(function, way[:-2], lambda block: _less_line(block, index))


def _less_small(line: Any, index: int) -> Any:
    import libcst as cst

    small = [s for i, s in enumerate(line.body) if i != index]
    if not small:
        small = [cst.Pass()]
    elif index == len(small):  # what is last now needs no semicolon
        small[-1] = small[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=small)


def _less_line(block: Any, index: int) -> Any:
    import libcst as cst

    line = block.body[index]
    body = [statement for i, statement in enumerate(block.body) if i != index]
    kept = _attached(line.leading_lines)[0]
    if not any(entry.comment is not None for entry in kept):  # blank lines still part what stands around
        follows = index < len(body) and not any(entry.comment is None for entry in body[index].leading_lines[:1])
        kept = kept if follows and index else []
    if not body:
        body = [cst.SimpleStatementLine([cst.Pass()], leading_lines=kept)]
    elif index < len(body):
        if index == 0 and not kept:
            body[0] = _after_blank(body[0])[0]
        body[index] = body[index].with_changes(leading_lines=(*kept, *body[index].leading_lines))
    elif kept:
        return block.with_changes(body=body, footer=(*kept, *block.footer))
    return block.with_changes(body=body)


# -- in a class -----------------------------------------------------------------------------------------------------


def _member_index(node: ast.ClassDef, after: tuple[str, ...], where: str) -> int:
    """Return the number of statements of a class body that a new one comes behind."""
    named = [i for i, statement in enumerate(node.body) if set(after) & set(_bound(statement))]
    if named:
        return named[-1] + 1
    if where == "end":
        return len(node.body)
    if where == "methods":
        return next((i for i, s in enumerate(node.body) if isinstance(s, _FUNCTIONS)), len(node.body))
    return int(bool(node.body) and ast.get_docstring(node, clean=False) is not None)


def _bound(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    return [*names, statement.name] if isinstance(statement, (ast.ClassDef, *_FUNCTIONS)) else names


def _with_member(draft: Draft, cls: Any, text: str, index: int, follows: bool) -> Any:
    import libcst as cst

    body = _indented(cls.body)
    statements = list(body.body)
    position, counted = 0, 0  # several statements of the syntax tree can stand in one line of libcst's
    while counted < index and position < len(statements):
        line = statements[position]
        counted += len(line.body) if isinstance(line, cst.SimpleStatementLine) else 1
        position += 1
    new = list(parsed(draft, text))
    is_definition = not isinstance(new[-1], cst.SimpleStatementLine)
    before = statements[position - 1] if follows and position else None
    needs_blank = before is not None and (is_definition or not _is_line(before) or _is_text(before.body[0]))
    new[0] = new[0].with_changes(leading_lines=(_blank(),) if needs_blank else ())
    if position < len(statements):
        behind = statements[position]
        has_blank = any(line.comment is None for line in behind.leading_lines[:1])
        if is_definition or not _is_line(behind):
            lines = behind.leading_lines if has_blank else (_blank(), *behind.leading_lines)
            statements[position] = behind.with_changes(leading_lines=lines)
        elif needs_blank and has_blank and all(line.comment is None for line in behind.leading_lines):
            statements[position] = behind.with_changes(leading_lines=())  # it is now above the new statement
    if _is_only_filler(statements):
        return cls.with_changes(body=body.with_changes(body=_in_place_of(statements[0], new)))
    return cls.with_changes(body=body.with_changes(body=[*statements[:position], *new, *statements[position:]]))


def _is_only_filler(statements: list[Any]) -> bool:
    """A body of ``pass`` or ``...`` alone."""
    import libcst as cst

    if len(statements) != 1 or not _is_line(statements[0]) or len(statements[0].body) != 1:
        return False
    small = statements[0].body[0]
    return isinstance(small, cst.Pass) or (isinstance(small, cst.Expr) and isinstance(small.value, cst.Ellipsis))


def _in_place_of(filler: Any, new: list[Any]) -> list[Any]:
    """New statements where ``pass`` stood; its comments stay, and it too if one trails it."""
    if filler.trailing_whitespace.comment is not None:
        return [filler, *new]
    return [new[0].with_changes(leading_lines=filler.leading_lines), *new[1:]]


def _blank() -> Any:
    import libcst as cst

    return cst.EmptyLine(indent=False)


# -- under a condition ------------------------------------------------------------------------------------------------


def _conditional(way: Way, condition: str, count: int) -> Rewrite:
    """Put statements of a block under a condition; the others of the first one's line get lines of their own."""
    import libcst as cst

    index, small_index = way[-2][1], way[-1][1]

    def rewrite(block: Any) -> Any:
        if index is None:  # the only line of a body that stands in the line of its header
            if not _is_suite(block.body):
                raise NotEditable("only a simple statement can be put under a condition")
            return block.with_changes(body=in_block(_indented(block.body), 0))
        return in_block(block, index)

    def in_block(block: Any, index: int) -> Any:
        line = block.body[index]
        if not _is_line(line) or small_index is None:
            raise NotEditable("only a simple statement can be put under a condition")
        more = block.body[index + 1 : index + count]
        if more and not all(_is_line(entry) and len(entry.body) == 1 for entry in (line, *more)):
            raise NotEditable("several statements in one line")
        before, after = line.body[:small_index], line.body[small_index + 1 :]
        one = line.body[small_index].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        inner = cst.SimpleStatementLine([one])
        inner = inner if after else inner.with_changes(trailing_whitespace=line.trailing_whitespace)
        lines: list[Any] = [
            cst.If(cst.parse_expression(condition), cst.IndentedBlock([inner, *more])),
        ]
        if before:
            last = before[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            lines.insert(0, cst.SimpleStatementLine([*before[:-1], last]))
        if after:
            lines.append(cst.SimpleStatementLine(after, trailing_whitespace=line.trailing_whitespace))
        lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
        return block.with_changes(body=[*block.body[:index], *lines, *block.body[index + count :]])

    return rewrite
