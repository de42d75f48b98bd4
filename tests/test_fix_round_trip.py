"""The round trip: a fault is put into real model files, repaired, and the files are as good as before.

Fifteen classes of nemo-automodel 0.7.0, every fixable rule in three spellings or more. Where the repair can only be the
inverse of the injection, the bytes of the original come back.
"""

from __future__ import annotations

import ast
import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from automodel_lint import session
from automodel_lint.fixes.repairing import repaired
from automodel_lint.pages import pages

from .injections import Injection, Target, capabilities, construction, exports, guard, precision, tying
from .injections.targets import TARGETS, VERSION
from .round_trip import Batch, Bench, comments

INJECTIONS: list[Injection] = [
    *exports.INJECTIONS,
    *tying.INJECTIONS,
    *guard.INJECTIONS,
    *capabilities.INJECTIONS,
    *precision.INJECTIONS,
    *construction.INJECTIONS,
]
FIXABLE = {code for code, page in pages().items() if page.fix != "none"}
# A mixin before the loading and saving that transformers brings changes both, so NAM110 asks there, too; and NAM206
# where the flag at the top may be set by default.
UNSAFE = {code for code, page in pages().items() if page.fix == "unsafe"} | {"NAM110", "NAM206"}
# All of a spelling's files take some ten minutes; three of each, in turn, have every file several times.
EVERYWHERE = bool(os.environ.get("AUTOMODEL_LINT_ROUND_TRIP_ALL"))
FILES = 3


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "_search_path", lambda *_: [])  # what is installed here plays no part
        Bench.hasten(patch)
        laid = Bench.lay(tmp_path_factory.mktemp("package"), VERSION, TARGETS)
        laid.learn(list(TARGETS))
        gc.freeze()  # the trees that sessions share stay; to go through them again and again takes half the time
        yield laid
        gc.unfreeze()


@pytest.fixture(scope="module", params=INJECTIONS, ids=lambda injection: injection.id)
def batch(request: pytest.FixtureRequest, bench: Bench) -> Batch:
    """One injection in the files that it is tried on; the tests of one follow each other, so that verdicts are kept."""
    bench.forget()
    everywhere = bench.applied(request.param, list(TARGETS))
    return bench.applied(request.param, _chosen(request.param, list(everywhere.injected)))


def _chosen(injection: Injection, possible: list[Target]) -> list[Target]:
    """Three of the targets, starting with another one for each injection."""
    if EVERYWHERE:
        return possible
    start = INJECTIONS.index(injection) * FILES
    return [possible[(start + i) % len(possible)] for i in range(min(FILES, len(possible)))]


def test_every_fixable_rule_has_three_spellings() -> None:
    spellings = Counter(injection.code for injection in INJECTIONS)
    assert set(spellings) == FIXABLE
    assert not {code: count for code, count in spellings.items() if count < 3}


def test_there_is_room_for_every_rule(bench: Bench) -> None:
    """Every rule is tried on three files at least, and every spelling somewhere."""
    places: dict[str, set[Target]] = {code: set() for code in FIXABLE}
    for injection in INJECTIONS:
        found = bench.applied(injection, list(TARGETS)).injected
        assert found, injection.id
        places[injection.code].update(found)
    assert not {code: len(targets) for code, targets in places.items() if len(targets) < 3}
    assert set().union(*places.values()) == set(TARGETS)


def test_the_fault_is_found(bench: Bench, batch: Batch) -> None:
    code, allowed = batch.injection.code, {batch.injection.code, *batch.injection.brings}
    problems = []
    for package, found in bench.new(batch.texts, list(batch.injected)).items():
        codes = {finding.code for finding in found}
        if code not in codes or codes - allowed:
            problems.append(f"{package}: {sorted(codes) or 'nothing'} is new")
    assert not problems, "\n".join(problems)


def test_the_fault_is_repaired(bench: Bench, batch: Batch) -> None:
    code, targets = batch.injection.code, list(batch.injected)
    select = [code, *batch.injection.about]
    outcome = repaired(bench.request(batch.texts, targets, select), unsafe=code in UNSAFE)
    texts = dict(batch.texts)
    for path, (old, new) in outcome.files.items():
        relative = Path(path).relative_to(bench.root).as_posix()
        assert old.decode() == texts.get(relative, bench.text(relative)), f"{relative}: another text was repaired"
        texts[relative] = new.decode()
    problems = [f"{path}: {problem}" for path, text in texts.items() for problem in _damage(bench, batch, path, text)]
    problems += [f"{finding.path}: not repaired: {why}" for finding, why in outcome.dropped]
    for package, found in bench.new(texts, targets).items():
        left = [finding for finding in found if finding.code not in batch.injection.leaves]
        problems += [f"{package}: {finding.code} is left: {finding.message}" for finding in left]
    assert not problems, "\n".join(problems)


def _damage(bench: Bench, batch: Batch, path: str, text: str) -> Iterator[str]:
    """What is wrong with a repaired text: it does not parse, lost a comment, or is not what it must be."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        yield f"no longer parses: {error}"
        return
    # A stale suppression is the one comment that must go.
    stood_before = bench.text(path) if batch.injection.code == "NAM001" else batch.texts.get(path, bench.text(path))
    lost = comments(stood_before) - comments(text)
    if lost:
        yield f"comments are lost: {sorted(lost)}"
    expected = batch.after.get(path)
    if expected is not None and text != expected and not _had_it_before(bench, batch, path):
        yield f"differs from what it must be:\n{_difference(expected, text)}"


def _had_it_before(bench: Bench, batch: Batch, path: str) -> bool:
    """Whether the original has findings of the same rule, which are repaired as well."""
    return any(
        code == batch.injection.code
        for target in batch.injected
        if path == target.path(batch.injection.into)
        for code, _ in bench.before[target.package]
    )


def _difference(expected: str, text: str) -> str:
    import difflib

    return "\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "repaired", "", "", 2))
