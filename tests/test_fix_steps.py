"""Steps of repairs where the layout is in the way: what the generated files of ``test_fix_layouts.py`` have shown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from automodel_lint import repairs
from automodel_lint.findings import Span
from automodel_lint.fixes.draft import Draft, NotEditable
from automodel_lint.fixes.edits import applied, changes_of
from automodel_lint.repairs import Step, repair

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def made(text: str, step: Step | Callable[[str], Step]) -> str:
    """Return a text with a step made; it may depend on the text."""
    draft = Draft(text.encode())
    step = step if isinstance(step, Step) else step(text)
    return applied(draft.text, changes_of(draft, repair("Change it", step)))


def at(word: str, make: Callable[..., Step], *arguments: Any) -> Callable[[str], Step]:
    """A step at the place where a word stands first."""

    def step(text: str) -> Step:
        before = text[: text.index(word)]
        return make((before.count("\n") + 1, len(before) - before.rfind("\n")), *arguments)

    return step


def over(covered: str, make: Callable[..., Step], *arguments: Any) -> Callable[[str], Step]:
    """A step about a piece of a line."""

    def step(text: str) -> Step:
        before = text[: text.index(covered)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return make(Span(line, column, line, column + len(covered)), *arguments)

    return step


FIRST = at("def f", repairs.first_statement, "guard()")
UNDER = at("tie()", repairs.put_under, "self.tied")
IMPORT = repairs.import_name("acme.tying", "guard", "acme.models")

CASES = {
    "form-feeds-stay": (
        "x = 1\n\f\n\fdef f():\n    \f\n    return 1\n",
        FIRST,
        "x = 1\n\f\n\fdef f():\n    guard()\n    \f\n    return 1\n",
    ),
    "blanks-that-libcst-loses-stay": (
        "def f():\n    try :\n        x\n    except A :\n        y\n",
        FIRST,
        "def f():\n    guard()\n    try :\n        x\n    except A :\n        y\n",
    ),
    "bytes-are-no-docstring": ('def f():\n    b"x"\n', FIRST, 'def f():\n    guard()\n    b"x"\n'),
    "imports-stay-first-behind-a-docstring-in-their-line": (
        'def f(): "doc"; import os\n',
        FIRST,
        'def f():\n    "doc"\n    import os\n    guard()\n',
    ),
    "under-a-condition-in-the-line-of-a-header": (
        "class A:\n  def f(self): x; tie(); y  # why\n",
        UNDER,
        "class A:\n  def f(self):\n    x\n    if self.tied:\n      tie()\n    y  # why\n",
    ),
    "under-a-condition-behind-else": (
        "def f(self):\n\tif x: pass\n\telse: tie()  # why\n",
        UNDER,
        "def f(self):\n\tif x: pass\n\telse:\n\t\tif self.tied:\n\t\t\ttie()  # why\n",
    ),
    "moved-out-of-the-line-of-a-header": (
        "def f(self):\n    if x: check()  # why\n",
        lambda text: repairs.move_first((1, 1), (2, 11), "check()"),
        "def f(self):\n    check()\n    if x: pass  # why\n",
    ),
    "body-of-its-own-as-the-file-indents": (
        'class A:\n\tx = 1\nclass B: """Doc."""',
        at("class B", repairs.add_member, "y = 1"),
        'class A:\n\tx = 1\nclass B:\n\t"""Doc."""\n\n\ty = 1',
    ),
    "comments-above-a-blank-line-stay-when-a-statement-moves": (
        "def f(self):\n    x\n    # of x\n\n    # of check\n    check()\n    y\n",
        lambda text: repairs.move_first((1, 1), (6, 5), "check()"),
        "def f(self):\n    # of check\n    check()\n    x\n    # of x\n\n    y\n",
    ),
    "several-lines-below-a-statement": (
        "def f():\n  x  # why\n",
        at("x", repairs.statement_below, "if y:\n    z"),
        "def f():\n  x  # why\n  if y:\n    z\n",
    ),
    "decorated-behind-a-form-feed": (
        "x\n\fclass A:\n    y = 1\n",
        at("class", repairs.decorate, "final"),
        "x\n\f@final\nclass A:\n    y = 1\n",
    ),
    "appended-below-the-whole-of-a-line": (
        "if x:\n  y; z = (\n  1)  # why\nw\n",
        at("y", repairs.append_in_block, "added"),
        "if x:\n  y; z = (\n  1)  # why\n  added\nw\n",
    ),
    "import-below-a-line-of-several-statements": (
        'import os; x = """\nno\n"""\n',
        IMPORT,
        'import os; x = """\nno\n"""\n\nfrom acme.tying import guard\n',
    ),
    "import-not-above-the-docstring-of-its-line": (
        '"""doc\n"""; import zlib\n',
        repairs.import_name("os", "path"),
        '"""doc\n"""; import zlib\nfrom os import path\n',
    ),
    "import-above-decorators": (
        "# what\n@final\nclass A: pass\n",
        IMPORT,
        "# what\nfrom acme.tying import guard\n\n@final\nclass A: pass\n",
    ),
    "import-not-joined-to-one-below-what-may-need-it": (
        "class A: pass\nfrom acme.tying import x\n",
        IMPORT,
        "from acme.tying import guard\n\nclass A: pass\nfrom acme.tying import x\n",
    ),
    "item-behind-the-comma-of-a-tuple": ("x = 1,\n", over("1,", repairs.add_item, "2"), "x = 1, 2\n"),
    "commas-of-a-lambda-part-nothing": (
        "def f(a, b=lambda x, y: 0, c=1): pass\n",
        at("def", repairs.remove_parameters, "b"),
        "def f(a, c=1): pass\n",
    ),
    "comment-between-parameters-that-go": (
        "def f(\n    a,\n    b,  # of b\n    c,\n    d,\n): pass\n",
        at("def", repairs.remove_parameters, "b", "c"),
        "def f(\n    a,\n    # of b\n    d,\n): pass\n",
    ),
    "parameter-goes-with-its-line": (
        "def f(\n    a,\n    # of b\n    b,\n): pass\n",
        at("def", repairs.remove_parameters, "b"),
        "def f(\n    a,\n    # of b\n): pass\n",
    ),
}


@pytest.mark.parametrize(("text", "step", "expected"), CASES.values(), ids=CASES)
def test_step(text: str, step: Step | Callable[[str], Step], expected: str) -> None:
    assert made(text, step) == expected
    windows = made(text.replace("\n", "\r\n"), step if isinstance(step, Step) else step(text))
    assert windows == expected.replace("\n", "\r\n")


def test_module_that_is_imported_is_not_imported_again() -> None:
    with pytest.raises(NotEditable, match="changes nothing"):
        made("import torch, sys\n", repairs.import_name("torch", ""))


def test_nothing_is_appended_to_a_block_in_the_line_of_its_header() -> None:
    with pytest.raises(NotEditable, match="line of its header"):
        made("for x in y: z\nw\n", at("z", repairs.append_in_block, "added"))


def test_name_that_a_later_statement_imports_is_not_imported_again() -> None:
    with pytest.raises(NotEditable, match="changes nothing"):
        made("from acme.tying import x\nfrom acme.tying import guard\n", IMPORT)


def test_compound_statement_goes_under_no_condition() -> None:
    with pytest.raises(NotEditable, match="simple"):
        made("def f():\n    if x: y\n", at("if", repairs.put_under, "z"))
