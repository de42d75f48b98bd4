"""What is wrong with the text of a recipe, in the words of NAM814."""

from __future__ import annotations

from automodel_lint.findings import Finding
from automodel_lint.inference.yaml_document import Document, Problem
from automodel_lint.source import split_lines

RULE = "NAM814"


def faults(path: str, document: Document) -> list[Finding]:
    """Return a finding for everything that is wrong with a document; ``path`` is what they show."""
    lines = split_lines(document.text)
    return [Finding(path, problem.span, fields=_fields(problem, lines), code=RULE) for problem in document.problems]


def _fields(problem: Problem, lines: list[str]) -> tuple[tuple[str, str], ...]:
    if problem.key is not None:
        where = f"first on line {problem.first_line}"
        text = f"the key `{problem.key}` stands in this mapping twice ({where}), and the last silently wins"
        return (("problem", text), ("advice", "leave one"))
    line = lines[problem.span.line - 1].strip() if problem.span.line <= len(lines) else ""
    at = f" at `{line[:60]}`" if line else ""
    return (("problem", f"the recipe cannot be loaded{at}"), ("advice", problem.reason))
