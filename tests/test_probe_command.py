"""``automodel-lint probe`` as a person calls it, on the example checkout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from automodel_lint.pages import pages

from .conftest import ROOT, Cli

PACKAGE = "acme_automodel/components/models"
CHECKS = {code for code, page in pages().items() if page.is_probed}
# A class that takes a setting which its policy refuses: the guard is gone, and the policy says the head is never tied.
UNGUARDED = '''"""A decoder that says it never ties, and does not refuse to."""

from __future__ import annotations

from acme_automodel.components.models.fir.config import FirConfig
from acme_automodel.components.models.fir.config import tiny_config as tiny_config
from acme_automodel.components.models.fir.model import FirForCausalLM
from acme_automodel.components.models.common.tie_word_embeddings import TieSupport


class ThornForCausalLM(FirForCausalLM):{comment}
    tie_word_embeddings_support = TieSupport.UNTIED_ONLY

    def __init__(self, config: FirConfig, backend=None):
        type(self).tie_word_embeddings_support = TieSupport.BOTH
        super().__init__(config, backend)
        type(self).tie_word_embeddings_support = TieSupport.UNTIED_ONLY


ModelClass = ThornForCausalLM
'''
START = "    def __init__(self, config: FirConfig, backend=None):"
Probe = Callable[..., Any]


@pytest.fixture
def probe(cli: Cli, torch_python: str) -> Probe:
    """Runs the probe on a checkout."""

    def run(path: Path, *arguments: object, **named: Any) -> Any:
        return cli("probe", path, "--python", torch_python, *arguments, **named)

    return run


def thorn(checkout: Path, comment: str = "") -> Path:
    """Add the unguarded class to a checkout; return its file."""
    folder = checkout / PACKAGE / "thorn"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .model import ThornForCausalLM as ThornForCausalLM\n", encoding="utf-8")
    (folder / "model.py").write_text(UNGUARDED.format(comment=comment), encoding="utf-8")
    registry = checkout / "acme_automodel" / "_transformers" / "registry.py"
    entry = '        ("ThornForCausalLM", ("acme_automodel.components.models.thorn.model", "ThornForCausalLM")),\n'
    text = registry.read_text(encoding="utf-8")
    anchor = '        ("ElmForCausalLM", ('
    assert anchor in text
    registry.write_text(text.replace(anchor, entry + anchor, 1), encoding="utf-8")
    return folder / "model.py"


def test_json_is_of_the_schema_and_has_every_check(example: Path, probe: Probe) -> None:
    done = probe(example, "--arch", "FirForCausalLM", "--output-format", "json")
    data = json.loads(done.stdout)
    jsonschema.validate(data, json.loads((ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8")))
    (row,) = data["probe"]
    assert row["class"] == "acme_automodel.components.models.fir.model:FirForCausalLM"
    assert set(row["checks"]) == CHECKS
    assert row["config"]["hidden_size"] == 48
    assert all(check["reason"] for check in row["checks"].values() if check["status"] == "not-probed")
    assert done.returncode == 0 and not data["findings"], data["findings"]


def test_every_page_has_a_check(example: Path, probe: Probe) -> None:
    done = probe(example, "--arch", "FirForCausalLM", "--output-format", "json")
    reasons = {code: check["reason"] for code, check in json.loads(done.stdout)["probe"][0]["checks"].items()}
    assert "the probe has no such check" not in reasons.values(), reasons


def test_text_ends_with_the_table_and_the_count(example: Path, probe: Probe) -> None:
    thorn(example)
    done = probe(example, "--arch", "FirForCausalLM", "--arch", "ThornForCausalLM", "--checks", "NAM902,NAM904")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    marks = {
        line.split()[0]: line.split()[1:3] for line in lines if line.startswith(("FirFor", "ThornFor")) and " s" in line
    }
    assert marks == {"FirForCausalLM": ["✓", "✓"], "ThornForCausalLM": ["✓", "✗"]}
    assert lines[-1].startswith("Found 1 error in 2 registered classes")
    assert lines.index("ThornForCausalLM") < next(
        i for i, line in enumerate(lines) if line.startswith("FirForCausalLM")
    )


def test_a_finding_points_at_its_class_and_can_be_silenced(example: Path, probe: Probe, cli: Cli) -> None:
    path = thorn(example)
    line = path.read_text(encoding="utf-8").splitlines().index(START) + 1
    options = ("--arch", "ThornForCausalLM", "--checks", "NAM904", "--output-format", "json")
    (found,) = json.loads(probe(example, *options).stdout)["findings"]
    assert (found["code"], found["path"]) == ("NAM904", f"{PACKAGE}/thorn/model.py")
    assert found["symbol"] == "ThornForCausalLM.__init__" and found["line"] == line
    path.write_text(path.read_text(encoding="utf-8").replace(START, f"{START}  # noqa: NAM904"), encoding="utf-8")
    silenced = json.loads(probe(example, *options).stdout)
    assert not silenced["findings"] and silenced["summary"]["suppressed"] == 1
    stale = cli("check", path, "--select", "NAM001", "--output-format", "concise")
    assert "NAM001" not in stale.stdout, "check cannot tell whether a comment for the probe is unused"


def test_a_comment_for_check_is_not_unused_for_the_probe(example: Path, probe: Probe) -> None:
    path = thorn(example, "  # noqa: NAM201")
    done = probe(path, "--checks", "NAM902", "--output-format", "json")
    assert done.returncode == 0 and not json.loads(done.stdout)["findings"]
    assert [row["class"].rpartition(":")[2] for row in json.loads(done.stdout)["probe"]] == ["ThornForCausalLM"]


def test_an_exemption_and_the_baseline_hold(example: Path, probe: Probe, cli: Cli) -> None:
    thorn(example)
    settings = example / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    options = ("--arch", "ThornForCausalLM", "--checks", "NAM904", "--output-format", "json")
    exempt = '\n[tool.automodel-lint.exempt]\nNAM904 = { ThornForCausalLM = "on purpose" }\n'
    assert "[tool.automodel-lint.exempt]" not in text
    settings.write_text(text + exempt, encoding="utf-8")
    assert not json.loads(probe(example, *options).stdout)["findings"]
    checked = cli("check", example, "--select", "NAM003", "--output-format", "concise")
    assert "NAM003" not in checked.stdout, "check cannot tell whether an exemption for the probe is stale"


def test_show_config(example: Path, probe: Probe) -> None:
    shown = json.loads(probe(example, "--show-config", "FirForCausalLM").stdout)
    assert shown["class"].endswith(":FirForCausalLM")
    assert shown["config"]["hidden_size"] == 48 and shown["config"]["vocab_size"] == 97


def test_the_settings_say_what_cannot_be_derived(example: Path, probe: Probe) -> None:
    settings = example / "pyproject.toml"
    recipe = "\n[tool.automodel-lint.probe.tiny.FirForCausalLM]\nset = { hidden_size = 56 }\n"
    settings.write_text(settings.read_text(encoding="utf-8") + recipe, encoding="utf-8")
    shown = json.loads(probe(example, "--show-config", "FirForCausalLM").stdout)
    assert shown["config"]["hidden_size"] == 56


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--arch", "FirForCasualLM"), "did you mean 'FirForCausalLM'?"),
        (("--checks", "NAM2"), "--checks: NAM2 is no check of the probe"),
        (("--installed", "nemo_automodel"), "give either paths or --installed"),
        (("--timeout", "soon"), "--timeout"),
        (("--show-config", "Nobody"), "no architecture or class 'Nobody' is registered"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_wrong_use_is_one_line(example: Path, probe: Probe, arguments: tuple[str, str], said: str) -> None:
    done = probe(example, *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1 and said in done.stderr


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("[tool.automodel-lint.probe]\nsmall = 1", "probe: unknown key 'small'"),
        (
            "[tool.automodel-lint.probe.tiny.FirForCausalLM]\nsett = { a = 1 }",
            "unknown key 'sett'; did you mean 'set'?",
        ),
        ('[tool.automodel-lint.probe.tiny]\nFirForCausalLM = "tiny_config"', 'as "module:function"'),
        ("[tool.automodel-lint.probe]\ntiny = 3", "probe.tiny must be a table"),
    ],
)
def test_broken_settings_are_one_line_with_the_place(example: Path, probe: Probe, recipe: str, said: str) -> None:
    settings = example / "pyproject.toml"
    settings.write_text(f"{settings.read_text(encoding='utf-8')}\n{recipe}\n", encoding="utf-8")
    done = probe(example, "--arch", "FirForCausalLM")
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1 and said in done.stderr and "pyproject.toml:" in done.stderr


def test_check_does_not_answer_for_the_probe(example: Path, cli: Cli) -> None:
    for code in ("NAM903", "NAM9"):
        done = cli("check", example, "--select", code)
        assert done.returncode == 2 and done.stdout == ""
        assert f"{code} is looked at by `automodel-lint probe`" in done.stderr
    assert cli("check", example, "--select", "NAM", "--exit-zero").returncode == 0
