"""Rewrites of structure: where classes and members stand, and what stands around them."""

from __future__ import annotations

import ast
import textwrap

from . import Files, Rewrite, Source, after_imports, body_after_docstring, classes, each_file, first_line, module_name

MODEL_ENDINGS = ("ForCausalLM", "ForConditionalGeneration", "ForSequenceClassification", "BidirectionalModel")
_POLICY = "tie_word_embeddings_support"


def _model_classes(source: Source) -> list[ast.ClassDef]:
    """The classes of a module that stand at the top level and are called as models are."""
    return [s for s in source.tree.body if isinstance(s, ast.ClassDef) and s.name.endswith(MODEL_ENDINGS)]


def _is_plain(cls: ast.ClassDef) -> bool:
    """Whether an annotation in the body of a class means nothing: no dataclass, no enumeration, no named tuple."""
    return not cls.decorator_list and not any(
        "Enum" in n or "Tuple" in n or "Dict" in n for n in map(ast.unparse, cls.bases)
    )


def _annotations_flipped(source: Source) -> str:
    """Annotated assignments of classes and modules become plain ones, plain ones annotated."""
    bodies = [source.tree.body, *(c.body for c in classes(source.tree) if _is_plain(c))]
    for statement in (s for body in bodies for s in body):
        if (
            isinstance(statement, ast.AnnAssign)
            and statement.value is not None
            and isinstance(statement.target, ast.Name)
        ):
            source.cut(source.end(statement.target), source.end(statement.annotation))
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and not isinstance(statement.value, ast.Tuple):
                source.insert(source.end(target), ": object")
    return source.edited()


def _methods_reversed(source: Source) -> str:
    """Methods that follow each other come in reverse order."""
    for cls in classes(source.tree):
        run: list[ast.stmt] = []
        for statement in [*cls.body, None]:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                run.append(statement)
                continue
            names = [m.name for m in run]
            if len(run) > 1 and len(set(names)) == len(names) and all(source.leads_its_line(m) for m in run):
                texts = [source.block(first_line(m), m.end_lineno) for m in run]
                for method, text in zip(run, reversed(texts), strict=True):
                    ending = "" if text.endswith("\n") else "\n"
                    source.cut(
                        source.line_start(first_line(method)), source.line_start(method.end_lineno + 1), text + ending
                    )
            run = []
    return source.edited()


def _assignments_last(source: Source) -> str:
    """Plain assignments of a model class stand behind its methods."""
    for cls in _model_classes(source):
        movable = [s for s in cls.body if _needs_no_order(s) and source.leads_its_line(s)]
        if movable and len(movable) < len(body_after_docstring(cls)):
            text = "".join(source.block(s.lineno, s.end_lineno) for s in movable)
            for statement in movable:
                source.cut(source.line_start(statement.lineno), source.line_start(statement.end_lineno + 1))
            source.insert(source.line_start(cls.end_lineno + 1), f"\n{text}")
    return source.edited()


def _needs_no_order(statement: ast.stmt) -> bool:
    """Whether an assignment only names things: no call whose outcome might depend on when it runs."""
    parts = (n for n in ast.walk(statement) if isinstance(n, ast.expr))
    simple = (ast.Attribute, ast.Name, ast.Constant, ast.Dict, ast.List)
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and all(isinstance(n, simple) for n in parts)


def _in_availability_branch(source: Source) -> str:
    """Model classes stand under a flag, with a stand-in in the other branch."""
    flag = "try:\n    import optional_kernels\n\n    _KERNELS = True\nexcept ImportError:\n    _KERNELS = False\n\n\n"
    found = _model_classes(source)
    for cls in found:
        text = textwrap.indent(source.block(first_line(cls), cls.end_lineno), "    ")
        stand_in = (
            f"    class {cls.name}:\n        def __init__(self, *args, **kwargs):\n"
            f'            raise ImportError("{cls.name} needs optional_kernels")\n'
        )
        source.cut(
            source.line_start(first_line(cls)),
            source.line_start(cls.end_lineno + 1),
            f"if _KERNELS:\n\n{text.rstrip()}\n\nelse:\n\n{stand_in}",
        )
    if found:
        source.insert(after_imports(source), flag)
    return source.edited()


def _under_if_true(source: Source) -> str:
    """Classes, functions and assignments of a module stand under ``if True:``."""
    for statement in source.tree.body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.Assign)) and source.leads_its_line(statement):
            first, last = first_line(statement), statement.end_lineno
            text = textwrap.indent(source.block(first, last), "    ")
            source.cut(source.line_start(first), source.line_start(last + 1), f"if True:\n{text.rstrip()}\n")
    return source.edited()


def _bodies_inside(head: str):
    """Bodies of the methods of model classes, indented under a line that changes nothing."""

    def change(source: Source) -> str:
        changed = False
        for cls in classes(source.tree):
            for method in (s for s in cls.body if isinstance(s, ast.FunctionDef)):
                body = body_after_docstring(method)
                is_stub = all(isinstance(s, (ast.Pass, ast.Raise)) for s in body)
                if not body or is_stub or not source.leads_its_line(body[0]) or body[0].lineno == method.lineno:
                    continue
                changed = True
                blank = " " * body[0].col_offset
                text = textwrap.indent(source.block(first_line(body[0]), method.end_lineno), "    ")
                source.cut(
                    source.line_start(first_line(body[0])),
                    source.line_start(method.end_lineno + 1),
                    f"{blank}{head}\n{text.rstrip()}\n",
                )
        if changed and "contextlib" in head:
            source.insert(after_imports(source), "import contextlib\n")
        return source.edited()

    return change


def _decorated(source: Source) -> str:
    """Classes and methods get a decorator of the standard library that only speaks to type checkers."""
    for cls in classes(source.tree):
        if source.leads_its_line(cls):
            blank = " " * cls.col_offset
            source.insert(source.line_start(first_line(cls)), f"{blank}@_typing.final\n")
        for method in (s for s in cls.body if isinstance(s, ast.FunctionDef)):
            source.insert(source.line_start(method.lineno), " " * method.col_offset + "@_typing.no_type_check\n")
    source.insert(after_imports(source), "import typing as _typing\n")
    return source.edited()


def _policy_from_a_base(files: Files, paths: list[str]) -> Files:
    """The tie policy of a model class is inherited from a new base in another file."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        traits = []
        for cls in _model_classes(source):
            policy = next((s for s in cls.body if _POLICY in ast.unparse(s).partition("=")[0] and _assigns(s)), None)
            if policy is None or not ast.unparse(policy.value).startswith("TieSupport.") or not cls.bases:
                continue
            traits.append(f"class {cls.name}Traits:\n    {_POLICY} = {ast.unparse(policy.value)}\n")
            source.cut(source.line_start(policy.lineno), source.line_start(policy.end_lineno + 1))
            source.insert(source.start(cls.bases[0]), f"{cls.name}Traits, ")
        if traits:
            other = f"{path.removesuffix('.py')}_traits.py"
            names = ", ".join(t.split()[1].rstrip(":") for t in traits)
            result[other] = _import_of(source, "TieSupport") + "\n\n" + "\n\n".join(traits)
            source.insert(after_imports(source), f"from {module_name(other)} import {names}\n")
            result[path] = source.edited()
    return result


def _assigns(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None


def _import_of(source: Source, name: str) -> str:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and any(a.name == name for a in node.names):
            return f"from {node.module} import {name}\n"
    raise AssertionError(f"{name} is not imported")


def _moved(files: Files, paths: list[str]) -> Files:
    """The contents of a model module move to a module beside it; the old one re-exports every name."""
    result = dict(files)
    for path in paths:
        source = Source(files[path])
        if path.endswith("__init__.py") or not any(c.name.endswith(MODEL_ENDINGS) for c in classes(source.tree)):
            continue
        other = f"{path.removesuffix('.py')}_implementation.py"
        result[other] = files[path]
        lines = [f"    {name},\n" for name in sorted(_bound(source.tree))]
        result[path] = f"from {module_name(other)} import (\n{''.join(lines)})\n"
    return result


def _bound(tree: ast.Module) -> set[str]:
    """Every name that a module binds, but those of ``from __future__``."""
    found: set[str] = set()
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {t.id for t in targets if isinstance(t, ast.Name)}
        else:
            todo += [s for s in ast.iter_child_nodes(node) if isinstance(s, ast.stmt)]
            todo += [s for h in getattr(node, "handlers", ()) for s in h.body]
    return found


REWRITES = [
    each_file("annotations-flipped", _annotations_flipped),
    each_file("methods-reversed", _methods_reversed),
    each_file("assignments-last", _assignments_last),
    each_file("availability-branch", _in_availability_branch),
    each_file("module-under-if-true", _under_if_true),
    each_file("bodies-under-if-true", _bodies_inside("if True:")),
    each_file("bodies-in-a-with", _bodies_inside("with contextlib.nullcontext():")),
    each_file("decorators", _decorated),
    Rewrite("policy-from-a-base", _policy_from_a_base),
    Rewrite("moved-class", _moved, keeps_paths=False),
]
