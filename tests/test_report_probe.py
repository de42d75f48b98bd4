"""``automodel-lint report --probe-result``: what the probe has written beside what the linter finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from automodel_lint.findings import Span
from automodel_lint.overview import probed
from automodel_lint.request import UsageError

from .conftest import EXAMPLE, ROOT
from .page_reader import Element, parsed
from .test_report_command import SCHEMA, row, run

FIR = EXAMPLE / "acme_automodel/components/models/fir"
MODULE = "acme_automodel.components.models.fir.model"
PATH = "acme_automodel/components/models/fir/model.py"


def finding(**others: Any) -> dict[str, Any]:
    known = {
        "code": "NAM910",
        "name": "loss-not-falling",
        "severity": "warning",
        "message": "the loss of `FirForCausalLM` <i>does not</i> fall",
        "path": PATH,
        "line": 12,
        "column": 1,
        "end_line": 12,
        "end_column": 4,
        "symbol": "FirForCausalLM",
        "architectures": ["FirForCausalLM"],
        "help": "Training lowers the loss.",
        "url": "https://automodel-lint.readthedocs.io/rules/NAM910-loss-not-falling",
        "fingerprint": "0123456789abcdef",
        "fix": None,
    }
    return {**known, **others}


def result(*findings: dict[str, Any], **others: Any) -> dict[str, Any]:
    """What the probe writes about two classes, one of which is not registered here."""
    checks = {
        "NAM907": {"status": "passed", "reason": None, "figure": "text: [2, 12, 200]"},
        "NAM908": {"status": "not-probed", "reason": "no <reference> at hand", "figure": None},
        "NAM910": {"status": "finding", "reason": None, "figure": "loss 6.1 before, 6.2 after"},
        "NAM920": {"status": "finding", "reason": None, "figure": None},
    }
    one = {"class": f"{MODULE}:FirForCausalLM", "architectures": ["FirForCausalLM"], "config": None, "seconds": 1.5}
    other = {"class": "elsewhere:Gone", "architectures": ["Gone"], "config": {"a": 1}, "seconds": 2, "checks": {}}
    summary = dict.fromkeys(("errors", "info", "files", "suppressed", "baselined", "seconds"), 0)
    known = {
        "version": 1,
        "tool": {"name": "automodel-lint", "version": "0.1.0"},
        "root": "/somewhere",
        "repository": {"commit": "a" * 40, "prefix": ""},
        "summary": {**summary, "warnings": len(findings), "classes": 2},
        "findings": list(findings),
        "probe": [{**one, "checks": checks}, other],
    }
    return {**known, **others}


def written(folder: Path, data: Any) -> Path:
    path = folder / "probe.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def by_id(page: Element, name: str) -> Element:
    (found,) = [element for element in page.all() if element.attributes.get("id") == name]
    return found


def test_what_is_written_here_is_what_the_probe_writes():
    schema = json.loads((ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(result(finding()), schema)


def test_the_checks_are_columns(tmp_path: Path):
    path = written(tmp_path, result(finding(), finding(code="NAM003", symbol=None)))
    run(FIR, "--probe-result", path, "--html", tmp_path / "page.html", "--json", tmp_path / "data.json")
    data = json.loads((tmp_path / "data.json").read_text())
    jsonschema.validate(data, SCHEMA)
    contracts = row(data, "FirForCausalLM")["contracts"]
    assert {code: state for code, state in contracts.items() if code.startswith("NAM9")} == {
        "NAM907": "met",
        "NAM908": "undecided",
        "NAM910": "warning",
        "NAM920": "silenced",
    }
    assert row(data, "FirForCausalLM")["families"]["NAM9"]["state"] == "warning"
    assert data["probe"] == {
        "commit": "a" * 40,
        "classes": 2,
        "unknown": ["elsewhere:Gone"],
        "findings": {"error": 0, "warning": 1, "info": 0},
    }
    assert data["summary"]["warnings"] == 0, "these are the linter's"
    assert data["codes"]["NAM910"]["warning"] == 1
    text = (tmp_path / "page.html").read_text()
    page = parsed(text, strict=True)
    reasons = json.loads(by_id(page, "reasons").text)
    assert "not probed: no <reference> at hand" in reasons and "text: [2, 12, 200]" in reasons
    assert "<reference>" not in text and "<i>does not</i>" not in text
    (article,) = page.all("article")
    assert article.one("pre").one("mark").text == (FIR / "model.py").read_text().splitlines()[11][:3]
    assert "elsewhere:Gone" in by_id(page, "probe").text


def test_a_class_that_was_not_probed_says_so(tmp_path: Path):
    data = result()
    data["probe"] = [{**data["probe"][0], "class": "acme_automodel.components.models.spruce.model:SpruceForCausalLM"}]
    models = EXAMPLE / "acme_automodel/components/models"
    path = written(tmp_path, data)
    run(models / "spruce", "--probe-result", path, "--json", tmp_path / "spruce.json")
    run(FIR, "--probe-result", path, "--json", tmp_path / "fir.json")
    spruce, fir = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("spruce", "fir"))
    assert row(spruce, "SpruceForCausalLM")["contracts"]["NAM907"] == "met"
    assert not any(code.startswith("NAM9") for code in row(fir, "FirForCausalLM")["contracts"])
    assert fir["probe"]["unknown"] == ["acme_automodel.components.models.spruce.model:SpruceForCausalLM"]


@pytest.mark.parametrize("path", ["/etc/hostname", "../../../etc/hostname", "acme_automodel/../../secret.py"])
def test_a_result_shows_no_file_outside_of_the_checkout(path: str, tmp_path: Path, example: Path):
    (example.parent / "secret.py").write_text("password = 1\n")
    file = written(tmp_path, result(finding(path=path, line=1, end_line=1)))
    fir = example / "acme_automodel/components/models/fir"
    run(fir, "--probe-result", file, "--html", tmp_path / "page.html", "--no-cache")
    (article,) = parsed((tmp_path / "page.html").read_text()).all("article")
    assert not article.all("pre") and "password" not in article.text


def test_a_result_is_taken_as_it_is(tmp_path: Path):
    read = probed.read(str(written(tmp_path, result(finding(line=7, end_line=8)))))
    assert read.commit == "a" * 40
    assert read.classes[0].checks["NAM910"] == probed.Check("finding", "loss 6.1 before, 6.2 after")
    assert read.classes[0].checks["NAM908"].said == "no <reference> at hand"
    assert (read.findings[0].span, str(read.findings[0].severity)) == (Span(7, 1, 8, 4), "warning")


def broken() -> dict[str, tuple[Any, str]]:
    """Files that are no result of the probe, and what is said of each."""
    good = result(finding())
    one, other = good["probe"]
    checks = {"NAM907": {"status": "fine", "reason": None, "figure": None}}
    return {
        "no json": ("{", "probe.json:1: not valid JSON"),
        "a list": ([], "the file must be an object"),
        "another version": ({**good, "version": 2}, "`version` must be 1"),
        "true for one": ({**good, "version": True}, "`version` must be 1"),
        "of check": ({k: v for k, v in good.items() if k != "probe"}, "`probe` is missing"),
        "no list": ({**good, "probe": {}}, "`probe` must be a list"),
        "no findings": ({**good, "findings": None}, "`findings` must be a list"),
        "a class": ({**good, "probe": [{**other, "class": 7}]}, "`probe[0]`.class must be a text"),
        "seconds": ({**good, "probe": [one, {**other, "seconds": "1"}]}, "`probe[1]`.seconds must be a number"),
        "a status": ({**good, "probe": [{**one, "checks": checks}]}, "status must be passed, finding or not-probed"),
        "a line": ({**good, "findings": [finding(line="3")]}, "`findings[0]`.line must be a number"),
        "a severity": ({**good, "findings": [finding(severity="bad")]}, "severity must be error, warning or info"),
        "a commit": ({**good, "repository": {"commit": "HEAD"}}, "`repository` must name a commit, or be null"),
        "deep": ("[" * 100_000, "not valid JSON"),
    }


@pytest.mark.parametrize("name", broken())
def test_something_else_is_refused_in_one_line(name: str, tmp_path: Path):
    data, expected = broken()[name]
    with pytest.raises(UsageError) as caught:
        probed.read(str(written(tmp_path, data)))
    message = str(caught.value)
    assert expected in message and "\n" not in message
    assert message.endswith("write it with `automodel-lint probe --output-format json`")


def test_a_folder_and_bytes_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file"):
        probed.read(str(tmp_path))
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(UsageError, match="not valid JSON"):
        probed.read(str(tmp_path / "bytes.json"))
