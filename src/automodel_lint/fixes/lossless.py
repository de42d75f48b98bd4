"""The lossless tree of libcst beside the syntax tree: how to get to a statement, and what rewriting it changes.

libcst nests as the syntax tree does, but has a node for each line of simple statements, and one for a body that
stands in the line of its header. Only the nodes on the way to a place are made anew, so nothing else can change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any

from automodel_lint.fixes.draft import Change, Draft, NotEditable

Way = tuple[tuple[str, "int | None"], ...]  # fields, each with an index where it holds a sequence
Rewrite = Callable[[Any], Any]


def parsed(draft: Draft, text: str) -> list[Any]:
    """Parse statements, written with ``\\n`` and four spaces, as the file would have them."""
    import libcst as cst

    config = cst.PartialParserConfig(default_indent=draft.indent, default_newline=draft.newline)
    return list(cst.parse_module(draft.laid_out(text) + draft.newline, config).body)


def get(node: Any, way: Way) -> Any:
    """Return what lies at the end of a way."""
    for field, index in way:
        node = getattr(node, field)
        node = node if index is None else node[index]
    return node


def rewritten_at(node: Any, way: Way, rewrite: Rewrite) -> Any:
    """Return a node with what lies at the end of the way rewritten; all that is not on the way stays the same."""
    if not way:
        return rewrite(node)
    (field, index), *rest = way
    child = getattr(node, field)
    if index is None:
        return node.with_changes(**{field: rewritten_at(child, tuple(rest), rewrite)})
    new = [*child[:index], rewritten_at(child[index], tuple(rest), rewrite), *child[index + 1 :]]
    return node.with_changes(**{field: new})


def rewritten(draft: Draft, node: ast.stmt, rewrite: Rewrite) -> list[Change]:
    """Return what changes in the text if the libcst node of a compound statement is rewritten."""
    part = draft.part(node)
    module = rewritten_at(part.module, _way(part.syntax, part.module, node), rewrite)
    code = part.module.code
    changes = carried_over(differences(code, module.code), differences(code, part.text))
    return [Change(part.start + c.start, part.start + c.end, c.text) for c in changes]


def way_to(draft: Draft, outer: ast.stmt, target: ast.stmt) -> Way:
    """Return the way from the libcst node of a definition to that of a statement below it.

    To a simple statement it ends with the step to its line and the one inside the line.
    """
    part = draft.part(outer)
    return _way(outer, get(part.module, _way(part.syntax, part.module, outer)), target)


def _way(outer: ast.AST, tree: Any, target: ast.stmt) -> Way:
    for statement, way in _below(outer, tree):
        if statement is target:
            return way
    raise NotEditable("the statement is not where it was expected")


def _below(node: ast.AST, tree: Any) -> Iterator[tuple[ast.stmt, Way]]:
    """Yield every statement below a node with its way, side by side in the two trees."""
    for way, body, block in _blocks(node, tree):
        for step, statement, inner in _paired(body, block):
            yield statement, (*way, *step)
            if inner is not None:
                for deeper, rest in _below(statement, inner):
                    yield deeper, (*way, *step, *rest)


def _paired(body: list[ast.stmt], block: Any) -> Iterator[tuple[Way, ast.stmt, Any]]:
    """Yield the statements of a body with the way from the block, and the libcst node of a compound one."""
    import libcst as cst

    rest = iter(body)
    if isinstance(block, cst.SimpleStatementSuite):
        for number, _ in enumerate(block.body):
            yield (("body", number),), next(rest), None
        return
    for index, entry in enumerate(block.body):
        if isinstance(entry, cst.SimpleStatementLine):
            for number, _ in enumerate(entry.body):
                yield (("body", index), ("body", number)), next(rest), None
        else:
            yield (("body", index),), next(rest), entry


def _blocks(node: ast.AST, tree: Any) -> Iterator[tuple[Way, list[ast.stmt], Any]]:
    """Yield the bodies of a compound statement (or the module) with their libcst blocks and the ways to them."""
    import libcst as cst

    if isinstance(node, ast.Module):
        yield (), node.body, tree
        return
    if isinstance(node, ast.Match):
        for number, case in enumerate(node.cases):
            yield (("cases", number), ("body", None)), case.body, tree.cases[number].body
        return
    yield (("body", None),), node.body, tree.body  # type: ignore[attr-defined]
    for number, handler in enumerate(getattr(node, "handlers", ())):
        yield (("handlers", number), ("body", None)), handler.body, tree.handlers[number].body
    orelse = getattr(node, "orelse", None)
    if orelse and isinstance(tree.orelse, cst.If):  # ``elif`` is an ``if`` in the place of ``else``
        yield from (((("orelse", None), *way), body, block) for way, body, block in _blocks(orelse[0], tree.orelse))
    elif orelse:
        yield (("orelse", None), ("body", None)), orelse, tree.orelse.body
    final = getattr(node, "finalbody", None)
    if final:
        yield (("finalbody", None), ("body", None)), final, tree.finalbody.body


# -- texts ----------------------------------------------------------------------------------------------------------


def carried_over(changes: list[Change], losses: list[Change]) -> list[Change]:
    """Return the changes of a text that has losses as changes of the text that making ``losses`` gives.

    Raises:
        NotEditable: if one begins or ends in what is not there in both.
    """
    if not losses:
        return changes

    def moved(offset: int) -> int:
        shift = 0
        for loss in losses:
            if offset <= loss.start:
                break
            if offset < loss.end:
                raise NotEditable("libcst does not give back what is to be changed")
            shift += len(loss.text) - (loss.end - loss.start)
        return offset + shift

    return [Change(moved(change.start), moved(change.end), change.text) for change in changes]


def differences(old: str, new: str) -> list[Change]:
    """Return the changes that make one text another: whole lines, trimmed to what really differs in them."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    offset = sum(map(len, before[:head]))
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    starts = [offset]
    for line in before:
        starts.append(starts[-1] + len(line))
    changes = []
    for kind, first, last, new_first, new_last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        was, new = before[first:last], after[new_first:new_last]
        if len(was) != len(new):
            was, new = ["".join(was)], ["".join(new)]
        for number, (line, other) in enumerate(zip(was, new, strict=True), first):
            if line != other:
                changes.append(_trimmed(starts[number], line, other))
    return changes


def _trimmed(start: int, old: str, new: str) -> Change:
    if not old or not new:
        return Change(start, start + len(old), new)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return Change(start + head, start + len(old) - tail, new[head : len(new) - tail])


def _common(first: list[str] | str, second: list[str] | str) -> int:
    """Return how many items two sequences begin with alike."""
    return next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
