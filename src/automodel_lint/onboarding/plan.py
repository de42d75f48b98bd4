"""What there is to do to add a model, each step with the reason that its config gives."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_lint.onboarding.classification import Classification
from automodel_lint.onboarding.component import ATTENTION, EXPERTS, MLP, NORM, ROPE
from automodel_lint.onboarding.declarations import declarations, precision
from automodel_lint.onboarding.kind import ENCODER, MULTIMODAL, OMNI
from automodel_lint.onboarding.naming import Names
from automodel_lint.onboarding.nearest import Near
from automodel_lint.onboarding.step import DOCS, DONE, FILES, IF, RECIPE, REGISTRATION, TESTS, TO_DO, Step, several
from automodel_lint.onboarding.surroundings import BUILT_IN, NEEDED, NOT_NEEDED, REGISTERED, Surroundings

_MAPPING, _CONFIGS = "MODEL_ARCH_MAPPING", "_CUSTOM_CONFIG_REGISTRATIONS"
_OWN_LAYERS = {
    ATTENTION: ("MLA", "linear attention", "state space", "short convolution", "recurrence", "sparse", "sinks"),
    EXPERTS: ("routed",),
    MLP: ("squared ReLU", "GeGLU", "clamped"),
}
_OWN_LAYERS[ATTENTION] += ("chunked", "bidirectional", "cross-attention", "low-rank projections")


def plan_of(
    found: Classification, around: Surroundings, near: list[Near], names: Names, registry: str | None
) -> tuple[Step, ...]:
    """Return what there is to do; ``registry`` is the relative path of the checkout's registry module, if there is one.

    A step that depends on what only the checkpoint's weights show says so and is an *if*.
    """
    if found.parts.outer.get("_diffusers_version") is not None:
        return _of_diffusers(found)
    return (
        *_files(found, around, near, names),
        *_registration(found, around, names, registry or "_transformers/registry.py"),
        *declarations(found),
        *precision(found, near),
        *_tests(found, names),
        *_docs(found, names),
    )


def _of_diffusers(found: Classification) -> tuple[Step, ...]:
    name = found.architecture or "the model"
    return (
        Step(
            FILES,
            DONE,
            f"no model package is needed for `{name}`",
            "a model of diffusers is loaded through diffusers itself",
        ),
        Step(
            RECIPE,
            TO_DO,
            "add an example recipe with `model.dtype: float32` for full-parameter Adam or AdamW",
            "it shows that the pipeline loads and trains",
            path="examples/diffusion/finetune",
        ),
        Step(
            DOCS,
            TO_DO,
            "add a row",
            "the page lists what is supported",
            path="docs/model-coverage/diffusion",
            rule="NAM802",
        ),
    )


# -- files --------------------------------------------------------------------------------------------------


def _files(found: Classification, around: Surroundings, near: list[Near], names: Names) -> Iterator[Step]:
    folder = names.folder
    yield Step(
        FILES,
        TO_DO,
        "re-export the model class",
        "the package is imported by its name",
        path=f"{folder}/__init__.py",
        rule="NAM106",
    )
    status = around.config_class.status
    if status == NEEDED:
        yield Step(FILES, TO_DO, "write the config class", around.config_class.reason, path=f"{folder}/config.py")
    elif status not in (REGISTERED, BUILT_IN, NOT_NEEDED):
        why = f"{around.config_class.reason}: give `--python EXE` with transformers, then this is decided"
        yield Step(FILES, IF, "write the config class if transformers has none", why, path=f"{folder}/config.py")
    own = _own_layers(found)
    if own:
        why = f"{several(own)}: not what a plain decoder has{_seen_in(own, near)}"
        yield Step(FILES, TO_DO, "write the layers", why, path=f"{folder}/layers.py")
    ropes = [f"RoPE {c.name}" for c in found.components if c.group == ROPE and not c.standard]
    if ropes:
        why = f"{several(ropes)}; only what the shared rope functions do not do"
        yield Step(FILES, IF, "write the rotary embedding", why, path=f"{folder}/rope_utils.py")
    cls = names.cls or "the class"
    what = f"write `{cls}` on `HFCheckpointingMixin`, and `ModelClass = {cls}` at the end"
    start = f"start from `{near[0].registered.model.name}`" if near else "the class that is registered"
    yield Step(FILES, TO_DO, what, start, path=f"{folder}/model.py", rule="NAM105")
    adapter = _adapter(found, folder)
    yield adapter
    what = "decide `_supports_low_memory_dcp_load`, and measure load time and peak memory"
    why = "true only if nearly all tensors are read straight into the model; a test must show it"
    yield Step(FILES, IF, what, why, path=adapter.path, rule="NAM508")


def _own_layers(found: Classification) -> list[str]:
    own = [c.name for c in found.components if c.name in _OWN_LAYERS.get(c.group, ())]
    own += [c.name for c in found.components if c.group == NORM and not c.standard]
    return ["experts" if name == "routed" else name for name in own]


def _seen_in(own: list[str], near: list[Near]) -> str:
    """Where the nearest classes have such layers."""
    for one in near:
        place = next((p for (_, name), p in one.registered.built.items() if name in own), None)
        if place is not None:
            tree = one.registered.model.project.tree
            return f"; `{one.registered.model.name}` has such layers, see {tree.relative(place.path)}:{place.line}"
    return ""


def _adapter(found: Classification, folder: str) -> Step:
    path = f"{folder}/state_dict_adapter.py"
    why = []
    if found.experts is not None:
        why.append(
            "a checkpoint holds experts one by one or in a layout of its own, the shared `MoE` layer stacks them"
        )
    if found.quantization is not None:
        why.append(
            f"the weights are quantised ({found.quantization.value}) and must be dequantised when they are loaded"
        )
    if why:
        return Step(FILES, TO_DO, "write the state-dict adapter", "; ".join(why), path=path)
    why = ["only if tensor names or layouts of the checkpoint differ from the module tree's"]
    if found.draft_layers is not None:
        why.append(f"`{found.draft_layers.path}`: the checkpoint may hold layers that the model does not build")
    return Step(FILES, IF, "write a state-dict adapter", "; ".join(why), path=path)


# -- registration --------------------------------------------------------------------------------------------------


def _registration(found: Classification, around: Surroundings, names: Names, registry: str) -> Iterator[Step]:
    entry = around.registration
    name = found.architecture
    if entry is not None:
        why = f"{entry.path}:{entry.span.line}: `{entry.module}:{entry.cls}`"
        yield Step(REGISTRATION, DONE, f"`{name}` is in `{_MAPPING}`", why, path=entry.path)
    elif name is not None:
        tag = ', {"retrieval"}' if found.is_(ENCODER) else ""
        what = f'add `"{name}": ("{names.module}.model", "{names.cls or name}"{tag})` to `{_MAPPING}`'
        why = "`architectures` names it" + ("; the tag says that it is an encoder" if tag else "")
        yield Step(REGISTRATION, TO_DO, what, why, path=registry)
    else:
        why = "the config names no architecture, so that it must be asked which class its checkpoints are of"
        yield Step(REGISTRATION, TO_DO, f"add an entry to `{_MAPPING}`", why, path=registry)
    own = around.config_class
    if own.status == NEEDED and found.model_type is not None:
        cls = own.name or "its config class"
        what = f'add `"{found.model_type}": ("{names.module}.config", "{cls}")` to `{_CONFIGS}`'
        yield Step(REGISTRATION, TO_DO, what, own.reason, path=registry, rule="NAM108")
    elif own.status == REGISTERED:
        yield Step(REGISTRATION, DONE, f"`{found.model_type}` is in `{_CONFIGS}`", own.reason, path=registry)
    if own.nested and own.status != REGISTERED:
        kinds = several([f"`{field.value}` ({field.path})" for field in own.nested])
        why = "nothing registered or built in reads them"
        yield Step(REGISTRATION, IF, f"register the nested configs as well: {kinds}", why, path=registry)


# -- tests, docs, recipe ---------------------------------------------------------------------------------------------


def _tests(found: Classification, names: Names) -> Iterator[Step]:
    path = names.tests

    def test(what: str, why: str, rule: str | None = None, state: str = TO_DO) -> Step:
        return Step(TESTS, state, what, why, path=path, rule=rule)

    yield test("forward of a tiny config: shapes, finite values", "the first thing that breaks", "NAM801")
    if found.experts is not None or found.quantization is not None:
        yield test(
            "round trip of the adapter: names, shapes, dtypes, values",
            "`from_hf` and `to_hf` undo each other",
            "NAM806",
        )
    if found.experts is not None:
        kinds = [c.name for c in found.components if c.group == EXPERTS and c.name in ("shared", "correction bias")]
        kinds = ["router", "order of the experts", *("shared experts" if name == "shared" else name for name in kinds)]
        yield test(f"each mapped by name and value: {several(kinds)}", "a dense layer that passes proves nothing here")
    yield _tie_test(found, path)
    yield test("save and load again, native and as Hugging Face has it", "weights and ties must survive both")
    own = [
        f"RoPE {c.name}" if c.group == ROPE else c.name
        for c in found.components
        if not c.standard and c.group in (ATTENTION, ROPE, NORM, MLP)
    ]
    what = (
        f"layer by layer against the reference: {several(list(dict.fromkeys(own)))}"
        if own
        else ("layer by layer against the reference, for each layer that is written anew")
    )
    yield test(what, "same weights, same inputs, the dtype of the config")
    if found.is_(MULTIMODAL) or found.is_(OMNI):
        media = several([medium for medium in found.modalities.inputs if medium != "video"]) or "media"
        yield test(f"text with {media}, and the processor", "tokens for media must meet their features one to one")
    yield test("a few steps of training lower the loss", "gradients reach every part")


def _tie_test(found: Classification, path: str) -> Step:
    if found.is_(ENCODER):
        return Step(
            TESTS,
            IF,
            "the ties that the policy demands",
            "only if the class has a causal head",
            path=path,
            rule="NAM805",
        )
    what = "tied: one storage; untied: two; what the policy does not support is refused"
    return Step(TESTS, TO_DO, what, "the policy is only a word until a test builds it", path=path, rule="NAM805")


def _docs(found: Classification, names: Names) -> Iterator[Step]:
    yield Step(
        DOCS, TO_DO, "add a row for it", "readers look there for what is supported", path=names.docs, rule="NAM802"
    )
    what = f"add an example recipe: `_target_: {names.target}`, `dtype: float32` under `model`"
    why = "master weights of a full-parameter run with Adam or AdamW are fp32"
    yield Step(RECIPE, TO_DO, what, why, path=names.recipes, rule="NAM803")
