"""Faults put into published adapters: each is found in its file under its code, and nothing else is new.

Every round edits one copy of the published package in several adapters at once: a run costs seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from automodel_lint.session import Request, Session

from . import real_package

MODELS = "nemo_automodel/components/models"


class Edit(NamedTuple):
    """One fault: in which model package (or file), what is replaced, by what. Every place of ``old`` is."""

    model: str
    old: str
    new: str

    @property
    def path(self) -> str:
        return self.model if self.model.endswith(".py") else f"{MODELS}/{self.model}/state_dict_adapter.py"


ROUNDS: dict[str, tuple[str, list[Edit]]] = {
    "renamed on one side only": (
        "NAM502",
        [
            Edit(
                "laguna",
                '    (re.compile(r"\\.mlp\\.shared_expert\\."), ".mlp.shared_experts."),\n',
                "",
            ),
            Edit(
                "hy_v3",
                '    (re.compile(r"\\.mlp\\.shared_mlp\\."), ".mlp.shared_experts."),\n',
                "",
            ),
            Edit(
                "hy_mt2",
                '    (re.compile(r"\\.mlp\\.shared_mlp\\."), ".mlp.shared_experts."),\n',
                "",
            ),
            Edit(
                "qwen3_next",
                "self._apply_key_mapping(hf_state_dict, self.hf_to_internal_map)",
                "dict(hf_state_dict)",
            ),
            Edit(
                "inkling",
                '    key = key.replace(".attn.wv_dv.weight", ".self_attn.v_proj.weight")\n',
                "",
            ),
            Edit(
                "llava_onevision",
                '    (re.compile(r"^visual\\."), "model.visual."),\n',
                "",
            ),
            Edit(
                "step3p7",
                'if key.startswith("vit_large_projector."):\n            return "model." + key\n',
                "if False:\n            pass\n",
            ),
            Edit(
                "minimax_m2",
                '        key = key.replace(".block_sparse_moe.gate.weight", ".mlp.gate.weight")\n',
                "",
            ),
            Edit(
                "kimi_linear",
                '        key = key.replace(f".block_sparse_moe.{segment}", f".mlp.{segment}")\n',
                "        pass\n",
            ),
            Edit(
                "hunyuan_image3",
                "_HF_TO_NATIVE_RENAMES = _rename_table(1, 0)",
                "_HF_TO_NATIVE_RENAMES = _rename_table(1, 0)[1:]",
            ),
        ],
    ),
    "the outer prefix of LoRA is lost": (
        "NAM503",
        [
            Edit(
                "kimi_k3",
                'if key.startswith(("model.", "lm_head.")):',
                'if not key.startswith("vision_tower."):',
            ),
            Edit(
                "qwen3_omni_moe",
                '        if key.startswith("base_model.model."):\n'
                '            return "base_model.model.thinker." + key.removeprefix("base_model.model.")\n',
                "",
            ),
            Edit(
                "laguna",
                '(re.compile(r"\\.mlp\\.shared_experts\\."), ".mlp.',
                '(re.compile(r"^(model\\.layers\\.\\d+)\\.mlp\\.shared_experts\\."), r"\\1.mlp.',
            ),
            Edit(
                "hy_v3",
                '(re.compile(r"\\.mlp\\.shared_experts\\."), ".mlp.',
                '(re.compile(r"^(model\\.layers\\.\\d+)\\.mlp\\.shared_experts\\."), r"\\1.mlp.',
            ),
            Edit(
                "hy_mt2",
                '(re.compile(r"\\.mlp\\.shared_experts\\."), ".mlp.',
                '(re.compile(r"^(model\\.layers\\.\\d+)\\.mlp\\.shared_experts\\."), r"\\1.mlp.',
            ),
            Edit(
                "kimi_linear",
                '        key = key.replace(f".mlp.{segment}", f".block_sparse_moe.{segment}")',
                '        if key.startswith("model."):\n'
                '            key = key.replace(f".mlp.{segment}", f".block_sparse_moe.{segment}")',
            ),
            Edit(
                "qwen3_next",
                "                if pattern in key:\n"
                "                    new_key = new_key.replace(pattern, replacement)\n"
                "                    break\n"
                "            # Hide",
                '                if key.startswith("model.") and pattern in key:\n'
                "                    new_key = new_key.replace(pattern, replacement)\n"
                "                    break\n"
                "            # Hide",
            ),
            Edit(
                "glm_moe_dsa",
                'if not key.endswith(".weight") or ".lora_" in key:',
                'if not key.endswith(".weight"):',
            ),
            Edit(
                "minimax_m2",
                '    if ".lora_" in key:\n        return False\n',
                "",
            ),
            Edit(
                "ling_v2",
                "        if native in key:\n            return key.replace(native, hf)",
                '        if native in key and key.startswith("model."):\n            return key.replace(native, hf)',
            ),
        ],
    ),
    "a branch is gone": (
        "NAM504",
        [
            Edit(
                "qwen3_vl_moe",
                '            elif key.startswith("lm_head."):\n                state_dict[key] = value\n',
                "",
            ),
            Edit(
                "llava_onevision",
                "            out[_rename(fqn, _NEMO_TO_HF_RULES)] = tensor\n",
                '            if fqn.startswith("model."):\n'
                "                out[_rename(fqn, _NEMO_TO_HF_RULES)] = tensor\n",
            ),
            Edit(
                "laguna",
                "            normalized[_apply_renames(key, _HF_TO_NATIVE_RENAMES)] = value\n",
                '            if "model." in key:\n'
                "                normalized[_apply_renames(key, _HF_TO_NATIVE_RENAMES)] = value\n",
            ),
            Edit(
                "hy_v3",
                "            renamed[new_k] = v\n",
                '            if "model." in new_k:\n                renamed[new_k] = v\n',
            ),
            Edit(
                "hy_mt2",
                "            renamed[new_k] = v\n",
                '            if new_k.startswith("model."):\n                renamed[new_k] = v\n',
            ),
            Edit(
                f"{MODELS}/kimivl/model.py",
                "            else:\n                hf_state_dict[key] = value\n\n        if llm_keys:",
                "        if llm_keys:",
            ),
            Edit(
                "minimax_m3_vl",
                "            if mapped is not None:\n                native[mapped] = value",
                '            if mapped is not None and mapped.startswith("model."):\n'
                "                native[mapped] = value",
            ),
            Edit(
                "kimi_k25_vl",
                '            elif key.startswith(("vision_tower.", "multi_modal_projector.", "language_model.")):\n'
                '                native_state_dict["model." + key] = value\n'
                "            else:\n"
                "                native_state_dict[key] = value\n",
                "",
            ),
            Edit(
                "hunyuan_image3",
                '("vae.", "vision_model.", "vision_aligner.")',
                '("vae.", "vision_model.", "lm_head.")',
            ),
            Edit(
                "qwen3_next",
                "            fp32_routed_state_dict[native_key] = upcast",
                '            if "model." in native_key:\n                fp32_routed_state_dict[native_key] = upcast',
            ),
        ],
    ),
    "experts in the order of texts": (
        "NAM512",
        [
            Edit(
                "qwen3_5_moe",
                "expert_num = int(base_split_match.group(2))",
                "expert_num = base_split_match.group(2)",
            ),
            Edit(
                "deepseek_v4",
                "int(m.group(2)), m.group(3)",
                "m.group(2), m.group(3)",
            ),
        ],
    ),
}


def _lint(root: Path) -> set[tuple[str, str, str | None]]:
    findings = Session(Request(paths=[str(root)], select=["NAM"], cache=False)).run().findings
    return {(f.code, f.path, f.symbol) for f in findings}


@pytest.fixture(scope="module")
def before() -> set[tuple[str, str, str | None]]:
    return _lint(real_package.unpacked("0.7.0"))


def test_there_are_ten_of_them():
    assert all(len({edit.model for edit in edits}) == 10 for name, (_, edits) in ROUNDS.items() if "order" not in name)


@pytest.mark.parametrize("name", ROUNDS)
def test_each_fault_is_found_where_it_was_put(name: str, before: set[tuple[str, str, str | None]], tmp_path: Path):
    code, edits = ROUNDS[name]
    root = real_package.copied("0.7.0", tmp_path)
    for edit in edits:
        text = (root / edit.path).read_text(encoding="utf-8")
        assert edit.old in text, edit
        (root / edit.path).write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    new = _lint(root) - before
    assert not [edit.model for edit in edits if not any(f[:2] == (code, edit.path) for f in new)]
    assert not [f for f in new if f[1] not in {edit.path for edit in edits} or not f[0].startswith("NAM5")]
