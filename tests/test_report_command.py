"""``automodel-lint report``: the page and the data, against what ``check`` says."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.commands.check import command as check
from automodel_lint.commands.report import command as report
from automodel_lint.overview.model import STATES
from automodel_lint.request import UsageError

from .conftest import EXAMPLE, ROOT, Cli
from .page_reader import Element, parsed
from .test_work_tree import git

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
STATE_OF_CLASS = {"e": "error", "w": "warning", "i": "info", "s": "silenced", "u": "undecided", "m": "met"}
STATE_OF_CLASS |= {"n": "no-finding", "a": "not-applicable", "o": "not-asked"}


def run(*arguments: object) -> Any:
    """Run a command in this process; what it raises is raised."""
    found = CliRunner().invoke(report, [str(a) for a in arguments], catch_exceptions=False, standalone_mode=False)
    if found.exception:
        raise found.exception
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example whose verdicts are kept from one test to the next."""
    target = tmp_path_factory.mktemp("home") / "checkout"
    shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns("__pycache__", ".automodel_lint_cache"))
    return target


@pytest.fixture(scope="module")
def made(home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Element, str]:
    """The report on the example: as data, as a page, and the text of the page."""
    folder = tmp_path_factory.mktemp("report")
    run(home, "--html", folder / "page.html", "--json", folder / "data.json")
    text = (folder / "page.html").read_text(encoding="ascii")
    return json.loads((folder / "data.json").read_text(encoding="utf-8")), parsed(text, strict=True), text


@pytest.fixture(scope="module")
def checked(home: Path) -> dict[str, Any]:
    """What ``check`` says of the example."""
    found = CliRunner().invoke(check, [str(home), "--output-format", "json", "--exit-zero"])
    return json.loads(found.output)


# -- the data -------------------------------------------------------------------------------------------------------


def test_data_fit_their_schema(made):
    data, _, _ = made
    jsonschema.validate(data, SCHEMA)
    for broken in ({**data, "more": 1}, {**data, "states": {"fine": 1}}, {**data, "classes": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_totals_are_those_of_check(made, checked):
    data, _, _ = made
    for key in ("errors", "warnings", "info", "suppressed", "baselined", "files"):
        assert data["summary"][key] == checked["summary"][key], key
    assert data["summary"]["errors"] > 0 and data["summary"]["warnings"] > 0
    expected = Counter((f["code"], f["severity"]) for f in checked["findings"])
    told = {(code, kind): n for code, kinds in data["codes"].items() for kind, n in kinds.items() if n}
    silenced = {key: n for key, n in told.items() if key[1] == "silenced"}
    assert {key: n for key, n in told.items() if key not in silenced} == expected
    assert sum(silenced.values()) == checked["summary"]["suppressed"] + checked["summary"]["baselined"]
    assert sorted(f["fingerprint"] for f in data["findings"] if not f["silenced"]) == sorted(
        f["fingerprint"] for f in checked["findings"]
    )


def test_every_class_stands_to_every_contract_as_its_findings_say(made):
    data, _, _ = made
    assert data["states"] == {
        state: sum(list(row["contracts"].values()).count(state) for row in data["classes"]) for state in STATES
    }
    worst: dict[tuple[str, str], str] = {}
    for finding in data["findings"]:
        state = "silenced" if finding["silenced"] else finding["severity"]
        for name in finding["classes"]:
            key = (name, finding["code"])
            worst[key] = min(worst.get(key, state), state, key=STATES.index)
    said = {
        (f"{row['module']}:{row['class']}", code): state
        for row in data["classes"]
        for code, state in row["contracts"].items()
        if state in ("error", "warning", "info", "silenced")
    }
    assert said == worst


def test_a_family_is_as_its_worst_contract_and_counts_them(made):
    data, _, _ = made
    for row in data["classes"]:
        for prefix, family in row["families"].items():
            states = [state for code, state in row["contracts"].items() if code.startswith(prefix)]
            assert family["state"] == min(states, key=STATES.index)
            assert {key: n for key, n in family.items() if key != "state"} == Counter(states)


def row(data: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in data["classes"] if row["class"] == name]
    return found


def test_met_is_what_a_contract_is_about(made):
    """What the example's README says of its clean models, looked up by hand in their sources."""
    data, _, _ = made
    fir, spruce = row(data, "FirForCausalLM")["contracts"], row(data, "SpruceForCausalLM")["contracts"]
    assert {fir[c] for c in ("NAM201", "NAM203", "NAM208", "NAM209", "NAM301", "NAM701")} == {"met"}  # BOTH
    assert {fir[c] for c in ("NAM601", "NAM501", "NAM305")} == {"not-applicable"}  # dense, no adapter, nested
    assert {spruce[c] for c in ("NAM601", "NAM501", "NAM201")} == {"met"}  # experts and an adapter
    assert {spruce[c] for c in ("NAM208", "NAM209")} == {"not-applicable"}  # UNTIED_ONLY
    encoder = next(r for r in data["classes"] if r["package"] == "willow" and r["contracts"]["NAM201"] != "met")
    assert encoder["contracts"]["NAM203"] == "not-applicable"  # no head


def test_capabilities_are_as_declared(made):
    data, _, _ = made
    assert row(data, "SpruceForCausalLM")["capabilities"]["declared"] == "static"
    larch = next(r for r in data["classes"] if r["package"] == "larch")["capabilities"]
    assert larch["declared"] == "by config" and "varies" in larch["flags"].values()


def test_a_folder_limits_the_classes(home: Path, tmp_path: Path):
    target = tmp_path / "one.json"
    run(home / "acme_automodel/components/models/fir", "--json", target)
    data = json.loads(target.read_text())
    assert {entry["package"] for entry in data["classes"]} == {"fir"}
    assert data["summary"]["classes"] == len(data["classes"])


# -- what is silenced -----------------------------------------------------------------------------------------------

YEW = "acme_automodel/components/models/yew/model.py"


def test_what_is_silenced_shows_as_that(example: Path, tmp_path: Path):
    before = tmp_path / "before.json"
    run(example, "--json", before)
    findings = [f for f in json.loads(before.read_text())["findings"] if f["path"] == YEW]
    silent, exempt = findings[0], findings[1]
    assert silent["code"] != exempt["code"]
    lines = (example / YEW).read_text().splitlines()
    lines[silent["line"] - 1] += f"  # automodel-lint: ignore[{silent['code']}] the head <b>is</b> tied"
    (example / YEW).write_text("\n".join(lines) + "\n")
    name = exempt["symbol"].partition(".")[0]
    with (example / "pyproject.toml").open("a") as stream:
        stream.write(f'\n[tool.automodel-lint.exempt]\n{exempt["code"]} = {{ {name} = "an old one" }}\n')
    run(example, "--json", tmp_path / "data.json", "--html", tmp_path / "page.html")
    data = json.loads((tmp_path / "data.json").read_text())
    jsonschema.validate(data, SCHEMA)
    told = {(f["code"], f["silenced"]["by"]): f["silenced"]["reason"] for f in data["findings"] if f["silenced"]}
    assert told[silent["code"], "comment"] == "the head <b>is</b> tied"
    assert told[exempt["code"], "exemption"] == "an old one"
    contracts = row(data, name)["contracts"]
    assert contracts[exempt["code"]] == "silenced"
    assert data["codes"][exempt["code"]]["silenced"] >= 1
    text = (tmp_path / "page.html").read_text()
    assert "silenced by a comment: the head &lt;b&gt;is&lt;/b&gt; tied" in text


def test_a_baseline_silences(example: Path, tmp_path: Path):
    runner = CliRunner()
    assert runner.invoke(command_line, ["baseline", str(example)]).exit_code == 0
    package = example / "acme_automodel/components/models/yew"
    with (example / "pyproject.toml").open("a") as stream:
        stream.write('baseline = "automodel-lint-baseline.json"\n')
    run(package, "--json", tmp_path / "data.json")
    data = json.loads((tmp_path / "data.json").read_text())
    assert data["summary"]["errors"] == data["summary"]["warnings"] == 0
    assert data["summary"]["baselined"] >= len(data["findings"]) > 0
    assert {f["silenced"]["by"] for f in data["findings"]} == {"baseline"}


# -- the page -------------------------------------------------------------------------------------------------------


def test_the_matrix_shows_what_the_data_say(made):
    data, page, _ = made
    matrix = page.one("table", "matrix")
    codes = [head.attributes["data-code"] for head in matrix.all("th") if "data-code" in head.attributes]
    rows = [line for line in matrix.all("tr") if "data-m" in line.attributes]
    assert len(rows) == len(data["classes"])
    for line, expected in zip(rows, data["classes"], strict=True):
        (name,) = line.all("th")
        assert expected["class"] in name.text.replace(" ", "") and name.attributes["scope"] == "row"
        shown = {c: STATE_OF_CLASS[td.attributes["class"]] for c, td in zip(codes, line.all("td"), strict=True)}
        assert shown == expected["contracts"]


def test_a_cell_leads_to_its_findings_and_to_the_rule(made):
    data, page, _ = made
    articles = {a.attributes["id"]: a for a in page.all("article")}
    assert len(articles) == len(data["findings"])
    cells = [td for td in page.one("table", "matrix").all("td") if "data-f" in td.attributes]
    assert cells
    for cell in cells:
        numbers = cell.attributes["data-f"].split()
        assert all(f"f{number}" in articles for number in numbers)
        assert cell.all("a")[0].attributes["href"] == f"#f{numbers[0]}"
    framed = [a for a in articles.values() if a.all("pre")]
    assert len(framed) > len(articles) * 0.9
    assert all(len(a.all("mark")) == 1 for a in framed)
    urls = {a.attributes["href"] for a in page.all("a") if a.attributes.get("href", "").startswith("https:")}
    assert {f["code"] for f in data["findings"]} <= {url.rpartition("/")[2][:6] for url in urls}
    assert all(url.startswith("https://automodel-lint.readthedocs.io/rules/NAM") for url in urls)


def test_nothing_is_loaded_from_elsewhere(made):
    _, page, text = made
    (policy,) = [m for m in page.all("meta") if m.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.attributes["content"].startswith("default-src 'none'; ")
    assert "unsafe" not in policy.attributes["content"]
    for element in page.all():
        assert element.tag not in ("link", "img", "iframe", "object", "embed", "base", "source", "form[action]")
        for name, value in element.attributes.items():
            assert not name.startswith("on") and name not in ("src", "style", "srcset", "action", "background"), name
            assert name != "href" or value.startswith(("#", "https://automodel-lint.readthedocs.io/rules/")), value
    assert "url(" not in text.partition("</style>")[0] and "@import" not in text


def test_the_page_is_whole(made):
    _, page, text = made
    ids = [e.attributes["id"] for e in page.all() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        href = link.attributes.get("href", "")
        assert not href.startswith("#") or href[1:] in ids, href
    assert str(ROOT) not in text, "no path of this machine"
    assert text.isascii()
    for table in page.all("table"):
        assert all("scope" in th.attributes for th in table.all("th"))


def test_it_can_be_made_again(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    fir = home / "acme_automodel/components/models/fir"
    for name in ("a", "b"):
        run(fir, "--html", tmp_path / f"{name}.html", "--json", tmp_path / f"{name}.json")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["made"] == "2023-11-14T22:13:20Z"


def test_a_code_host_gets_links(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    git(home, "init", "--quiet")
    git(home, "commit", "--quiet", "--allow-empty", "-m", "one")
    head = git(home, "rev-parse", "HEAD")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/automodel")
    package = home / "acme_automodel/components/models/yew"
    run(package, "--html", tmp_path / "page.html", "--json", tmp_path / "data.json")
    data, text = json.loads((tmp_path / "data.json").read_text()), (tmp_path / "page.html").read_text()
    assert data["repository"]["commit"] == head and data["repository"]["committed"]
    line = data["findings"][0]["line"]
    assert f'href="https://github.com/acme/automodel/blob/{head}/{data["findings"][0]["path"]}#L{line}"' in text
    monkeypatch.setenv("GITHUB_SERVER_URL", "javascript:alert(1)//")
    run(package, "--html", tmp_path / "page.html")
    assert "javascript:" not in (tmp_path / "page.html").read_text()


# -- hostile input --------------------------------------------------------------------------------------------------


def test_nothing_that_is_linted_becomes_markup(example: Path, tmp_path: Path):
    hostile = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>{{ 7*7 }}&lt;"
    models = example / "acme_automodel/components/models"
    shutil.copytree(models / "yew", models / "yew<b>&'x")
    for path in (models / "yew").glob("*.py"):
        text = path.read_text()
        lines = text.splitlines()
        lines = [f"{line}  # {hostile}" if line.endswith((":", ")")) and '"""' not in line else line for line in lines]
        path.write_text("\n".join(lines) + "\n")
    registry = example / "acme_automodel/_transformers/registry.py"
    text = registry.read_text()
    first = text.index('"YewForCausalLM"')
    registry.write_text(text[:first] + "'Yew<script>alert(3)</script>'" + text[first + len('"YewForCausalLM"') :])
    with (example / "pyproject.toml").open("a") as stream:
        stream.write("\n[tool.automodel-lint.exempt]\nNAM209 = { YewForCausalLM = '</pre><svg onload=alert(4)>' }\n")
    run(example, "--html", tmp_path / "page.html", "--no-cache")
    text = (tmp_path / "page.html").read_text()
    page = parsed(text, strict=True)
    assert len(page.all("script")) == 2 and not page.all("img")
    assert all(svg.attributes.get("class") == "bar" for svg in page.all("svg"))
    assert "49" not in [e.text.strip() for e in page.all("pre")]
    assert any(hostile in pre.text for pre in page.all("pre")), "it is shown as it is"
    assert "<script>alert" not in text and "<img" not in text and "<svg onload" not in text


# -- wrong use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "say where the report is written: --html FILE, --json FILE, or both"),
        (["--html", "a", "--json", "./a"], "a: --html and --json name one file"),
        (["--html", "no/such/folder/a.html"], "no/such/folder/a.html: cannot be written: no such folder"),
        (["somewhere", "--html", "a", "--installed", "acme"], "give either a path or --installed"),
        (["--html", "a", "--probe-result", "nothing.json"], "nothing.json: no such file"),
        (["--html", "a", "--select", "XYZ"], "XYZ"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        run(*arguments)
    assert expected in str(caught.value) and "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_command_line(cli: Cli, home: Path, tmp_path: Path):
    fir = home / "acme_automodel/components/models/fir"
    done = cli("report", fir, "--html", tmp_path / "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("contracts: 0 errors, 0 warnings, 0 info\n")
    refused = cli("report", fir)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1


# -- what lies beside the package -----------------------------------------------------------------------------------

BESIDE = {
    "tests/unit_tests/models/fir/test_fir.py": "from acme_automodel.components.models.fir import model\n",
    "docs/model-coverage/fir.md": "# Fir\n\n| architecture |\n|---|\n| `FirForCausalLM` |\n",
    "examples/fir.yaml": "recipe: TrainFinetuneRecipe\nmodel:\n"
    "  _target_: acme_automodel.components.models.fir.model.FirForCausalLM\ndistributed:\n  tp_size: 4\n  cp_size: 1\n",
}


def test_evidence_is_what_the_checkout_has(example: Path, tmp_path: Path):
    before = tmp_path / "before.json"
    package = example / "acme_automodel/components/models/fir"
    for folder in ("tests", "docs", "examples"):
        shutil.rmtree(example / folder, ignore_errors=True)
    run(package, "--json", before)
    nothing = {"tests": None, "docs": None, "recipes": None, "possible_recipes": [], "axes": {}}
    fir = row(json.loads(before.read_text()), "FirForCausalLM")
    assert fir["coverage"] == nothing and fir["contracts"]["NAM801"] == "not-applicable"
    for path, text in BESIDE.items():
        (example / path).parent.mkdir(parents=True, exist_ok=True)
        (example / path).write_text(text)
    run(example, "--json", tmp_path / "data.json", "--html", tmp_path / "page.html")
    data = json.loads((tmp_path / "data.json").read_text())
    jsonschema.validate(data, SCHEMA)
    fir = row(data, "FirForCausalLM")
    tests, docs, recipe = BESIDE
    assert fir["coverage"] == {
        "tests": [tests],
        "docs": [docs],
        "recipes": [recipe],
        "possible_recipes": [],
        "axes": {"tp": {"largest": 4, "recipes": [recipe]}},
    }
    assert fir["contracts"]["NAM801"] == fir["contracts"]["NAM802"] == "met"
    spruce = row(data, "SpruceForCausalLM")
    assert spruce["coverage"]["tests"] == [] and spruce["contracts"]["NAM801"] == "warning"
    # Fir says that it has never been run with tensor parallelism
    assert fir["capabilities"]["flags"]["supports_tp"] == "no" and fir["contracts"]["NAM306"] == "warning"
    page = parsed((tmp_path / "page.html").read_text(), strict=True)
    (wrong,) = page.all("td", "wrong")
    assert "4 at most, in 1 recipe; recipes use what is declared unsupported" in " ".join(wrong.text.split())
    elsewhere = [f for f in data["findings"] if not f["classes"]]
    assert {f["code"] for f in elsewhere} >= {"NAM816"} and page.all("p", "elsewhere")
