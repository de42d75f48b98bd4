"""What a repository has of a model beside its code: an example recipe, tests, a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from automodel_lint.domain.artefacts import (
    documented_at,
    has_coverage_pages,
    has_recipes,
    package_of,
    recipe_uses,
    test_files,
    test_modules,
    tests_root,
)
from automodel_lint.domain.mentions import Mention
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.onboarding.built import towers
from automodel_lint.onboarding.checklist import box
from automodel_lint.onboarding.checklist.answers import Evidence, NotApplicable, NotDecidable
from automodel_lint.onboarding.checklist.boxes.package import own_layers
from automodel_lint.onboarding.checklist.boxes.tying import NO_HEAD, NO_POLICY, OLD_RELEASE
from automodel_lint.onboarding.checklist.subject import Subject

UNREGISTERED = "recipes and pages are told by registered architectures"
_MEDIA = re.compile(
    r"\b(pixel_values\w*|image_grid\w*|video_grid\w*|input_features|input_audio\w*|audio_values|images(?=\s*=))\b"
)


@box(
    "recipe",
    310,
    "An example recipe trains the model, and says nothing that the code does not take",
    "3.1",
    ("NAM803", "NAM804", "NAM811", "NAM812", "NAM813", "NAM814", "NAM815"),
)
def recipe(subject: Subject) -> Iterator[Evidence]:
    model, project = subject.model, subject.model.project
    if not subject.registrations:
        raise NotDecidable(UNREGISTERED)
    if not has_recipes(project):
        raise NotDecidable("there are no recipes here; an installed package has none")
    uses = recipe_uses(project, model.architectures)
    yield from (_at(subject, use.place, "trains it") for use in uses)
    if not uses:
        for use in recipe_uses(project, model.architectures, sure=False):
            yield _noted(subject, use.place, "may train it")
        raise NotDecidable("neither the recipes nor the coverage pages say which of them trains it")


@box("unit-tests", 410, "The model has unit tests, in `tests/unit_tests/models/<name>/`", "4", ("NAM801",))
def unit_tests(subject: Subject) -> Iterator[Evidence]:
    yield from (_at(subject, place, "tests it") for place in _modules(subject))


@box("adapter-tests", 420, "Tests run the state-dict adapter in both directions", "4", ("NAM806",))
def adapter_tests(subject: Subject) -> Iterator[Evidence]:
    if not subject.model.adapters:
        raise NotApplicable("it has no state-dict adapter that the source tells")
    _modules(subject)
    for adapter in subject.model.adapters:
        found = [
            e for method in ("from_hf", "to_hf") for e in _naming(subject, method, f"runs `{method}`", adapter.name)
        ]
        name = subject.model.name
        yield from found or _naming(subject, name, f"runs the adapter through `{name}`")


@box("tie-tests", 233, "Tests build the model with the tie settings that its policy is about", "2.3", ("NAM805",))
def tie_tests(subject: Subject) -> Iterator[Evidence]:
    model = subject.model
    if not model.owns_causal_head:
        raise NotApplicable(NO_HEAD)
    if model.tie_policy is None:
        raise NotDecidable(NO_POLICY) if model.project.knows("TieSupport") else NotApplicable(OLD_RELEASE)
    _modules(subject)
    yield from _naming(subject, FLAG, f"names `{FLAG}`", beside=model.name)


@box(
    "layer-tests",
    440,
    "Each layer of its own is compared with the reference implementation's",
    "4",
)
def layer_tests(subject: Subject) -> Iterator[Evidence]:
    layers = own_layers(subject)
    if not layers:
        raise NotApplicable("it has no layers of its own")
    _modules(subject)
    unnamed = []
    for layer in layers:
        named = list(_naming(subject, layer.name, f"names `{layer.name}`"))
        yield from (subject.as_note(evidence) for evidence in named[:1])
        if not named:
            unnamed.append(layer.name)
    yield from subject.also_ran("NAM908")
    told = f"no test names `{unnamed[0]}`" if unnamed else "every layer is named by a test"
    raise NotDecidable(f"what a test compares is for a reader to see; {told}")


@box("media-tests", 460, "Tests give the model images, video or sound beside text", "4")
def media_tests(subject: Subject) -> Iterator[Evidence]:
    if not towers(subject.model):
        raise NotApplicable("it takes no images, video or sound")
    found = 0
    for place in _modules(subject):
        path = subject.model.project.tree.absolute(place.path)
        lines = enumerate(subject.model.project.tree.lines(path), 1)
        given = next(((n, m[0]) for n, line in lines if (m := _MEDIA.search(line.partition("#")[0]))), None)
        if given is not None:
            found += 1
            yield subject.done(f"has `{given[1]}`", path, given[0])
    if not found:
        raise NotDecidable("no test of the package speaks of images, video or sound")


@box("docs", 510, "A page below `docs/model-coverage/` lists the model", "5.1", ("NAM802",))
def docs(subject: Subject) -> Iterator[Evidence]:
    project = subject.model.project
    if not subject.registrations:
        raise NotDecidable(UNREGISTERED)
    if not has_coverage_pages(project):
        raise NotDecidable("there are no coverage pages here; an installed package has none")
    yield from (_at(subject, place, "lists it") for place in documented_at(project, subject.model.architectures))


# -- places -----------------------------------------------------------------------------------------------------------


def _modules(subject: Subject) -> list[Mention]:
    """The test modules of the package; raises where there can be none."""
    model = subject.model
    name = package_of(model.project, model.path)
    if tests_root(model.project) is None:
        raise NotDecidable("there are no tests here; an installed package has none")
    if name is None:
        raise NotDecidable("tests are looked for by model package, and it lies in none")
    return test_modules(model.project, name)


def _naming(subject: Subject, word: str, text: str, beside: str = "") -> Iterator[Evidence]:
    """The test files of the package that name something, and ``beside`` in the same file; its own first."""
    project = subject.model.project
    name = package_of(project, subject.model.path)
    for file in test_files(project, name) if name is not None else ():
        path = project.tree.absolute(file.place.path)
        if all(project.tree.matches(path, rf"\b{re.escape(each)}\b") for each in (word, beside) if each):
            yield subject.named_in(path, word, text)


def _at(subject: Subject, place: Mention, text: str) -> Evidence:
    return subject.done(text, subject.model.project.tree.absolute(place.path), place.line)


def _noted(subject: Subject, place: Mention, text: str) -> Evidence:
    return subject.as_note(_at(subject, place, text))
