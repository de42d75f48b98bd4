"""``automodel-lint new``: what it writes lints clean, is formatted, runs and passes its own tests; what it refuses."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from automodel_lint.commands import command_line
from automodel_lint.request import Request, UsageError
from automodel_lint.session import Session
from automodel_lint.skeleton.layout import fitted
from automodel_lint.skeleton.repository import with_row
from automodel_lint.skeleton.writing import Planned, write_all

from .conftest import ROOT
from .real_package import unpacked

CONFIGS = {
    "acorn": {
        "architectures": ["AcornForCausalLM"],
        "model_type": "acorn",
        "vocab_size": 64000,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "hidden_act": "silu",
        "attention_bias": True,
        "mlp_bias": False,
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6,
        "rope_theta": 500000.0,
        "use_qk_norm": True,
        "attn_logit_softcapping": 50.0,
        "tie_word_embeddings": True,
    },
    "beechnut": {
        "architectures": ["BeechnutForCausalLM"],
        "model_type": "beechnut_moe",
        "vocab_size": 128000,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "moe_intermediate_size": 1536,
        "num_hidden_layers": 40,
        "first_k_dense_replace": 2,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "n_routed_experts": 128,
        "num_experts_per_tok": 8,
        "n_shared_experts": 1,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "n_group": 8,
        "topk_group": 4,
        "hidden_act": "silu",
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "rope_scaling": {"type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096},
        "quantization_config": {"quant_method": "fp8"},
        "tie_word_embeddings": False,
    },
    "chestnut": {
        "architectures": ["ChestnutForConditionalGeneration"],
        "model_type": "chestnut_vl",
        "image_token_id": 151655,
        "tie_word_embeddings": True,
        "text_config": {
            "model_type": "chestnut_vl_text",
            "vocab_size": 152000,
            "hidden_size": 2560,
            "intermediate_size": 9728,
            "num_hidden_layers": 6,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "hidden_act": "silu",
            "rms_norm_eps": 1e-6,
            "rope_theta": 1000000.0,
            "sliding_window": 4096,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
            "max_position_embeddings": 131072,
        },
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_hidden_layers": 27,
            "num_attention_heads": 16,
            "image_size": 448,
            "patch_size": 14,
        },
    },
}


def _config(folder: Path, data: dict) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(data))
    return path


def _new(checkout: Path, name: str, data: dict | str, *more: str):
    path = checkout.parent / f"{name}.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    arguments = ["new", name, "--from", str(path), "--checkout", str(checkout), *more]
    return CliRunner().invoke(command_line, arguments, catch_exceptions=False)


def _refused(capsys: pytest.CaptureFixture[str], checkout: Path, name: str, data: dict | str, *more: str) -> str:
    before = _state(checkout)
    done = _new(checkout, name, data, *more)
    assert done.exit_code == 2, done.output
    assert _state(checkout) == before
    text = (done.stderr or done.output).strip()
    assert "\n" not in text and text.startswith("automodel-lint: ")
    return text


def _state(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _with_all(checkout: Path, *more: str) -> Path:
    for name, data in CONFIGS.items():
        done = _new(checkout, name, data, *more)
        assert done.exit_code == 0, done.output
    return checkout


def _findings(folders: list[Path], python: str | None = None) -> list[str]:
    """Every finding of any severity, but those in the shared layers, which were there before."""
    request = Request(paths=[str(f) for f in folders], python=python, cache=False, extend_select=["NAM"])
    return [f"{f.path}:{f.span.line} {f.code}" for f in Session(request).run().findings if "/moe/" not in f.path]


def _own_tests(checkout: Path, python: str) -> str:
    """Run the generated tests and return pytest's last line."""
    folders = [f"tests/unit_tests/models/{name}" for name in CONFIGS]
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", *folders],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


# -- what is written ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example checkout with a dense, a MoE and a multimodal package."""
    checkout = tmp_path_factory.mktemp("new") / "acme"
    shutil.copytree(ROOT / "examples/acme_automodel", checkout, ignore=shutil.ignore_patterns("__pycache__", ".auto*"))
    return _with_all(checkout)


def test_packages_lint_clean(acme: Path):
    """But that the example recipes are still to be written: this checkout has none of the kind that `new` writes."""
    found = _findings([acme / "acme_automodel/components/models" / name for name in CONFIGS])
    assert sorted(finding.split()[1] for finding in found) == ["NAM803"] * 3
    assert "`AcornForCausalLM`" in (acme / "docs/model-coverage/index.md").read_text()


def test_packages_are_formatted(acme: Path):
    folders = (acme / "acme_automodel/components/models", acme / "tests/unit_tests/models")
    new = [folder / name for folder in folders for name in CONFIGS]
    ruff = [sys.executable, "-m", "ruff"]
    plain = ["--isolated", "--line-length", "120"]
    checked = [*plain, "--select", "E,F,I,UP,D101", "--per-file-ignores", "tests/*:D", "--config", 'src=["."]']
    for command in (["check", *checked], ["format", "--diff", *plain]):
        done = subprocess.run([*ruff, *command, *map(str, new)], cwd=acme, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_own_tests_pass(acme: Path, torch_python: str):
    assert " passed, " in (last := _own_tests(acme, torch_python)) and "xfailed" in last


def test_registry_keeps_what_it_had(acme: Path):
    path = "acme_automodel/_transformers/registry.py"
    old, new = ((root / path).read_text().splitlines() for root in (ROOT / "examples/acme_automodel", acme))
    changes = [line for line in difflib.ndiff(old, new) if line[0] in "-+"]
    added = [line for line in changes if line.startswith("+")]
    assert added == changes
    keys = ["AcornForCausalLM", "BeechnutForCausalLM", "ChestnutForConditionalGeneration", "acorn", "beechnut_moe"]
    assert all(any(f'"{key}"' in line for line in added) for key in (*keys, "chestnut_vl", "chestnut_vl_text"))


def test_real_package(tmp_path: Path, torch_python: str):
    """The same on the published package: clean for the linter, imported and run with its own shared pieces."""
    shutil.copytree(unpacked("0.7.0") / "nemo_automodel", tmp_path / "nemo_automodel")
    (tmp_path / "tests").mkdir()
    _with_all(tmp_path, "--python", torch_python)
    models = tmp_path / "nemo_automodel/components/models"
    assert _findings([models / name for name in CONFIGS], torch_python) == []
    adapter = (models / "beechnut/state_dict_adapter.py").read_text()
    assert "MoESplitExpertsStateDictMixin, StateDictAdapter" in adapter
    assert "AutoModel.from_config" in (models / "chestnut/vision.py").read_text()
    assert " passed, " in _own_tests(tmp_path, torch_python)


# -- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Acorn", "1st", "a-b", "class", ""])
def test_bad_name(example: Path, capsys, name: str):
    done = CliRunner().invoke(
        command_line,
        ["new", name, "--from", str(_config(example.parent, CONFIGS["acorn"])), "--checkout", str(example)],
    )
    assert done.exit_code == 2 and "is no name for a package" in (done.stderr or done.output)


def test_package_that_exists(example: Path, capsys):
    assert "fir: exists already" in _refused(capsys, example, "fir", CONFIGS["acorn"])


def test_architecture_that_is_registered(example: Path, capsys):
    data = {**CONFIGS["acorn"], "architectures": ["FirForCausalLM"]}
    told = _refused(capsys, example, "acorn", data)
    assert "FirForCausalLM is registered already: acme_automodel/_transformers/registry.py:" in told


def test_no_registry(tmp_path: Path):
    done = _new(tmp_path / "x", "acorn", CONFIGS["acorn"])
    assert done.exit_code == 2 and "no such file or folder" in (done.stderr or done.output)
    (tmp_path / "x").mkdir()
    done = _new(tmp_path / "x", "acorn", CONFIGS["acorn"])
    assert done.exit_code == 2 and "no registry found" in (done.stderr or done.output)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("{", "acorn.json:1:2: not valid JSON"),
        ({**CONFIGS["acorn"], "hidden_size": "wide"}, "`hidden_size` must be a number"),
        ({**CONFIGS["acorn"], "hidden_size": None}, "states no hidden size"),
        ({**CONFIGS["acorn"], "num_key_value_heads": [4, 8]}, "`num_key_value_heads` differs by layer"),
        ({**CONFIGS["acorn"], "architectures": ["not a name"]}, "must be a list of names of classes"),
        ({"_class_name": "UNet", "_diffusers_version": "0.30"}, "a model of kind 'diffusion'"),
    ],
)
def test_bad_config(example: Path, capsys, data, told: str):
    assert told in _refused(capsys, example, "acorn", data)


def test_bad_hf_id(example: Path, capsys):
    assert "is not of the form ORG/NAME" in _refused(capsys, example, "acorn", CONFIGS["acorn"], "--hf-id", "nuts")


def test_framework_without_the_contracts(example: Path, capsys):
    for path in example.rglob("*.py"):
        path.write_text(path.read_text().replace("class TieSupport", "class TiePolicy"))
    (example / "acme_automodel/components/models/common/tie_word_embeddings.py").unlink()
    assert "defines no TieSupport" in _refused(capsys, example, "acorn", CONFIGS["acorn"])


# -- writing ------------------------------------------------------------------------------------------------------


def test_dry_run_writes_nothing(example: Path):
    before = _state(example)
    done = _new(example, "acorn", CONFIGS["acorn"], "--dry-run")
    assert done.exit_code == 0 and _state(example) == before
    assert "+class AcornForCausalLM(HFCheckpointingMixin, nn.Module):" in done.output
    assert '+        ("AcornForCausalLM", ("acme_automodel.components.models.acorn.model", ' in done.output


def test_output_names_what_is_left(example: Path):
    told = _new(example, "acorn", {**CONFIGS["acorn"], "wobble": 3}).output
    assert "attn_logit_softcapping: scores are capped by tanh before the softmax" in told
    assert "not read by the skeleton: max_position_embeddings, wobble" in told


def test_a_file_in_the_way_is_left_alone(example: Path, capsys):
    path = example / "tests/unit_tests/models/acorn/test_acorn_model.py"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    assert "exists already; `new` overwrites nothing" in _refused(capsys, example, "acorn", CONFIGS["acorn"])


def test_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch):
    registry = tmp_path / "registry.py"
    registry.write_bytes(b"old")
    files = [Planned(str(tmp_path / f"new/deep/{n}.py"), None, b"x") for n in (1, 2)]
    files.append(Planned(str(registry), b"old", b"new"))

    def full(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("automodel_lint.skeleton.writing.write_whole", full)
    with pytest.raises(UsageError, match=r"registry\.py: cannot be written: No space left"):
        write_all(files)
    assert _state(tmp_path) == {"registry.py": b"old"} and not (tmp_path / "new").exists()


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path):
    registry = tmp_path / "registry.py"
    registry.write_bytes(b"newer")
    with pytest.raises(UsageError, match="changed in the meantime"):
        write_all([Planned(str(tmp_path / "a.py"), None, b"x"), Planned(str(registry), b"old", b"new")])
    assert _state(tmp_path) == {"registry.py": b"newer"}


# -- parts --------------------------------------------------------------------------------------------------------


def test_row_goes_to_the_table_of_architectures():
    words = {"arch": "AcornForCausalLM", "hf_id": "nuts/acorn", "title": "Acorn"}
    page = "# Models\n\n| Model | Architecture | TP |\n|---|---|---|\n| Fir | `FirForCausalLM` | yes |\n\nend\n"
    assert "| yes |\n| Acorn | `AcornForCausalLM` |  |\n\nend" in (with_row(page, words) or "")
    assert with_row("{/* BEGIN GENERATED X */}\n" + page + "{/* END GENERATED X */}\n", words) is None
    assert with_row("no table", words) is None


def test_long_lines_are_broken_as_ruff_does():
    call = f"    x = build({', '.join(f'argument_{n}' for n in range(9))})"
    assert fitted(call).splitlines()[1].startswith("        argument_0, argument_1")
    many = f"    x = [{', '.join(f'argument_{n}' for n in range(12))}]"
    assert fitted(many).splitlines()[-2] == "        argument_11,"
    assert fitted("    short = 1") == "    short = 1"
