"""Faults put into published forwards: each is found in its class under its code, and what was found is not lost.

Every registered class whose own ``forward`` has room for a fault gets it: no ``**kwargs``, no ``logits_to_keep``, masks
and media that end nowhere. They are put into one copy, since a run over the whole package costs seconds and each has a
code of its own.

What cuts by ``logits_to_keep`` goes with it. Where a forward makes an index of its own and that stays, as in
``hidden[:, slice(-count, None)]``, it does not apply the head everywhere, wherever the number comes from: NAM701 says
nothing then.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from automodel_lint.findings import Finding
from automodel_lint.session import Request, Session

from . import real_package

KEEP = "logits_to_keep"
MODELS = "nemo_automodel/components/models"
# What the package has of these faults already, looked at one by one (see test_real_package.py).
BEFORE = [
    ("NAM701", "diffusion_gemma/model.py", "DiffusionGemmaForBlockDiffusion.forward"),
    ("NAM701", "mistral4/model.py", "Mistral3ForConditionalGeneration.forward"),
    ("NAM702", "bagel/model.py", "BagelForUnifiedMultimodal.forward"),
    ("NAM702", "deepseek_v41/model.py", "DeepseekV41ForCausalLM.forward"),
    ("NAM702", "llama_nemotron_vl/model.py", "LlamaNemotronVLModel.forward"),
]
MASKS_AND_MEDIA = ("attention_mask", "padding_mask", "pixel_values", "pixel_values_videos", "image_grid_thw")
Found = set[tuple[str, str, "str | None", str]]  # code, path, symbol, and the mask or medium it is about


class _Without(ast.NodeTransformer):
    """Takes a parameter away: its reads become ``literal``, and what an index made of it cuts is taken whole."""

    def __init__(self, name: str, literal: object):
        self.literal, self.names, self.indices = literal, {name}, set[str]()

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and _calls(node.value, "slice") and self._mentions(node.value):
            self.indices.add(target.id)
            return None
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if any(isinstance(n, ast.Name) and n.id in self.indices for n in ast.walk(node.slice)):
            return self.visit(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if any(isinstance(a, ast.Constant) and a.value in self.names for a in node.args):
            return ast.Constant(self.literal)  # kwargs.pop("logits_to_keep", …)
        node.keywords = [k for k in node.keywords if not (k.arg in self.names and self._mentions(k.value))]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.literal) if node.id in self.names and isinstance(node.ctx, ast.Load) else node

    def _mentions(self, expr: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.names for n in ast.walk(expr))


def _calls(expr: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name for n in ast.walk(expr))


def no_kwargs(function: ast.FunctionDef) -> list[str]:
    """``**kwargs`` is gone from the signature; the body goes on as if nothing had come in it."""
    free = function.args.kwarg
    if free is None:
        return []
    function.args.kwarg = None
    function.body.insert(0, ast.parse(f"{free.arg} = {{}}").body[0])
    return [""]


def no_logits_to_keep(function: ast.FunctionDef) -> list[str]:
    """``logits_to_keep`` is gone from the signature, and nothing is cut down to it."""
    taken = function.args
    index = next((i for i, a in enumerate(taken.args) if a.arg == KEEP), None)
    if index is not None:
        from_end = len(taken.args) - index
        del taken.args[index], taken.defaults[-from_end]
    elif any(a.arg == KEEP for a in taken.kwonlyargs):
        index = next(i for i, a in enumerate(taken.kwonlyargs) if a.arg == KEEP)
        del taken.kwonlyargs[index], taken.kw_defaults[index]
    else:
        return []
    function.body = _Without(KEEP, 0).visit(ast.Module(function.body[_documented(function) :], [])).body
    return [""]


def swallowed(function: ast.FunctionDef) -> list[str]:
    """Masks and media are taken as before, and ``None`` goes where they went."""
    taken = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg in MASKS_AND_MEDIA]
    body = function.body[_documented(function) :]
    for name in taken:
        body = _Without(name, None).visit(ast.Module(body, [])).body
    function.body = body
    return taken


def _documented(function: ast.FunctionDef) -> int:
    return int(ast.get_docstring(function) is not None)


FAULTS: dict[str, Callable[[ast.FunctionDef], list[str]]] = {
    "NAM701": no_logits_to_keep,
    "NAM702": no_kwargs,
    "NAM704": swallowed,
}


def _lint(root: Path) -> Found:
    findings = Session(Request(paths=[str(root)], select=[*FAULTS], cache=False)).run().findings
    return {(f.code, f.path, f.symbol, what) for f in findings for what in _about(f)}


def _about(finding: Finding) -> list[str]:
    return [name for name in MASKS_AND_MEDIA if f"`{name}`" in finding.message] if finding.code == "NAM704" else [""]


def _registered(root: Path) -> list[tuple[str, str]]:
    """File and name of every registered class."""
    project = Session(Request(paths=[str(root)], cache=False)).project()
    return sorted({(f"{module.replace('.', '/')}.py", cls) for module, cls in project.registered})


def _mutated(text: str, cls: str) -> tuple[str, set[tuple[str, str]]]:
    """Put all faults into the ``forward`` of a class; return the text and the codes of those that it had room for."""
    lines, put = text.splitlines(), set[tuple[str, str]]()
    bodies = [node.body for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == cls]
    functions = [s for body in bodies for s in body if isinstance(s, ast.FunctionDef) and s.name == "forward"]
    for function in sorted(functions, key=lambda f: -f.lineno):
        put |= {(code, what) for code, change in FAULTS.items() for what in change(function)}
        first = min(node.lineno for node in (function, *function.decorator_list))
        written = textwrap.indent(ast.unparse(function), " " * function.col_offset)
        lines[first - 1 : function.end_lineno] = written.splitlines()
    return "\n".join(lines) + "\n", put


class Run(NamedTuple):
    """Where which fault was put, and what was found then."""

    put: Found
    found: Found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root, put = real_package.copied("0.7.0", tmp_path_factory.mktemp("mutated")), Found()
    for path, cls in _registered(root):
        text, faults = _mutated((root / path).read_text(encoding="utf-8"), cls)
        (root / path).write_text(text, encoding="utf-8")
        put |= {(code, path, f"{cls}.forward", what) for code, what in faults}
    return Run(put, _lint(root))


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_found_where_it_was_put(code: str, run: Run) -> None:
    put = {fault for fault in run.put if fault[0] == code}
    assert len({(path, symbol) for _, path, symbol, _ in put}) >= 50
    assert not put - run.found


def test_nothing_is_lost_and_nothing_else_is_new(run: Run) -> None:
    others = {(code, f"{MODELS}/{path}", symbol, "") for code, path, symbol in BEFORE}
    assert len(others - run.put) >= 4
    assert not others - run.found
    assert not run.found - others - run.put
