"""The language server with a real client over stdio: what shows while somebody types, and what can be done about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from automodel_lint.pages import pages

from .editor import editing

MODELS = "acme_automodel/components/models"
FIR, ELM, BIRCH = f"{MODELS}/fir/model.py", f"{MODELS}/elm/model.py", f"{MODELS}/birch/model.py"
REGISTRY = "acme_automodel/_transformers/registry.py"
GUARD = "reject_unsupported_tie_word_embeddings(type(self), config)"
OF_REGISTRY = 6  # findings in the registry of the example, see its expected.json
POLICY = "    tie_word_embeddings_support: TieSupport = TieSupport.BOTH\n"
pytestmark = pytest.mark.asyncio


def _nothing(codes: list[str]) -> bool:
    return codes == []


def _titles(actions: list[types.CodeAction]) -> list[str]:
    return [action.title for action in actions]


async def test_a_fault_shows_while_it_is_typed_and_goes_when_it_is_taken_back(example: Path):
    async with editing(example) as editor:
        text = editor.open(FIR)
        await editor.until(FIR, _nothing)
        editor.replace(FIR, "(type(self), config)", "(FirForCausalLM, config)")
        (found,) = await editor.until(FIR, lambda codes: codes == ["NAM207"])
        assert editor.marked(FIR, found) == "reject_unsupported_tie_word_embeddings(FirForCausalLM, config)"
        assert found.source == "automodel-lint"
        assert found.severity == types.DiagnosticSeverity.Error
        assert found.code_description is not None and found.code_description.href == pages()["NAM207"].url
        assert found.data["fingerprint"]
        assert editor.published[-1].version == 2
        editor.type(FIR, text)
        await editor.until(FIR, _nothing)
        assert (example / FIR).read_text() == text  # nothing is ever written


async def test_the_same_verdict_as_the_command_line(example: Path, cli):
    done = cli("check", "--output-format", "concise", cwd=example)
    paths = sorted({line.split(":")[0] for line in done.stdout.splitlines() if ".py:" in line})
    assert len(paths) >= 14
    async with editing(example) as editor:
        for path in paths:
            editor.open(path)
        for path in paths:
            lines = [line.split(": ", 1) for line in done.stdout.splitlines() if line.startswith(f"{path}:")]
            shown = await editor.until(path, lambda codes, lines=lines: len(codes) == len(lines))
            places = [
                [f"{path}:{d.range.start.line + 1}:{d.range.start.character + 1}", f"{d.code} {d.message}"]
                for d in shown
            ]
            assert places == lines


async def test_a_repair_as_a_code_action(example: Path):
    async with editing(example) as editor:
        text = editor.open(FIR)
        editor.replace(FIR, "(type(self), config)", "(FirForCausalLM, config)")
        (found,) = await editor.until(FIR, lambda codes: codes == ["NAM207"])
        repair = (await editor.actions(FIR, found.range))[0]
        assert repair.title.startswith("NAM207: ") and repair.is_preferred
        assert [d.code for d in repair.diagnostics or ()] == ["NAM207"]
        editor.apply(repair)
        assert editor.texts[FIR] == text
        await editor.until(FIR, _nothing)


async def test_all_safe_repairs_of_a_file_at_once(example: Path):
    async with editing(example) as editor:
        editor.open(ELM)
        before = await editor.until(ELM, lambda codes: len(codes) == 6)
        (everything,) = await editor.actions(ELM, only=["source.fixAll"])
        assert everything.kind == "source.fixAll.automodel-lint"
        editor.apply(everything)
        await editor.until(ELM, lambda codes: len(codes) < len(before))
        while everything := await editor.actions(ELM, only=["source.fixAll"]):  # what touched each other
            editor.apply(everything[0])
        await editor.until(ELM, lambda codes: not {"NAM205", "NAM207", "NAM213"} & {*codes})
        assert f"\n        {GUARD}\n        super().__init__()\n" in editor.texts[ELM]


async def test_an_unsafe_repair_is_offered_and_not_preferred_unless_it_is_turned_off(example: Path):
    for options, is_offered in (None, True), ({"unsafeFixes": False}, False):
        async with editing(example, options) as editor:
            editor.open(FIR)
            editor.replace(FIR, POLICY, "")
            (found,) = await editor.until(FIR, lambda codes: codes == ["NAM201"])
            actions = await editor.actions(FIR, found.range, only=["quickfix"])
            repairs = [action for action in actions if action.title.startswith("NAM201: ")]
            assert bool(repairs) == is_offered
            assert not any(action.is_preferred for action in actions)
            assert await editor.actions(FIR, only=["source.fixAll"]) == []


@pytest.mark.parametrize("way", ["with a reason", "noqa"])
async def test_a_comment_as_a_code_action(example: Path, way: str):
    async with editing(example) as editor:
        editor.open(FIR)
        editor.replace(
            FIR, GUARD, "reject_unsupported_tie_word_embeddings(\n            FirForCausalLM, config\n        )"
        )
        (found,) = await editor.until(FIR, lambda codes: codes == ["NAM207"])
        (action,) = [a for a in await editor.actions(FIR, found.range) if way in a.title]
        editor.apply(action)
        await editor.until(FIR, _nothing)  # nor NAM001: it silences something
        assert ("# automodel-lint: ignore[NAM207] " in editor.texts[FIR]) == (way == "with a reason")


async def test_the_registry_and_the_models_see_each_others_buffers(example: Path):
    async with editing(example) as editor:
        editor.open(FIR)
        registry = editor.open(REGISTRY)
        await editor.until(FIR, _nothing)
        await editor.until(REGISTRY, lambda codes: len(codes) == OF_REGISTRY)
        editor.replace(FIR, POLICY, "")  # a fault of a registered class …
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        entry = '("FirForCausalLM", ("acme_automodel.components.models.fir.model", "FirForCausalLM")),'
        editor.replace(REGISTRY, entry, "")  # … which is none any more
        await editor.until(FIR, lambda codes: "NAM201" not in codes)
        editor.type(REGISTRY, registry)
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        editor.type(FIR, editor.texts[FIR].replace("class FirForCausalLM", "class FirRenamed"))
        await editor.until(REGISTRY, lambda codes: len(codes) == OF_REGISTRY + 1)


async def test_rapid_typing_shows_only_what_belongs_to_the_last_text(example: Path):
    async with editing(example) as editor:
        text = editor.open(FIR)
        await editor.until(FIR, _nothing)
        bad = text.replace(POLICY, "")
        for number in range(30):
            editor.type(FIR, f"{(bad, text)[number % 2]}# {number}\n")
        editor.type(FIR, bad)
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        versions = [p.version for p in editor.published if p.uri == editor.uri(FIR)]
        assert versions == sorted(versions)
        by_version = {p.version: [d.code for d in p.diagnostics] for p in editor.published if p.uri == editor.uri(FIR)}
        for version, codes in by_version.items():
            is_bad = version == 32 or (version > 1 and version % 2 == 0)
            assert codes == (["NAM201"] if is_bad else [])


async def test_text_that_does_not_parse_keeps_what_was_shown_at_its_lines(example: Path):
    async with editing(example) as editor:
        text = editor.open(FIR)
        editor.replace(FIR, POLICY, "")
        (known,) = await editor.until(FIR, lambda codes: codes == ["NAM201"])
        assert editor.marked(FIR, known) == "FirForCausalLM"
        broken = editor.texts[FIR].replace("import torch\n", "import torch\n\n\ndef half(\n", 1)
        editor.type(FIR, broken)
        problem, still = sorted(
            await editor.until(FIR, lambda codes: sorted(codes) == ["NAM002", "NAM201"]), key=lambda d: str(d.code)
        )
        assert broken.splitlines()[problem.range.start.line] in ("def half(", "import torch.nn as nn")
        assert editor.marked(FIR, still) == "FirForCausalLM" and still.range.start.line == known.range.start.line + 3
        assert await editor.actions(FIR, still.range) == []  # its edits would be those of another text
        editor.type(FIR, text)
        await editor.until(FIR, _nothing)


async def test_a_file_that_never_parsed_says_so(example: Path):
    async with editing(example) as editor:
        (example / FIR).write_text("def half(\n")
        editor.open(FIR)
        (problem,) = await editor.until(FIR, lambda codes: codes == ["NAM002"])
        assert problem.range.start.line == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_characters_that_are_several_units(example: Path, encoding: str):
    async with editing(example, encoding=encoding) as editor:
        editor.open(FIR)
        wide = 'print("𝕏ß漢"); reject_unsupported_tie_word_embeddings(FirForCausalLM, config)'
        editor.replace(FIR, GUARD, f"{GUARD}\n        {wide}")
        found = await editor.until(FIR, lambda codes: "NAM207" in codes)
        (shown,) = [d for d in found if d.code == "NAM207"]
        assert editor.marked(FIR, shown) == "reject_unsupported_tie_word_embeddings(FirForCausalLM, config)"
        repairs = [a for a in await editor.actions(FIR, shown.range) if a.title.startswith("NAM207: ")]
        editor.apply(repairs[0])
        assert f'        print("𝕏ß漢"); {GUARD}\n' in editor.texts[FIR]


async def test_no_finding_needs_no_model_to_be_open(example: Path):
    """What lies in files that are not open is not shown: neither at first, nor when an edit brings it."""
    async with editing(example) as editor:
        editor.open(REGISTRY)
        await editor.until(REGISTRY, lambda codes: "NAM102" in codes)
        assert {p.uri for p in editor.published} == {editor.uri(REGISTRY)}


async def test_closing_takes_diagnostics_away_and_lets_the_file_on_disk_count(example: Path):
    async with editing(example) as editor:
        editor.open(REGISTRY)
        editor.open(FIR)
        await editor.until(REGISTRY, lambda codes: len(codes) == OF_REGISTRY)
        editor.replace(FIR, POLICY, "")
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        editor.replace(FIR, "class FirForCausalLM", "class FirRenamed")
        await editor.until(REGISTRY, lambda codes: len(codes) == OF_REGISTRY + 1)
        editor.replace(FIR, "class FirRenamed", "class FirForCausalLM")
        await editor.until(FIR, lambda codes: codes == ["NAM201"])
        editor.close(FIR)
        await editor.when(lambda: editor.codes(FIR) == [], FIR)
        await editor.until(REGISTRY, lambda codes: len(codes) == OF_REGISTRY)


async def test_files_outside_any_checkout_show_nothing(example: Path, tmp_path: Path):
    async with editing(example) as editor:
        stray = tmp_path / "stray.py"
        stray.write_text("def half(\n")
        editor.open(str(stray))
        await editor.until(str(stray), _nothing)
        editor.open(BIRCH)
        await editor.until(BIRCH, lambda codes: "NAM208" in codes)
        assert editor.codes(str(stray)) == []


async def test_a_recipe_while_it_is_typed(example: Path):
    """What is wrong shows; while the text does not load, that it does not, and what was known beside."""
    path, new = "examples/lm_train/fir/fir_tiny.yaml", "runs/new.yaml"
    async with editing(example) as editor:
        text = editor.open(path)
        await editor.until(path, _nothing)
        editor.replace(path, "SeededRun", "SeedRun")
        (found,) = await editor.until(path, lambda codes: codes == ["NAM811"])
        assert editor.marked(path, found).endswith(".SeedRun")
        editor.replace(path, "recipe: ", "# a line more\nrecipe TrainAll\nrecipe: ")
        shown = await editor.until(path, lambda codes: sorted(codes) == ["NAM811", "NAM814"])
        assert editor.marked(path, next(d for d in shown if d.code == "NAM811")).endswith(".SeedRun")
        editor.type(path, text)
        await editor.until(path, _nothing)
        editor.open(new, "recipe: TrainLanguageModelsRecipe\n")
        (found,) = await editor.until(new, lambda codes: codes == ["NAM815"])
        titles = _titles(await editor.actions(new, found.range))
        assert any("# noqa" in title for title in titles)
