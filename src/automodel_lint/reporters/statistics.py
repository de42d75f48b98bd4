"""How often each rule fired."""

from __future__ import annotations

import json
from collections import Counter

from automodel_lint.pages import pages
from automodel_lint.report import Report


def render(report: Report, output_format: str) -> str:
    """Return one line a rule, the most frequent first; a list of objects for ``json``."""
    counts = Counter(f.code for f in report.findings)
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if output_format == "json":
        data = [{"code": code, "name": pages()[code].name, "count": count} for code, count in rows]
        return json.dumps(data, indent=2) + "\n"
    return "".join(f"{count:5}  {code}  {pages()[code].name}\n" for code, count in rows)
