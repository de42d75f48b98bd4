"""Repairs of keep lists, casts and allocations in spellings that no page and no mutation shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.fixes.repairing import repaired
from automodel_lint.request import Request

from . import clean_example as example
from .mutations import Edit
from .mutations.casts import cast
from .mutations.pins import (
    HAWTHORN,
    HOLDER,
    IN_MIXER,
    IN_ROUTER,
    LAYERS,
    ROTARY,
    STRICT,
    above,
    added,
    constructed,
    instead,
    more,
)

_LESS = f"{HOLDER}, {ROTARY}"
_WANTED = '"e_score_correction_bias"'


def _repaired(tmp_path: Path, code: str, *edits: Edit, refusal: str = "") -> tuple[dict[str, str], int]:
    """The texts of all files after the repairs of one rule, and how many findings of it remain.

    What remains has no repair, other than one that cannot be made for the reason ``refusal``.
    """
    files = example.edited(example.clean(), edits)
    root = example.lay(tmp_path, files)
    paths = sorted({str((root / edit.path).parent) for edit in edits})
    outcome = repaired(Request(paths=paths, select=[code], cache=False))
    new = {Path(path).relative_to(root).as_posix(): text.decode() for path, (_, text) in outcome.files.items()}
    left = outcome.report.findings
    assert not any(finding.repair for finding in left if refusal not in {why for _, why in outcome.dropped})
    return files | new, len(left)


def _lines(*lines: str, depth: int) -> str:
    return "".join("    " * depth + line + "\n" for line in lines)


LISTS = {
    "tuple": ([f"{STRICT} = ({_LESS})"], [f"{STRICT} = ({_LESS}, {_WANTED})"]),
    "tuple-without-brackets": ([f"{STRICT} = {_LESS}"], [f"{STRICT} = {_LESS}, {_WANTED}"]),
    "single-quotes": (
        [f"{STRICT} = [{_LESS}]".replace('"', "'")],
        [f"{STRICT} = [{_LESS}, {_WANTED}]".replace('"', "'")],
    ),
    "line-by-line": (
        [f"{STRICT} = [", f"    {HOLDER},  # the decay", f"    {ROTARY},", "]"],
        [f"{STRICT} = [", f"    {HOLDER},  # the decay", f"    {ROTARY},", f"    {_WANTED},", "]"],
    ),
    "spread": ([f"{STRICT} = [*({_LESS})]"], [f"{STRICT} = [*({_LESS}), {_WANTED}]"]),
    "sum": ([f"{STRICT} = [{HOLDER}] + [{ROTARY}]"], [f"{STRICT} = [{HOLDER}] + [{ROTARY}, {_WANTED}]"]),
    "sum-with-a-name": (
        [f"_MORE = [{ROTARY}]", f"{STRICT} = [{HOLDER}] + _MORE"],
        [f"_MORE = [{ROTARY}]", f"{STRICT} = [{HOLDER}, {_WANTED}] + _MORE"],
    ),
    "name-of-the-class": (
        [f"_KEPT = ({_LESS})", f"{STRICT} = _KEPT"],
        [f"_KEPT = ({_LESS})", f"{STRICT} = [*_KEPT, {_WANTED}]"],
    ),
    "name-that-is-a-tuple": (
        [f"_KEPT = ({_LESS})", f"{STRICT}: tuple[str, ...] = _KEPT"],
        [f"_KEPT = ({_LESS})", f"{STRICT}: tuple[str, ...] = (*_KEPT, {_WANTED})"],
    ),
    "choice": (
        [f"{STRICT} = [{_LESS}] if __debug__ else [{_LESS}]"],
        [f"{STRICT} = [*([{_LESS}] if __debug__ else [{_LESS}]), {_WANTED}]"],
    ),
    "choice-that-may-be-none": ([f"{STRICT} = [{_LESS}] if __debug__ else None"], None),
    "bare-string": ([f'{STRICT} = "{"_fp32_params"}"'], None),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_the_class_body(name: str, tmp_path: Path) -> None:
    old, new = LISTS[name]
    texts, left = _repaired(tmp_path, "NAM401", instead(*old))
    assert _lines(*(new or old), depth=1) in texts[HAWTHORN]
    assert left == (new is None)


BUILT = {
    "literal": (
        [f"kept = [{_LESS}]", f"self.{STRICT} = kept"],
        [f"kept = [{_LESS}, {_WANTED}]", f"self.{STRICT} = kept"],
    ),
    "appended": (
        [f"kept = [{ROTARY}]", f"kept.append({HOLDER})  # it", f"self.{STRICT} = kept"],
        [f"kept = [{ROTARY}]", f"kept.append({HOLDER})  # it", f"kept.append({_WANTED})", f"self.{STRICT} = kept"],
    ),
    "extended": (
        [f"kept = [{ROTARY}]", f"kept.extend([{HOLDER}])", f"self.{STRICT} = kept"],
        [f"kept = [{ROTARY}]", f"kept.extend([{HOLDER}, {_WANTED}])", f"self.{STRICT} = kept"],
    ),
    "appended-if-missing": (
        [
            f"kept = [{ROTARY}]",
            f"if {HOLDER} not in kept:",
            f"    kept.append({HOLDER})",
            f"self.{STRICT} = list(kept)",
        ],
        [
            f"kept = [{ROTARY}]",
            f"if {HOLDER} not in kept:",
            f"    kept.append({HOLDER})",
            f"self.{STRICT} = [*kept, {_WANTED}]",
        ],
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_a_list_of_the_constructor(name: str, tmp_path: Path) -> None:
    old, new = BUILT[name]
    texts, left = _repaired(tmp_path, "NAM401", instead(), constructed(*old))
    assert _lines(*new, depth=2) in texts[HAWTHORN]
    assert not left


def test_a_base_that_sets_its_list_when_it_is_constructed(tmp_path: Path) -> None:
    """A line in the class body would be overwritten."""
    head = "class Kept(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    base = f"{head}        self.{STRICT} = [{_LESS}]"
    name = "class HawthornForCausalLM("
    edits = above(base, line=f"{name}Kept, HFCheckpointingMixin):\n"), instead()
    texts, left = _repaired(tmp_path, "NAM401", *edits)
    assert texts[HAWTHORN].count(STRICT) == 1 and left == 1


PATTERNS = {
    "plain-word": ("self.load = nn.Buffer(torch.zeros(4, dtype=torch.float32))", '"gate.load"'),
    "word-of-two": ("self.load_bias = nn.Buffer(torch.zeros(4, dtype=torch.float32))", '"load_bias"'),
    "end-of-another-name": ("self.proj = nn.Parameter(torch.zeros(4, dtype=torch.float32))", '"gate.proj"'),
    "index": ("self.loads = nn.ParameterList([nn.Parameter(torch.zeros(4, dtype=torch.float32))])", '"gate.loads"'),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name: str, tmp_path: Path) -> None:
    line, pattern = PATTERNS[name]
    texts, left = _repaired(tmp_path, "NAM401", added(IN_ROUTER, line))
    before = example.clean()[HAWTHORN]
    assert texts[HAWTHORN].count('"') == before.count('"') + 2 and pattern in texts[HAWTHORN] and not left


CASTS = {
    "on-several-lines": (
        ["model = self.train(", "    False,  # for now", ").to(dtype)"],
        ["model = self.train(", "    False,  # for now", ")", "cast_model_to_dtype(model, dtype)"],
    ),
    "assigned-elsewhere": (
        ["self.other = self.to(dtype)"],
        ["cast_model_to_dtype(self, dtype)", "self.other = self"],
    ),
    "with-a-comment": (["self.to(dtype)  # low"], ["cast_model_to_dtype(self, dtype)  # low"]),
    "in-a-line-with-others": (["self.eval(); self.to(dtype)"], ["self.eval(); cast_model_to_dtype(self, dtype)"]),
    "returned-in-a-line-with-others": (["if dtype: return self.half()"], None),
    "inside-an-expression": (["print(self.to(dtype))"], None),
    "arguments-from-elsewhere": (["self.to(dtype=dtype, **{})"], None),
    "device-of-what-has-no-name": (["self.eval().to(buffer_device, dtype)"], None),
}


@pytest.mark.parametrize("name", CASTS)
def test_casts(name: str, tmp_path: Path) -> None:
    old, new = CASTS[name]
    edit = cast("acme_automodel/components/models/fir/model.py", *old)
    refusal = "the statement shares its line" if "line-with-others" in name else ""
    texts, left = _repaired(tmp_path, "NAM404", edit, refusal=refusal)
    assert _lines(*(new or old), depth=2) in texts[edit.path]
    assert left == (new is None)


def test_a_cast_under_another_name(tmp_path: Path) -> None:
    path = "acme_automodel/components/models/fir/model.py"
    line = "from acme_automodel.components.models.common.precision import cast_model_to_dtype"
    edits = (
        cast(path, "self.to(dtype)"),
        Edit(path, f"{line}, dtype_of\n", f"{line} as keeping_cast, dtype_of\n"),
    )
    texts, left = _repaired(tmp_path, "NAM404", *edits)
    assert "        keeping_cast(self, dtype)\n" in texts[path] and not left


LOW = {
    "local": (
        ["scale = torch.ones(4)", "self.scale_fp32 = nn.Buffer(scale)"],
        ["scale = torch.ones(4, dtype=torch.float32)", "self.scale_fp32 = nn.Buffer(scale)"],
    ),
    "function-of-an-allocation": (
        ["self.scale_fp32 = nn.Buffer(torch.log(torch.rand(4, dtype=dtype)))"],
        ["self.scale_fp32 = nn.Buffer(torch.log(torch.rand(4, dtype=torch.float32)))"],
    ),
    "cast-to-a-device-too": (
        ['self.scale_fp32 = nn.Buffer(torch.ones(4).to("cpu", torch.bfloat16))'],
        ['self.scale_fp32 = nn.Buffer(torch.ones(4, dtype=torch.float32).to("cpu", torch.float32))'],
    ),
    "local-of-two": (
        ["scale = torch.ones(4)", "self.scale_fp32 = nn.Buffer(scale)", 'self.register_buffer("low", scale)'],
        None,
    ),
    "weight-without-its-bias": (["self.scale_fp32 = nn.Linear(4, 4, dtype=dtype)"], None),
}


@pytest.mark.parametrize("name", LOW)
def test_allocations(name: str, tmp_path: Path) -> None:
    old, new = LOW[name]
    pattern = '"scale_fp32.weight"' if "Linear" in old[0] else '"scale_fp32"'
    texts, left = _repaired(tmp_path, "NAM408", added(IN_MIXER, *old), more(pattern))
    assert _lines(*(new or old), depth=2) in texts[LAYERS]
    assert left == (new is None)
