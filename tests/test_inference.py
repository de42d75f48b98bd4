"""Names, classes and values: what source means, whatever it looks like."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from automodel_lint.inference.bindings import collect, nodes_on
from automodel_lint.inference.classes import Classes, Unknown
from automodel_lint.inference.names import ClassEntity, Names, Scope
from automodel_lint.inference.values import Ref, Undecided, Values
from automodel_lint.source import SourceTree, remembered


class Code:
    """A few files, ready to be asked about."""

    def __init__(self, root: Path, files: dict[str, str], outside: dict[str, str] | None = None):
        for folder, texts in ((root / "in", files), (root / "out", outside or {})):
            for name, text in texts.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        (root / "out").mkdir(exist_ok=True)
        self.tree = SourceTree(str(root / "in"))
        self.names = Names(self.tree, [str(root / "in")], [str(root / "out")], ["library"])
        self.classes, self.values = Classes(self.names), Values(self.names)

    def expr(self, text: str, module: str = "m") -> tuple[ast.expr, Scope]:
        found = self.names.module(module)
        assert found is not None
        return ast.parse(text, mode="eval").body, Scope(found)

    def fqns(self, text: str, module: str = "m") -> set[str]:
        return self.names.fqns(*self.expr(text, module))

    def possible(self, text: str, module: str = "m") -> list[Any]:
        return self.values.possible(*self.expr(text, module))

    def cls(self, text: str, module: str = "m") -> ClassEntity:
        (found,) = self.names.resolve(*self.expr(text, module))
        assert isinstance(found, ClassEntity)
        return found

    def mro(self, text: str, module: str = "m") -> list[str]:
        return [a.fqn or "?" for a in self.classes.mro(self.cls(text, module))]


TIE = "from enum import Enum\nclass TieSupport(Enum):\n    BOTH = 1\n    UNTIED_ONLY = 2\n"


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("from tie import TieSupport\n", "TieSupport.BOTH"),
        ("from tie import TieSupport as T\n", "T.BOTH"),
        ("import tie\n", "tie.TieSupport.BOTH"),
        ("import tie as t\n", "t.TieSupport.BOTH"),
        ("from api import TieSupport\n", "TieSupport.BOTH"),
        ("from star import *\n", "TieSupport.BOTH"),
        ("from tie import TieSupport\nX = TieSupport\nY = X\n", "Y.BOTH"),
        ("from tie import TieSupport\nX: object = TieSupport.BOTH\n", "X"),
        ("try:\n    from tie import TieSupport\nexcept ImportError:\n    raise\n", "TieSupport.BOTH"),
        ("from tie import TieSupport\nclass C:\n    policy = TieSupport.BOTH\n", "C.policy"),
        ("from tie import TieSupport\nclass B:\n    policy = TieSupport.BOTH\nclass C(B): pass\n", "C.policy"),
        ("from tie import TieSupport\nclass C: pass\nC.policy = TieSupport.BOTH\n", "C.policy"),
        ("from package import tie as t\n", "t.TieSupport.BOTH"),
        ("from package.user import inherited\n", "inherited.BOTH"),
    ],
)
def test_every_way_to_one_definition(tmp_path: Path, source: str, expression: str):
    files = {
        "tie.py": TIE,
        "api.py": "from tie import TieSupport\n",
        "star.py": "from api import *\n",
        "package/__init__.py": "import tie\n",
        "package/user.py": "from ..tie import TieSupport as inherited\n",
        "m.py": source,
    }
    code = Code(tmp_path, files)
    assert code.fqns(expression) == {"tie.TieSupport.BOTH"}


def test_branches_stand_for_both_and_the_last_sure_binding_hides(tmp_path: Path):
    source = "x = 1\nif flag():\n    from a import X\nelse:\n    from b import X\n\nY = 1\nfrom c import Y\n"
    code = Code(tmp_path, {"m.py": source})
    assert code.fqns("X") == {"a.X", "b.X"}
    assert code.fqns("Y") == {"c.Y"}


def test_a_deleted_name_is_unbound(tmp_path: Path):
    code = Code(tmp_path, {"m.py": "from a import X\ndel X\n"})
    assert code.fqns("X") == {"builtins.X"}


def test_wrapping_keeps_what_was_wrapped(tmp_path: Path):
    code = Code(tmp_path, {"m.py": "def deco(c): return c\nclass X: pass\nX = deco(X)\n"})
    assert code.fqns("X") == {"m.X"}


def test_cycles_end(tmp_path: Path):
    files = {"m.py": "from n import X\nA = B\nB = A\n", "n.py": "from m import X\n"}
    code = Code(tmp_path, files)
    assert code.fqns("X") <= {"m.X", "n.X"}
    assert code.fqns("A") == set()


def test_followed_libraries_and_others(tmp_path: Path):
    outside = {
        "library/__init__.py": "from .core import Base\n",
        "library/core.py": "class Base: pass\n",
        "other.py": "class X: pass\n",
    }
    code = Code(tmp_path, {"m.py": "from library import Base\nfrom other import X\n"}, outside)
    assert code.fqns("Base") == {"library.core.Base"}
    assert code.fqns("X") == {"other.X"}
    assert isinstance(code.cls("Base"), ClassEntity)
    assert not isinstance(code.names.resolve(*code.expr("X"))[0], ClassEntity), "not followed"


def test_long_star_lists_are_searched_by_name(tmp_path: Path):
    stars = "".join(f"from .model_{i} import *\n" for i in range(30))
    outside = {"library/__init__.py": stars + "from .elm import *\n", "library/elm.py": "class ElmModel: pass\n"}
    outside |= {f"library/model_{i}.py": "X = 1\n" for i in range(30)}
    code = Code(tmp_path, {"m.py": "from library import ElmModel\n"}, outside)
    assert code.fqns("ElmModel") == {"library.elm.ElmModel"}
    parsed = [path for path in code.tree._syntax if "model_" in path]
    assert parsed == []


def test_mro_across_files_and_branches(tmp_path: Path):
    files = {
        "base.py": "class Root: pass\nclass Left(Root): pass\nclass Right(Root): pass\n",
        "m.py": (
            "from base import Left, Right\n"
            "try:\n    from transformers import HFModel\nexcept ImportError:\n    HFModel = object\n"
            "class C(Left, Right): pass\n"
            "class D(HFModel): pass\n"
            "class E(make(), Left): pass\n"
            "class F(Left, Generic[T]): pass\n"
        ),
    }
    code = Code(tmp_path, files)
    assert code.mro("C") == ["m.C", "base.Left", "base.Right", "base.Root"]
    assert code.mro("D") == ["m.D", "transformers.HFModel"]
    assert code.mro("E") == ["m.E", "?", "base.Left", "base.Root"]
    assert isinstance(code.classes.mro(code.cls("E"))[1], Unknown)
    assert code.mro("F")[:3] == ["m.F", "base.Left", "base.Root"]


def test_a_class_hierarchy_that_python_would_refuse(tmp_path: Path):
    code = Code(
        tmp_path, {"m.py": "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nclass X(Y): pass\nclass Y(X): pass\n"}
    )
    assert code.mro("C")[0] == "m.C"
    assert set(code.mro("C")) == {"m.A", "m.B", "m.C"}
    assert code.mro("X")[0] == "m.X"


@pytest.mark.parametrize(
    ("source", "is_stand_in"),
    [
        ("class X:\n    def __init__(self, *a):\n        raise ImportError('no')\n", True),
        (
            "class X:\n    '''Text.'''\n    y = 1\n    def __init__(self, *a):\n        '''T.'''\n        m = 'no'\n        raise ImportError(m)\n",
            True,
        ),
        (
            "class X:\n    def __init__(self, c):\n        if not c:\n            raise ValueError\n        self.c = c\n",
            False,
        ),
        ("class X:\n    def __init__(self, c):\n        self.c = c\n        raise ValueError\n", False),
        ("class X: pass\n", False),
    ],
)
def test_stand_ins(tmp_path: Path, source: str, is_stand_in: bool):
    code = Code(tmp_path, {"m.py": source})
    assert code.classes.is_stand_in(code.cls("X")) is is_stand_in


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("['a'] + ['b']", ["a", "b"]),
        ("BASE + ['x']", ["a", "b", "x"]),
        ("[*BASE, 'x']", ["a", "b", "x"]),
        ("{**KEYS, 'y': 'z'}", {"lm_head.weight": "embed.weight", "y": "z"}),
        ("dict(a=1)", {"a": 1}),
        ("list(TUPLE)", ["p", "q"]),
        ("tuple(BASE)", ("a", "b")),
        ("PREFIX + '.models'", "pkg.models"),
        ("f'{PREFIX}.models.{NAME}'", "pkg.models.elm"),
        ("'.'.join(['pkg', NAME])", "pkg.elm"),
        ("made()", ["a", "b", "made"]),
        ("C.keys + ['k']", ["inherited", "k"]),
        ("BASE[0]", "a"),
        ("other.BASE + BASE", ["far", "a", "b"]),
        ("-1", -1),
        ("not True", False),
        ("T.BOTH", Ref("tie.TieSupport.BOTH")),
        ("[T.BOTH, C]", [Ref("tie.TieSupport.BOTH"), Ref("m.C")]),
        ("[C] + [T.BOTH]", [Ref("m.C"), Ref("tie.TieSupport.BOTH")]),
        ("T.NOPE", Ref("tie.TieSupport.NOPE")),
    ],
)
def test_values(tmp_path: Path, expression: str, value: Any):
    files = {
        "tie.py": TIE,
        "other.py": "FIRST = 'far'\nBASE = [FIRST]\n",
        "m.py": (
            "import other\nfrom tie import TieSupport as T\n"
            "BASE = ['a', 'b']\nTUPLE = ('p', 'q')\nPREFIX = 'pkg'\nNAME = 'elm'\n"
            "KEYS = {'lm_head.weight': 'embed.weight'}\n"
            "def made():\n    return BASE + ['made']\n"
            "class B:\n    keys = ['inherited']\nclass C(B): pass\n"
        ),
    }
    assert Code(tmp_path, files).possible(expression) == [value]


def test_both_sides_of_a_choice(tmp_path: Path):
    source = "if flag():\n    X = ['a']\nelse:\n    X = ['b']\n"
    code = Code(tmp_path, {"m.py": source})
    assert code.possible("X") == [["a"], ["b"]]
    assert code.possible("1 if flag() else 2") == [1, 2]
    assert sorted(map(str, code.possible("X + ['c']"))) == ["['a', 'c']", "['b', 'c']"]


@pytest.mark.parametrize(
    "expression",
    [
        "unknown()",
        "unknown",
        "[unknown()]",
        "open('f').read()",
        "argument + 1",
        "[i for i in y]",
        "'x'.upper()",
        "max(1, 2)",
        "sorted('ba')",
    ],
)
def test_what_the_source_does_not_decide(tmp_path: Path, expression: str):
    with pytest.raises(Undecided):
        Code(tmp_path, {"m.py": "import x\n"}).possible(expression)


def test_nothing_is_read_unseen(tmp_path: Path):
    """A value that comes from another file depends on that file, and on none that had no part in it."""
    files = {
        "far.py": "A = ['x']\n",
        "near.py": "from far import A\nB = A + ['y']\n",
        "m.py": "from near import B\n",
        "idle.py": "C = 1\n",
    }
    code = Code(tmp_path, files)
    with code.tree.recording() as read:
        assert code.possible("B + ['z']") == [["x", "y", "z"]]
    names = {Path(dep[1]).name for dep in read if dep[0] == "file"}
    assert {"far.py", "near.py", "m.py"} <= names
    assert "idle.py" not in names
    with code.tree.recording() as again:
        code.possible("B + ['z']")
    assert {d for d in again if Path(d[1]).name == "far.py"}, "also when answered from memory"


def test_bindings_of_all_kinds():
    source = (
        "a, (b, *c) = 1, (2, 3)\nfor d in e: f = 1\nwith g() as h: i = 2\nj += 1\nk: int\nl: int = 3\nwhile m: n = 4\n"
    )
    found = collect(ast.parse(source).body)
    assert set(found.names) == {"a", "b", "c", "d", "f", "h", "i", "j", "l", "n"}
    assert [b.conditional for b in found.names["f"]] == [True]
    assert [b.conditional for b in found.names["i"]] == [False]
    assert isinstance(found.names["a"][0].node, ast.Constant)


def test_nodes_on_lines_visits_only_what_reaches_them():
    tree = ast.parse("def f():\n    a = 1\n    b = 2\n\ndef g():\n    c = 3\n")
    names = {n.id for n in nodes_on(tree, {3}) if isinstance(n, ast.Name)}
    assert names == {"b"}


def test_two_functions_of_one_name_remember_each_its_own(tmp_path: Path):
    def answering(number: int):
        @remembered
        def answer(names: Names, question: str) -> tuple[int, str]:
            return number, question

        return answer

    first, second, names = answering(1), answering(2), Names(SourceTree(str(tmp_path)), [str(tmp_path)], [])
    for _ in range(2):
        assert (first(names, "x"), second(names, "x")) == ((1, "x"), (2, "x"))
