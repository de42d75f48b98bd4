"""``automodel-lint tree``."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from automodel_lint.commands.output import say, write
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session

if TYPE_CHECKING:
    from automodel_lint.domain.model_class import ModelClass
    from automodel_lint.domain.plan import Registration
    from automodel_lint.domain.project import Project
    from automodel_lint.domain.tree_marks import MarkedTree


T = TypeVar("T")


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The architectures of the checkout around the current folder, for a shell."""
    try:
        project = Session(Request()).project()
    except Exception:  # a shell that asks at the wrong place gets no answer, not an error
        return []
    return sorted({entry.key for entry in project.architectures if entry.key.startswith(incomplete)})


@click.command("tree")
@click.argument("architecture", shell_complete=_complete)
@click.argument("path", default=".")
@click.option("--params", is_flag=True, help="Parameters and buffers too, not only modules.")
@click.option("--adapter", is_flag=True, help="What the state-dict adapter makes of each name.")
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Fold what lies more than N levels down.")
@click.option(
    "--format",
    "--output-format",
    "output_format",
    type=click.Choice(("text", "json", "dot", "html")),
    default="text",
    show_default=True,
)
@click.option("--output-file", type=click.Path(dir_okay=False), help="Write the tree there.")
@click.option("--installed", metavar="PACKAGE", help="Of an installed package, such as nemo_automodel.")
@click.option("--python", metavar="EXE", help="Interpreter whose packages are followed (transformers).")
def command(
    architecture: str,
    path: str,
    params: bool,
    adapter: bool,
    depth: int | None,
    output_format: str,
    output_file: str | None,
    **of: Any,
) -> None:
    """Show the modules that constructing ARCHITECTURE makes, as far as the source of a checkout says.

    ARCHITECTURE is a registered name or the name of a registered class; PATH is a checkout, or lies in one.
    """
    from automodel_lint.domain.adapter_rows import adapter_rows
    from automodel_lint.domain.tree_marks import marked

    if of["installed"] and path != ".":
        raise UsageError("give either a path or --installed")
    if adapter and output_format not in ("text", "json"):
        raise UsageError(f"--adapter goes with --format text and json, not {output_format}")
    project = Session(Request(paths=[path], **of)).project()
    with project.tree.recording() as read:
        name, model = find(project, architecture)
        shown = _read(model, lambda: marked(name, model))
        keys = _read(model, lambda: adapter_rows(name, model)) if adapter else None
    for kind, file, *_ in sorted(read):
        problem = _problem(project, file) if kind == "file" and file.endswith(".py") else None
        if problem:
            say(f"{problem}; what it defines is not in the tree")
    if output_format == "json":
        from automodel_lint.reporters import tree_json

        text = tree_json.render(shown, keys)
    elif keys is not None:
        from automodel_lint.reporters import adapter_text

        text = adapter_text.render(keys, None if output_file else width())
    else:
        text = _drawn(shown, output_format, params, depth, None if output_file else width())
    write(text, output_file, plain=_plain)


def _read(model: ModelClass, read: Callable[[], T]) -> T:
    """Read something from source; a failure of the linter is one line."""
    try:
        return read()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.replace(os.sep, '/').rpartition('automodel_lint/')[2]}:{frame.lineno}"
        what = f"{type(error).__name__}: {error} at {where}"
        raise UsageError(f"{model.name}: the linter failed on its module tree ({what}); please report it") from error


def _drawn(shown: MarkedTree, output_format: str, params: bool, depth: int | None, width: int | None) -> str:
    from automodel_lint.domain.tree_outline import outlined

    outline = outlined(shown)
    if output_format == "html":
        from automodel_lint.reporters import tree_html

        return tree_html.render(outline, params, depth)
    if output_format == "dot":
        from automodel_lint.reporters import tree_dot

        return tree_dot.render(outline, params, depth)
    from automodel_lint.reporters import tree_text

    return tree_text.render(outline, params, depth, width)


def width() -> int | None:
    """Return the columns of the terminal, or as many as ``COLUMNS`` says; a file or a pipe has no end."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        return None
    return max(shutil.get_terminal_size().columns, 40)


def _plain(text: str) -> str:
    from automodel_lint.reporters.tree_text import plain

    return plain(text)


# -- which class ----------------------------------------------------------------------------------------------------


def find(project: Project, word: str) -> tuple[str, ModelClass]:
    """Return the class that is registered as, or called, ``word``, and the architecture it stands for.

    Raises:
        UsageError: if there is none, if there are several, or if it has no definition that could be constructed.
    """
    from automodel_lint.domain.model_class import ModelClass

    entry = _entry(project, word)
    resolution = project.resolve(entry.module, entry.cls)
    if not resolution.classes:
        raise UsageError(_why_not(project, entry, resolution.status))
    module, qualname, _, line = resolution.classes[0]
    entity = project.class_at(module, qualname, line)
    assert entity is not None
    same = [e for e in project.architectures if (e.module, e.cls) == (entry.module, entry.cls)]
    names = tuple(dict.fromkeys(e.key for e in same))
    model = ModelClass(project, entity, names, tuple(dict.fromkeys(t for e in same for t in e.tags)))
    for ancestor in model.mro:
        path = project.names.path_of(ancestor.fqn.rpartition(".")[0])
        problem = _problem(project, path) if path else None
        if problem:
            raise UsageError(f"{entry.key}: {problem} ({ancestor.fqn.rpartition('.')[2]} is a base of {model.name})")
    return entry.key, model


def _entry(project: Project, word: str) -> Registration:
    entries = project.architectures
    if not entries:
        raise UsageError(_no_registry(project))
    by_name = [entry for entry in entries if entry.key == word]
    if by_name:
        return ([e for e in by_name if e.sure] or by_name)[-1]  # of two entries of one mapping the later wins
    by_class = [entry for entry in entries if entry.cls.rpartition(".")[2] == word]
    modules = {(entry.module, entry.cls) for entry in by_class}
    if len({project.resolve(*target).classes for target in modules}) > 1:
        keys = ", ".join(sorted({entry.key for entry in by_class}))
        raise UsageError(f"{word} is the name of {len(modules)} classes; name an architecture: {keys}")
    if by_class:
        return by_class[0]
    known = sorted({entry.key for entry in entries} | {entry.cls.rpartition(".")[2] for entry in entries} - {""})
    raise UsageError(f"no architecture or class {word!r} is registered{nearest(word, known)}")


def nearest(word: str, known: list[str]) -> str:
    """Return, as the end of a message, the known names that hold a word or are like it; empty if there are none."""
    holding = sorted((name for name in known if word and word.lower() in name.lower()), key=len)
    names = [repr(name) for name in holding[:3] or difflib.get_close_matches(word, known, 3, cutoff=0.5)]
    return f"; did you mean {', '.join(names[:-1])}{' or ' if names[:-1] else ''}{names[-1]}?" if names else ""


def _no_registry(project: Project) -> str:
    checkout, tree = project.checkout, project.tree
    problem = _problem(project, checkout.registry) if project.reader.is_unreadable() else None
    return problem or f"{tree.relative(checkout.registry)}: no architecture is registered that the source names"


def _why_not(project: Project, entry: Registration, status: str) -> str:
    """Why a registration leads to no class, in one line."""
    path = project.names.path_of(entry.module) if entry.module else None
    target = f"{entry.key}: {entry.module}:{entry.cls}"
    reasons = {
        "no-module": f"{entry.key}: module {entry.module} has no file in the checkout",
        "no-class": f"{entry.key}: {entry.module} binds no class {entry.cls}",
        "stand-in": f"{target} is only a stand-in for a missing dependency: there is nothing to construct",
        "outside": f"{target} is defined outside of the checkout",
    }
    unparsable = _problem(project, path) if path and status == "unparsable" else None
    where = f" (registered in {entry.path}:{entry.span.line})"
    reason = reasons.get(status, f"{entry.key}: the source does not say which class it is registered for")
    return (f"{entry.key}: {unparsable}" if unparsable else reason) + where


def _problem(project: Project, path: str) -> str | None:
    from automodel_lint.source import ParseProblem

    problem = project.tree.syntax(path)
    if not isinstance(problem, ParseProblem):
        return None
    return f"{project.tree.relative(path)}:{problem.line}: not valid Python: {problem.reason}"
