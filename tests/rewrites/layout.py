"""Rewrites of the looks: formatting, comments, parentheses, split texts, statements that do nothing."""

from __future__ import annotations

import ast

from . import Rewrite, Source, body_after_docstring, each_file, first_line, functions


def _unparsed(source: Source) -> str:
    return ast.unparse(source.tree) + "\n"


def _commented(source: Source) -> str:
    """A comment and a blank line before every statement."""
    for node in ast.walk(source.tree):
        for statement in (s for s in ast.iter_child_nodes(node) if isinstance(s, ast.stmt)):
            is_elif = isinstance(node, ast.If) and statement in node.orelse and isinstance(statement, ast.If)
            if source.leads_its_line(statement) and not is_elif:
                blank = " " * statement.col_offset
                source.insert(source.line_start(first_line(statement)), f'\n{blank}# It\'s "said" (here: once.\n')
    return source.edited()


def _parenthesised(source: Source) -> str:
    """Assigned and returned values in parentheses, on a line of their own."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None:
            if isinstance(node.value, (ast.Tuple, ast.GeneratorExp, ast.Yield, ast.Await)):
                continue
            # The node itself ends behind a closing bracket that the value may already stand in.
            head, text = source.start(node.value), source.segment(node.value)
            source.cut(head, source.end(node.value), f"(\n{text}\n)")
    return source.edited()


def _split_texts(source: Source) -> str:
    """``"lm_head"`` becomes ``"lm_" "head"``: the same constant, but no search for the whole word finds it."""
    documentation = {id(n.value) for n in ast.walk(source.tree) if isinstance(n, ast.Expr)}
    inside = {id(p) for n in ast.walk(source.tree) if isinstance(n, ast.JoinedStr) for p in ast.walk(n)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documentation | inside:
            continue
        if source.segment(node) == f'"{node.value}"' and node.value.isidentifier() and len(node.value) > 3:
            middle = len(node.value) // 2
            source.replace(node, f'("{node.value[:middle]}" "{node.value[middle:]}")')
    return source.edited()


def _with_pass(source: Source) -> str:
    """``pass`` ahead of every body."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            body = body_after_docstring(node)
            if body and source.leads_its_line(body[0]):
                source.insert(source.line_start(first_line(body[0])), " " * body[0].col_offset + "pass\n")
    return source.edited()


def _annotated_locals(source: Source) -> str:
    """``x = …`` and ``self.x = …`` in functions get an annotation."""
    shared = {n for s in ast.walk(source.tree) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    inside = {id(n): n for function in functions(source.tree) for n in ast.walk(function)}
    for node in inside.values():
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.value, ast.Tuple):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id not in shared):
                source.insert(source.end(target), ": object")
    return source.edited()


def _quoted_annotations(source: Source) -> str:
    """Annotations of parameters as texts."""
    for function in functions(source.tree):
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
            note = argument.annotation
            if note is not None and not isinstance(note, ast.Constant) and '"' not in source.segment(note):
                source.replace(note, '"' + " ".join(source.segment(note).split()) + '"')
    return source.edited()


REWRITES: list[Rewrite] = [
    each_file("unparsed", _unparsed),
    each_file("comments-and-blank-lines", _commented),
    each_file("values-in-parentheses", _parenthesised),
    each_file("split-texts", _split_texts),
    each_file("pass-statements", _with_pass),
    each_file("annotated-locals", _annotated_locals),
    each_file("quoted-annotations", _quoted_annotations),
]
