"""Every kind of step at a place of a file, with what it must do to the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from automodel_lint import repairs
from automodel_lint.findings import Span

from .bracket_steps import add_argument, add_base, add_item, add_parameters, base_to_front, remove_parameters
from .sites import Made, Site, mark
from .trees import FUNCTIONS, block_of, expression, has_docstring, is_filler, is_text, new

# -- text -----------------------------------------------------------------------------------------------------------


def replace_text(site: Site) -> Made | None:
    patterns = {id(n) for p in site.nodes if isinstance(p, ast.pattern) for n in ast.walk(p)}
    node = site.some(ast.Name, ast.Attribute, where=lambda n: isinstance(n.ctx, ast.Load) and id(n) not in patterns)
    if node is None or "#" in site.text_of(node) or "\n" in site.text_of(node):
        return None

    def expect() -> None:
        for outer in ast.walk(site.tree):
            for field, value in ast.iter_fields(outer):
                if value is node:
                    mark(outer)
                    setattr(outer, field, expression("new(type(self), [1])"))
                elif isinstance(value, list) and any(v is node for v in value):
                    mark(outer)
                    value[next(i for i, v in enumerate(value) if v is node)] = expression("new(type(self), [1])")

    return Made(repairs.replace_text(site.span(node), "new(type(self), [1])"), expect)


def append_line(site: Site) -> Made:
    def expect() -> None:
        site.tree.body += new("ModelClass = Appended")

    return Made(repairs.append_line("ModelClass = Appended"), expect)


def decorate(site: Site) -> Made | None:
    node = site.some(ast.ClassDef, *FUNCTIONS)
    if node is None:
        return None

    def expect() -> None:
        node.decorator_list.append(expression("dataclass(frozen=True)"))

    return Made(repairs.decorate(site.place(node), "dataclass(frozen=True)"), expect)


# -- statements -------------------------------------------------------------------------------------------------------

GUARD = "reject(type(self), config)"


def _lines(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    """The statements of a body by the lines that they share; a docstring is a line of its own."""
    lines: list[list[ast.stmt]] = []
    for index, statement in enumerate(body):
        shares = index > 0 and body[index - 1].end_lineno == statement.lineno
        if shares and not (index == 1 and is_text(body[0])):
            lines[-1].append(statement)
        else:
            lines.append([statement])
    return lines


def _first_index(body: list[ast.stmt], moved: ast.stmt | None = None) -> int:
    """Where the first statement goes when ``moved`` is away: behind the docstring, and lines of imports."""
    lines = _lines(body)
    index = int(is_text(body[0]) and body[0] is not moved)
    for line in lines[index:]:
        if not all(isinstance(s, (ast.Import, ast.ImportFrom)) or s is moved for s in line):
            break
        index += len(line)
    return index


def first_statement(site: Site) -> Made | None:
    node = site.some(*FUNCTIONS)
    if node is None:
        return None
    text = site.chance.choice([GUARD, "if not READY:\n    raise ImportError"])

    ahead = node.body[: _first_index(node.body)]

    def expect() -> None:
        index = node.body.index(ahead[-1]) + 1 if ahead else 0
        node.body[index:index] = new(text)

    return Made(repairs.first_statement(site.place(node), text), expect)


def _own(node: Any) -> list[Any]:
    """The statements of a function, in whatever block, without those of what it defines."""
    found = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            found.append(child)
        if not isinstance(child, (ast.expr, ast.ClassDef, *FUNCTIONS)):
            found += _own(child)
    return found


def _is_simple(statement: Any) -> bool:
    return not hasattr(statement, "body") and not isinstance(statement, ast.Match)


def move_first(site: Site) -> Made | None:
    function = site.some(*FUNCTIONS)
    if function is None:
        return None
    simple = [s for s in _own(function) if _is_simple(s) and isinstance(s, (ast.Expr, ast.Assign))]
    simple = [s for s in simple if not (s is function.body[0] and has_docstring(function))]
    if not simple:
        return None
    moved = site.chance.choice(simple)

    def expect() -> None:
        body, _ = block_of(site.tree, moved)
        first = _first_index(function.body, moved)
        function.body[first:first] = new(GUARD)
        body.remove(moved)

    inner = "a comment in it" if "#" in site.text_of(moved) else ""
    return Made(
        repairs.move_first(site.place(function), site.place(moved), GUARD), expect, moves=True, may_refuse=inner
    )


def add_member(site: Site) -> Made | None:
    node = site.some(ast.ClassDef)
    if node is None:
        return None
    text = site.chance.choice(["keep = ['a']", "keep: list = ['a']\nkept = keep", "def tie(self):\n    return self.x"])
    bound = [s.name for s in node.body if isinstance(s, (ast.ClassDef, *FUNCTIONS))]
    after = tuple(site.chance.sample(bound, 1)) if bound and site.chance.random() < 0.4 else ()
    where = site.chance.choice(["top", "methods", "end"])

    def expect() -> None:
        index = _member_index(node, after, where)
        while 0 < index < len(node.body) and _share_line(node.body[index - 1], node.body[index]):
            index += 1  # a line is not parted
        node.body[index:index] = new(text)

    return Made(repairs.add_member(site.place(node), text, after, where), expect)


def _share_line(first: ast.stmt, second: ast.stmt) -> bool:
    return first.end_lineno == second.lineno


def _member_index(node: ast.ClassDef, after: tuple[str, ...], where: str) -> int:
    named = [i for i, s in enumerate(node.body) if getattr(s, "name", None) in after]
    if named:
        return named[-1] + 1
    if where == "end":
        return len(node.body)
    if where == "methods":
        return next((i for i, s in enumerate(node.body) if isinstance(s, FUNCTIONS)), len(node.body))
    return int(has_docstring(node))


def _some_simple(site: Site) -> Any:
    """A simple statement of a function; no import, which another step may take as a landmark."""
    functions = [n for n in site.nodes if isinstance(n, FUNCTIONS)]
    found = [
        s
        for f in functions
        for s in _own(f)
        if _is_simple(s) and not is_filler(s) and not (s is f.body[0] and has_docstring(f))
    ]
    found = [s for s in found if not isinstance(s, (ast.Import, ast.ImportFrom))]
    return site.chance.choice(found) if found else None


def put_under(site: Site) -> Made | None:
    node = _some_simple(site)
    if node is None:
        return None

    def expect() -> None:
        (condition,) = new("if self.tied and not x: pass")
        body, index = block_of(site.tree, node)
        condition.body = [node]
        body[index] = condition

    return Made(repairs.put_under(site.place(node), "self.tied and not x"), expect)


_STATEMENTS = ["added = 1", "if self.tied:\n    self.tie()"]


def statement_below(site: Site) -> Made | None:
    node = _some_simple(site)
    if node is None:
        return None
    text = site.chance.choice(_STATEMENTS)

    def expect() -> None:
        body, index = block_of(site.tree, node)
        body[index + 1 : index + 1] = new(text)

    return Made(repairs.statement_below(site.place(node), text), expect, may_refuse=_not_alone(site, node))


def replace_statement(site: Site) -> Made | None:
    node = _some_simple(site)
    if node is None:
        return None
    text = site.chance.choice(_STATEMENTS)

    def expect() -> None:
        body, index = block_of(site.tree, node)
        body[index : index + 1] = new(text)

    inner = "a comment in it" if "#" in site.text_of(node) else ""
    return Made(
        repairs.replace_statement(site.place(node), text),
        expect,
        may_refuse=inner or ("\n" in text and _not_alone(site, node)) or "",
    )


def _not_alone(site: Site, node: Any) -> str:
    """Why a statement may not be parted from its line."""
    (first, column), (last, end) = site.place(node), site.places.end(node)
    before, behind = site.places.lines[first - 1][: column - 1], site.places.lines[last - 1][end - 1 :].strip()
    return "shares its line" if before.strip() or (behind and not behind.startswith("#")) else ""


def append_in_block(site: Site) -> Made | None:
    node = site.some(ast.stmt)
    if node is None:
        return None
    body, _ = block_of(site.tree, node)
    share = not site.begins_line(body[0]) or site.text_of(body[0]).startswith("elif")

    def expect() -> None:
        body.extend(new("added = 1"))

    return Made(
        repairs.append_in_block(site.place(node), "added = 1"), expect, may_refuse="shares its line" if share else ""
    )


def remove_comment(site: Site) -> Made | None:
    found = [t for t in site.comments if "coding" not in t.string]
    if not found:
        return None
    token = site.chance.choice(found)
    span = Span(token.start[0], token.start[1] + 1, token.end[0], token.end[1] + 1)
    return Made(repairs.remove_comment(span), lambda: None, loses=(token.string.rstrip(),))


def import_name(site: Site) -> Made:
    asked = site.chance.choice(
        [
            ("acme.parts.tying", "GUARD", "acme.models.oak"),
            ("acme.parts.mixins", "Mixin", "acme.models.oak"),
            ("acme.models.oak.layers", "delta", "acme.models.oak"),
            ("dataclasses", "dataclass", ""),
            ("torch", "", ""),
            ("acme.parts.a_module_with_a_long_name.in_a_package_with_a_long_name", "a_name_that_is_long_as_well", "x"),
        ]
    )
    # What the tree must be is for ``judge`` to say: the name can be in many places.
    return Made(repairs.import_name(*asked), lambda: None, may_refuse="it may be there")


KINDS: dict[str, Callable[[Site], Made | None]] = {
    f.__name__: f
    for f in (
        replace_text,
        remove_comment,
        append_line,
        append_in_block,
        decorate,
        add_item,
        add_argument,
        add_base,
        base_to_front,
        add_parameters,
        remove_parameters,
        first_statement,
        move_first,
        add_member,
        put_under,
        statement_below,
        replace_statement,
        import_name,
    )
}
