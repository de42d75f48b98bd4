"""``check --fix``, ``--diff`` and ``--add-noqa``: what is changed is linted before any file is replaced."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from typing import Any

from automodel_lint.commands.output import say, write
from automodel_lint.fixes.repairing import Outcome, repaired
from automodel_lint.fixes.shapes import unified
from automodel_lint.fixes.suppressing import suppressed
from automodel_lint.report import Report
from automodel_lint.request import Request, UsageError
from automodel_lint.source import decoded
from automodel_lint.writing import write_whole

Files = dict[str, "tuple[bytes, bytes]"]


def refuse(options: dict[str, Any]) -> None:
    """Refuse what cannot be meant.

    Raises:
        UsageError: for a reason that is none, or a change of installed packages.
    """
    reason = options["add_noqa"]
    if reason is not None and (not reason.strip() or "\n" in reason or "\r" in reason):
        raise UsageError("--add-noqa needs a reason of one line, which the comments then give")
    if options["installed"] and not options["diff"]:
        raise UsageError("an installed package is not changed; --diff shows what would be")


def run(requests: list[Request], options: dict[str, Any]) -> list[Report]:
    """Change what the options ask for and return the reports on what is left.

    All checkouts are changed in memory first. Then the files are replaced, or with ``--diff`` shown as a diff; a text
    that came on standard input goes to standard output.

    Raises:
        UsageError: if a file cannot be replaced.
    """
    reports, files = [], {}
    for request in requests:
        report, changed = _changed(request, options)
        report.changes = len(changed)
        reports.append(report)
        files |= changed
    if options["diff"]:
        _show_diff(files, sum(report.fixed for report in reports), options)
    elif requests[0].overlay:
        ((path, data),) = requests[0].overlay.items()
        sys.stdout.buffer.write(files[path][1] if path in files else data)
    else:
        _write_back(files)
    return reports


def _changed(request: Request, options: dict[str, Any]) -> tuple[Report, Files]:
    """Repair, then silence, one checkout in memory."""
    started = time.perf_counter()
    files: Files = {}
    fixed = 0
    silences = options["add_noqa"] is not None
    if options["fix"] or not silences:
        outcome = repaired(request, options["unsafe_fixes"])
        report, files, fixed = outcome.report, outcome.files, len(outcome.fixed)
        _tell(outcome)
    if silences:
        overlay = {**request.overlay, **{path: new for path, (_, new) in files.items()}}
        report, added = suppressed(replace(request, overlay=overlay), options["add_noqa"].strip())
        files |= {path: (files.get(path, (old, b""))[0], new) for path, (old, new) in added.items()}
    report.fixed, report.seconds = fixed, time.perf_counter() - started
    return report, files


def _tell(outcome: Outcome) -> None:
    """Say on standard error what could not be repaired after all."""
    for finding, reason in outcome.dropped:
        place = f"{finding.path}:{finding.span.line}"
        say(f"{finding.code} in {place} is not repaired: {reason}")


def _show_diff(files: Files, fixed: int, options: dict[str, Any]) -> None:
    parts = []
    for path, (old, new) in sorted(files.items()):
        shown = os.path.relpath(path).replace(os.sep, "/")
        parts.append(unified(shown, decoded(old), decoded(new)))
    write("".join(parts), options["output_file"])
    if files and not options["quiet"]:
        repairs = f"{fixed} repair{'s' * (fixed != 1)}"
        say(f"would change {len(files)} file{'s' * (len(files) != 1)} ({repairs})")


def _write_back(files: Files) -> None:
    """Replace each file by its changed text; a run that is interrupted leaves every file either old or new."""
    for path, (old, new) in sorted(files.items()):
        try:
            with open(path, "rb") as stream:
                now = stream.read()
            if now != old:
                raise UsageError(f"{path}: changed while it was repaired; it is left as it is")
            write_whole(path, new)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
