"""``automodel-lint classify`` as a person uses it: bad files, what is near, what is there, the forms of output."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from automodel_lint.commands import command_line
from automodel_lint.onboarding import config_file
from automodel_lint.onboarding.config_file import ConfigProblem, config_of, read_config
from automodel_lint.onboarding.onboarding import onboard
from automodel_lint.pages import pages
from automodel_lint.reporters.classify_json import payload
from automodel_lint.session import Request, Session

from .conftest import EXAMPLE, ROOT
from .test_classify_configs import EXPECTED, FOLDER

SCHEMA = json.loads((ROOT / "docs" / "classify.schema.json").read_text())


def run(*args: object) -> Result:
    return CliRunner().invoke(command_line, ["classify", *map(str, args)])


# -- files that cannot be used --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        (b"", "", "empty"),
        (b"  \n ", "", "empty"),
        (b"[1, 2]", ":1", "a list, where a config is an object"),
        (b'"text"', ":1", "a text"),
        (b"7", ":1", "a number"),
        (b'{"a": 1,\n  "b": }', ":2:8", "not valid JSON"),
        (b'{"a": 1\n', ":2:1", "not valid JSON"),
        (b"{'a': 1}", ":1:2", "not valid JSON"),
        (b'{"a": "\xff"}', ":1", "not UTF-8"),
        (b'{"a": 1}\n{"b": 2}', ":2:1", "not valid JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", ":1", "Git LFS"),
        (b"<!DOCTYPE html><html></html>", ":1", "web page"),
        (b"[" * 100_000, "", "nested too deeply"),
        (b'{"vocab_size": ' + b"9" * 10_000 + b"}", "", "not usable JSON"),
    ],
)
def test_a_file_that_is_no_config(tmp_path: Path, content: bytes, place: str, words: str):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ConfigProblem) as caught:
        read_config(str(path))
    assert str(caught.value).startswith(f"{path}{place}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ('"hidden_size": "4096"', "2:3", "`hidden_size` must be a number, and is a text"),
        ('"hidden_size": [1]', "2:3", "`hidden_size` must be a number, and is a list"),
        ('"hidden_size": -1', "2:3", "`hidden_size` must be a whole number that is not negative, and is -1"),
        ('"hidden_size": 0.5', "2:3", "`hidden_size` must be a whole number"),
        ('"hidden_size": NaN', "2:3", "`hidden_size` must be a number"),
        ('"hidden_size": true', "2:3", "`hidden_size` must be a number, and is a truth value"),
        ('"num_experts": [1, "2"]', "2:3", "`num_experts` must be a number or a list of numbers"),
        ('"architectures": "OakForCausalLM"', "2:3", "`architectures` must be a list, and is a text"),
        ('"architectures": [1]', "2:3", "`architectures` must be a list of names"),
        ('"architectures": ["a`b"]', "2:3", "`architectures` must be a list of names"),
        ('"tie_word_embeddings": "yes"', "2:3", "`tie_word_embeddings` must be true or false"),
        ('"text_config": 3', "2:3", "`text_config` must be an object, and is a number"),
        ('"x": {"tie_word_embeddings": 1},\n "text_config": {"a": [1, {"b": 2}],\n   "tie_word_embeddings": 1}', "4:4",
         "`text_config.tie_word_embeddings` must be true or false"),
        ('"model_type": 7', "2:3", "`model_type` must be a text"),
        ('"quantization_config": "fp8"', "2:3", "`quantization_config` must be an object"),
        ('"auto_map": []', "2:3", "`auto_map` must be an object"),
        ('"rope_scaling": "yarn"', "2:3", "`rope_scaling` must be an object"),
        ('"layer_types": "full"', "2:3", "`layer_types` must be a list"),
    ],
)  # fmt: skip
def test_a_field_of_a_wrong_type(tmp_path: Path, fields: str, place: str, words: str):
    path = tmp_path / "config.json"
    path.write_text(f"{{\n  {fields}\n}}")
    result = run(path)
    assert result.exit_code == 2
    assert f"{path}:{place}: {words}" in result.stderr
    assert result.stderr.count("\n") <= 2 and not result.stdout, "one line, beside that there is no checkout here"


def test_nothing_is_written_for_a_file_that_cannot_be_used(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"hidden_size": "x"}')
    assert run(tmp_path, "--output-file", tmp_path / "out.txt").exit_code == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json"]


def test_a_folder(tmp_path: Path):
    result = run(tmp_path)
    assert result.exit_code == 2 and "no config.json and no model_index.json in this folder" in result.stderr
    shutil.copy(FOLDER / "dense_gqa.json", tmp_path / "config.json")
    assert read_config(str(tmp_path)).data["model_type"] == "fern3"


def test_no_such_file(tmp_path: Path):
    result = run(tmp_path / "none.json")
    assert result.exit_code == 2 and "none.json: cannot be read: No such file" in result.stderr


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(config_file, "LIMIT", 1024)
    (tmp_path / "config.json").write_text(json.dumps({"x": "y" * 2000}))
    with pytest.raises(ConfigProblem, match="larger than"):
        read_config(str(tmp_path))


def test_a_large_file_is_read(tmp_path: Path):
    labels = {str(n): f"LABEL_{n}" for n in range(50_000)}
    data = {**json.loads((FOLDER / "dense_gqa.json").read_text()), "id2label": labels, "hidden_size": "x"}
    (tmp_path / "config.json").write_text(json.dumps(data, indent=2))
    result = run(tmp_path)
    assert result.exit_code == 2 and "`hidden_size` must be a number" in result.stderr


def test_a_byte_order_mark_and_a_key_that_stands_twice(tmp_path: Path):
    path = tmp_path / "config.json"
    path.write_bytes('\ufeff{"num_experts": 4,\n "num_experts": 0}'.encode())
    found = read_config(str(path))
    assert (found.repeated, found.data, found.line("num_experts")) == (("num_experts",), {"num_experts": 0}, 2)


def test_text_from_a_config_cannot_leave_its_line(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = "x\n## heading\x1b]0;title\x07`</details>@user"
    config = {
        "architectures": ["OakForCausalLM"],
        "model_type": evil,
        "hidden_act": evil,
        "norm_type": evil,
        "scoring_func": evil,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "rope_scaling": {"type": evil},
        "quantization_config": {"quant_method": evil},
        "auto_map": {evil: evil},
        "vision_config": {"model_type": evil},
        "layer_types": [evil, "linear_attention"],
        evil: {"patch_size": 14},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    for form in ("text", "markdown"):
        result = run("config.json", "--output-format", form, "-v" if form == "text" else "--nearest=1")
        assert result.exit_code == 0, result.output
        assert "\x1b]" not in result.stdout and "\x07" not in result.stdout
        assert not any(line.startswith("## heading") for line in result.stdout.splitlines())


# -- beside a checkout -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project():
    return Session(Request(paths=[str(EXAMPLE)])).project()


def beside(project, config: dict | str, most: int = 0) -> dict:
    """What JSON says of a config, or of one of the files, beside the example checkout."""
    file = read_config(str(FOLDER / f"{config}.json")) if isinstance(config, str) else config_of(config)
    data = payload(onboard(file, project, [], most))
    jsonschema.validate(data, SCHEMA)
    return data


@pytest.mark.parametrize("name", EXPECTED)
def test_json_follows_its_schema(project, name: str):
    most = int(name in ("moe_mla", "vlm_flat", "diffusion_pipeline"))
    data = beside(project, name, most)
    assert " ".join([data["kind"], *data["traits"]]) == EXPECTED[name][0]
    assert data["plan"]
    assert len(data["nearest"]) == (most if name != "diffusion_pipeline" else 0)
    rules = {step["rule"] for step in data["plan"]} - {None}
    assert {rule for rule in rules if not rule.startswith(("NAM8", "NAM308", "NAM508"))} <= set(pages())


def test_json_at_the_command_line(example: Path):
    result = run(FOLDER / "moe_mla.json", "--checkout", example, "--output-format", "json", "--nearest", 2)
    data = json.loads(result.stdout)
    jsonschema.validate(data, SCHEMA)
    assert (data["kind"], len(data["nearest"]), data["checkout"]) == ("moe", 2, str(example))


FIELDS = dict(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-6,
    rope_theta=10000.0, vocab_size=256, hidden_act="silu", intermediate_size=128, tie_word_embeddings=False,
)  # fmt: skip
EXPERTS = dict(n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, routed_scaling_factor=1.0)


@pytest.mark.parametrize(
    ("config", "packages", "builds", "missing"),
    [
        (FIELDS, {"fir", "elm", "yew", "alder", "juniper", "larch"}, (), ()),
        # those with shared experts; the ones without come behind them
        ({**FIELDS, **EXPERTS, "n_shared_experts": 1}, {"spruce", "maple"}, ("routed", "shared"), ()),
        (
            {**FIELDS, **EXPERTS, "layer_types": ["mamba", "attention"], "mamba_num_heads": 4, "attention_period": 2},
            {"hawthorn", "sycamore"},
            ("routed", "state space"),
            (),
        ),
        ({"text_config": FIELDS, "vision_config": {"patch_size": 14}}, {"cedar", "poplar"}, ("image",), ()),
        ({**FIELDS, "is_causal": False, "pooling": "avg"}, {"aspen"}, (), ()),
        ({**FIELDS, **EXPERTS, "kv_lora_rank": 16}, {"spruce", "maple", "holly"}, ("routed",), ("MLA",)),
    ],
)
def test_the_nearest(project, config: dict, packages: set[str], builds: tuple[str, ...], missing: tuple[str, ...]):
    architecture = "OakModel" if "pooling" in config else "OakForCausalLM"
    first = beside(project, {"architectures": [architecture], **config}, most=1)
    near = first["nearest"][0]
    assert near["package"] in packages
    placed = {shared["name"] for shared in near["shared"] if shared["path"]}
    assert set(builds) <= placed
    assert set(missing) <= {absent["name"] for absent in near["missing"]}
    for shared in near["shared"]:
        if shared["path"]:
            lines = (EXAMPLE / shared["path"]).read_text().splitlines()
            assert lines[shared["line"] - 1].strip(), "a place is one to look at"


def test_an_architecture_that_is_registered(project):
    config = {"architectures": ["SpruceForCausalLM"], "model_type": "spruce", **FIELDS, **EXPERTS}
    data = beside(project, config, most=3)
    assert data["registered"]["class"] == "SpruceForCausalLM"
    text = (EXAMPLE / data["registered"]["path"]).read_text().splitlines()[data["registered"]["line"] - 1]
    assert "SpruceForCausalLM" in text
    assert not data["registered"]["lacking"] and not data["plan"]
    assert data["config_class"]["status"] == "registered" and data["config_class"]["class"] == "SpruceConfig"
    assert data["names"]["folder"] == "acme_automodel/components/models/spruce"
    assert "SpruceForCausalLM" not in {near["class"] for near in data["nearest"]}


def test_a_registered_class_that_does_not_do_what_a_config_says(project):
    config = {"architectures": ["FirForCausalLM"], **FIELDS, **EXPERTS, "kv_lora_rank": 16}
    lacking = {one["name"] for one in beside(project, config)["registered"]["lacking"]}
    assert lacking == {"routed", "MLA"}


# -- what there is to write ------------------------------------------------------------------------------------------


def steps(data: dict, section: str) -> list[dict]:
    return [step for step in data["plan"] if step["section"] == section]


def files(data: dict) -> dict[str, str]:
    return {step["path"].rpartition("/")[2]: step["state"] for step in steps(data, "files")}


def test_files_to_write(project):
    plain = files(beside(project, {"architectures": ["OakForCausalLM"], "model_type": "oak", **FIELDS}))
    assert plain == {"__init__.py": "to-do", "config.py": "if", "model.py": "to-do", "state_dict_adapter.py": "if"}
    assert files(beside(project, "moe_mla"))["layers.py"] == "to-do"
    adapters = [s for s in steps(beside(project, "moe_mla"), "files") if "state_dict_adapter" in s["path"]]
    assert adapters[0]["state"] == "to-do" and "fp8" in adapters[0]["why"] and "experts" in adapters[0]["why"]


def test_registrations_to_write(project):
    data = beside(project, "moe_mla")
    (entry,) = steps(data, "registration")
    assert entry["path"] == "acme_automodel/_transformers/registry.py"
    assert '"acme_automodel.components.models.cedar_v3.model", "CedarForCausalLM"' in entry["what"]
    assert data["config_class"]["status"] == "unknown" and data["remote_code"]["only"] is None
    data = beside(project, "encoder_bidirectional")
    assert '{"retrieval"}' in steps(data, "registration")[0]["what"]


def tensors(data: dict) -> str:
    return " ".join(step["what"] for step in steps(data, "precision") if step["state"] == "to-do")


def test_what_stays_in_fp32(project):
    assert "e_score_correction_bias" in tensors(beside(project, "moe_mla"))
    assert {"A_log", "dt_bias"} <= set(tensors(beside(project, "hybrid_mamba")).replace("`", "").split())
    assert "sinks" in tensors(beside(project, {**FIELDS, "add_swa_attention_sink_bias": True}))
    assert not tensors(beside(project, "dense_gqa"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dense_tied", "`BOTH` or `TIED_ONLY`"),
        ("dense_gqa", "`UNTIED_ONLY`"),
        ("dense_alibi", "which policy is open"),
    ],
)
def test_which_policy(project, name: str, words: str):
    found = [step for step in steps(beside(project, name), "declarations") if step["rule"] == "NAM201"]
    assert len(found) == 1 and words in found[0]["what"]


def test_media_need_a_test_with_media(project):
    data = beside(project, "vlm_flat")
    assert any("text with image" in step["what"] for step in steps(data, "tests"))
    assert steps(data, "docs")[0]["path"] == "docs/model-coverage/vlm"
    assert steps(data, "recipe")[0]["path"] == "examples/vlm_finetune/heather2_vl"


# -- with transformers ------------------------------------------------------------------------------------------------


@pytest.fixture
def transformers(tmp_path: Path, monkeypatch) -> list[str]:
    """A library folder in which transformers knows one ``model_type`` and one architecture."""
    auto = tmp_path / "site" / "transformers" / "models" / "auto"
    auto.mkdir(parents=True)
    for folder in (auto, auto.parent, auto.parent.parent):
        (folder / "__init__.py").write_text("")
    (auto.parent.parent / "__init__.py").write_text("from .configuration_fern import Fern3Config\n")
    (auto.parent.parent / "configuration_fern.py").write_text("class Fern3Config(PretrainedConfig):\n    pass\n")
    table = 'CONFIG_MAPPING_NAMES = OrderedDict([("fern3", "Fern3Config")])\n'
    (auto / "configuration_auto.py").write_text(table)
    table = 'MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict([("fern3", "FernForCausalLM")])\n'
    (auto / "modeling_auto.py").write_text(table)
    return [str(tmp_path / "site")]


@pytest.mark.parametrize(
    ("name", "status", "only"),
    [("dense_gqa", "built-in", False), ("remote_only", "needed", True), ("dense_tied", "needed", False)],
)
def test_transformers_is_asked(transformers: list[str], name: str, status: str, only: bool):
    data = payload(onboard(read_config(str(FOLDER / f"{name}.json")), None, transformers))
    assert (data["config_class"]["status"], data["remote_code"]["only"]) == (status, only)
    written = [step["what"] for step in steps(data, "registration") if "_CUSTOM_CONFIG_REGISTRATIONS" in step["what"]]
    assert bool(written) == (status == "needed")
    if name == "remote_only":
        assert "BrackenConfig" in written[0]


# -- forms ------------------------------------------------------------------------------------------------------------


def test_every_form_for_every_config(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in EXPECTED:
        for form in ("text", "markdown"):
            result = run(FOLDER / f"{name}.json", "--format", form)
            assert result.exit_code == 0, (name, result.output)
            assert "None" not in result.stdout.replace("None of", ""), name


def test_the_folder_is_only_looked_at(tmp_path: Path):
    before = sorted(p.name for p in FOLDER.iterdir())
    run(FOLDER / "remote_only.json")
    assert sorted(p.name for p in FOLDER.iterdir()) == before


def test_without_a_checkout(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(FOLDER / "dense_gqa.json")
    assert result.exit_code == 0
    assert "no checkout around this folder" in result.stderr
    assert "nearest" not in result.stdout
    assert run(FOLDER / "dense_gqa.json", "--checkout", tmp_path).exit_code == 2


def test_checkout_and_package_exclude_each_other(example: Path):
    assert run(FOLDER / "dense_gqa.json", "--checkout", example, "--installed", "acme_automodel").exit_code == 2


def test_output_file(example: Path, tmp_path: Path):
    out = tmp_path / "plan.md"
    result = run(FOLDER / "moe_mla.json", "--checkout", example, "--format", "markdown", "--output-file", out)
    assert result.exit_code == 0 and not result.stdout
    assert out.read_text().startswith("## Add `CedarForCausalLM`\n")
    missing = tmp_path / "no" / "plan.md"
    assert run(FOLDER / "moe_mla.json", "--checkout", example, "--output-file", missing).exit_code == 2
