"""What sort of model a config describes, each answer with the fields that decided it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from automodel_lint.onboarding.experts import Experts
from automodel_lint.onboarding.layers import CHUNKED, FULL, PARALLEL, RECURRENT, SLIDING, Layout
from automodel_lint.onboarding.parts import AUDIO, IMAGES, SPEECH, VIDEO, VISION, Field, Part, Parts, brief

# From the one that changes most about how a model is added to the one that changes least.
DIFFUSION, OMNI, MULTIMODAL, ENCODER, ENCODER_DECODER, HYBRID, MOE, DENSE = KINDS = (
    "diffusion",
    "omni",
    "multimodal",
    "encoder",
    "encoder-decoder",
    "hybrid",
    "moe",
    "dense",
)
_FLAT_VISION = ("vision_n_layers", "vision_layers", "vision_num_layers", "vision_depth")
_TOWERS = {
    "mm_vision_tower": VISION,
    "vision_tower": VISION,
    "vision_encoder": VISION,
    "audio_processor": AUDIO,
    "embd_layer": VISION,
    "visual": VISION,
}
_IMAGES_OUT = ("visual_gen", "image_generation")
_MASKED = re.compile(r"ForMaskedLM$")
_SCORING = re.compile(r"For(Sequence|Token)Classification$|ForQuestionAnswering$|ForMultipleChoice$|ForImageClassif")
_BARE = re.compile(r"((?<!LMHead)(?<!Heads)Model|Encoder|EncoderModel|ForFeatureExtraction|ForEmbedding)$")
_PLURAL = {"image": "images", "audio": "sound", "video": "video"}
_NO_MORE_THAN_A_WORD = ("all", "true")


@dataclass(frozen=True)
class Kind:
    """One of :data:`KINDS` that a model is, and why.

    Attributes:
        name: the kind.
        reason: what the fields say, in a few words.
        fields: the fields that decided it; empty where it is what is left.
    """

    name: str
    reason: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Modalities:
    """What a model takes and gives beside text, each with the field that says so."""

    inputs: dict[str, Field]
    outputs: dict[str, Field]


def modalities_of(parts: Parts) -> Modalities:
    """Return the modalities of a model; raises :class:`ConfigProblem` for fields of a wrong type."""
    outer = parts.outer
    inputs: dict[str, Field] = {}
    outputs: dict[str, Field] = {}
    for role, name in ((VISION, "image"), (AUDIO, "audio"), (VIDEO, "video")):
        for part in parts.of(role):
            spoken = any(part.path.startswith(f"{speech.path}.") for speech in parts.of(SPEECH))
            if not spoken:
                inputs.setdefault(name, Field(part.path, _model_type(part)))
    for name in _FLAT_VISION:
        layers = outer.get(name)
        if layers is not None and isinstance(layers.value, int) and layers.value > 0:
            inputs.setdefault("image", layers)
    for name, role in _TOWERS.items():
        tower = outer.get(name)
        if tower is not None and isinstance(tower.value, (str, dict)) and tower.value:
            inputs.setdefault("image" if role == VISION else "audio", Field(tower.path, brief(tower.value)))
    if "image" in inputs:
        video = outer.get("video_token_id", "video_token_index")
        if video is not None and isinstance(video.value, int):
            inputs.setdefault("video", video)
    for part in parts.of(SPEECH):
        outputs.setdefault("audio", Field(part.path, _model_type(part)))
    for part in parts.of(IMAGES):
        outputs.setdefault("image", Field(part.path, "an object"))
    for name in _IMAGES_OUT:
        says = outer.says(name, True)
        if says is not None:
            outputs.setdefault("image", says)
    return Modalities(inputs, outputs)


def _model_type(part: Part) -> str:
    found = part.text("model_type")
    return found.value if found is not None else "an object"


def kinds_of(
    parts: Parts, layout: Layout, experts: Experts | None, modalities: Modalities, architectures: tuple[str, ...]
) -> tuple[Kind, ...]:
    """Return what a model is, in the order of :data:`KINDS`.

    Raises:
        ConfigProblem: for fields of a wrong type.
    """
    found = [*_diffusion(parts, architectures), *_media(parts, modalities, architectures)]
    if not any(kind.name == DIFFUSION for kind in found):
        found += _encoder(parts, architectures)
    found += _hybrid(layout)
    if experts is not None:
        where = f" in {experts.layers} of {layout.count.value} layers" if experts.layers and layout.count else ""
        by = (experts.layers_field,) if experts.layers_field is not None else ()
        found.append(Kind(MOE, f"experts are stated{where}", (*experts.evidence, *by)))
    elif not _is_pipeline(parts):
        found.append(Kind(DENSE, "no field says that there are experts", ()))
    return tuple(sorted(found, key=lambda kind: KINDS.index(kind.name)))


def _is_pipeline(parts: Parts) -> bool:
    return parts.outer.get("_diffusers_version") is not None


def _diffusion(parts: Parts, architectures: tuple[str, ...]) -> Iterator[Kind]:
    outer = parts.outer
    version, name = outer.get("_diffusers_version"), outer.get("_class_name")
    if version is not None:
        fields = (name, version) if name is not None else (version,)
        yield Kind(DIFFUSION, "a model of diffusers", fields)
        return
    by_name = [word for word in architectures if "diffusion" in word.lower()]
    if by_name:
        canvas = outer.get("canvas_length", "block_length")
        fields = (Field("architectures", by_name[0]), *((canvas,) if canvas is not None else ()))
        yield Kind(DIFFUSION, "the architecture says so", fields)
        return
    mask = outer.get("mask_token_id")
    auto_map = outer.data.get("auto_map")
    masked = [*architectures, *(auto_map if isinstance(auto_map, dict) else ())]
    if mask is not None and isinstance(mask.value, int) and not any(_MASKED.search(word) for word in masked):
        yield Kind(DIFFUSION, "a mask token, and no head that only fills in masks: text by denoising", (mask,))


def _media(parts: Parts, modalities: Modalities, architectures: tuple[str, ...]) -> Iterator[Kind]:
    inputs, outputs = modalities.inputs, modalities.outputs
    everything = {**{f"{name} out": field for name, field in outputs.items()}, **inputs}
    fields = tuple(everything.values())
    omni = [word for word in architectures if re.search(r"Omni(?![a-z])", word)]
    if "audio" in inputs and "image" in inputs:
        yield Kind(OMNI, "it takes images and sound", (inputs["image"], inputs["audio"], *outputs.values()))
    elif "audio" in outputs and (inputs or omni):
        yield Kind(OMNI, "it speaks", fields)
    elif omni and inputs:
        yield Kind(OMNI, "it takes other media, and the architecture says that it is one", (*fields, _in_list(omni[0])))
    elif inputs or outputs:
        texts = [part for part in parts.nested if part is parts.backbone]
        backbone = (Field(texts[0].path, _model_type(texts[0])),) if texts else ()
        takes, gives = (" and ".join(_PLURAL[name] for name in found) for found in (inputs, outputs))
        said = "; ".join(filter(None, (f"it takes {takes}" if takes else "", f"it makes {gives}" if gives else "")))
        yield Kind(MULTIMODAL, said, (*fields, *backbone))


def _in_list(value: str) -> Field:
    return Field("architectures", value)


def _encoder(parts: Parts, architectures: tuple[str, ...]) -> Iterator[Kind]:
    outer = parts.outer
    both = outer.says("is_encoder_decoder", True)
    if both is not None:
        yield Kind(ENCODER_DECODER, "an encoder and a decoder that reads from it", (both,))
        return
    bidirectional = bidirectional_field(parts)
    for pattern, reason in (
        (_MASKED, "a head that fills in masks"),
        (_SCORING, "a head that scores or labels, and none that predicts the next token"),
    ):
        by_name = [word for word in architectures if pattern.search(word)]
        if by_name:
            more = (bidirectional,) if bidirectional is not None else ()
            yield Kind(ENCODER, reason, (_in_list(by_name[0]), *more))
            return
    bare = [word for word in architectures if _BARE.search(word)] if not _predicts(parts, architectures) else []
    if bidirectional is not None and (bare or not architectures or "Bidirectional" in architectures[0]):
        yield Kind(ENCODER, "every token sees every other", (bidirectional, *(_in_list(word) for word in bare)))
    elif bare:
        yield Kind(ENCODER, "no head: it gives hidden states", (_in_list(bare[0]),))


def _predicts(parts: Parts, architectures: tuple[str, ...]) -> bool:
    """Whether something else than the name of the class says that a bare model predicts the next token."""
    auto_map = parts.outer.data.get("auto_map")
    mapped = list(auto_map) if isinstance(auto_map, dict) else []
    inside = [word for part in parts.nested for word in _words(part.data.get("architectures"))]
    speaks = any("Omni" in word for word in architectures)
    return speaks or any(word.endswith(("ForCausalLM", "ForConditionalGeneration")) for word in (*mapped, *inside))


def bidirectional_field(parts: Parts) -> Field | None:
    """Return the field that says that attention of the language model is not causal."""
    for part in dict.fromkeys((parts.backbone.path, "")):
        of = parts.backbone if part == parts.backbone.path else parts.outer
        found = of.says("is_causal", False) or of.says("bidirectional", True)
        both_ways = of.get("use_bidirectional_attention", "bidirectional_attention")
        if both_ways is not None and str(both_ways.value).lower() in _NO_MORE_THAN_A_WORD:
            found = found or both_ways
        if found is not None:
            return found
    words = _words(parts.outer.data.get("architectures"))
    named = [word for word in words if "Bidirectional" in word or _MASKED.search(word)]
    if named:
        return _in_list(named[0])
    kind = parts.outer.get("model_type")
    return kind if kind is not None and "bidirec" in str(kind.value).lower() else None


def _words(value: object) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _hybrid(layout: Layout) -> Iterator[Kind]:
    if layout.has(PARALLEL):
        yield Kind(HYBRID, "layers with attention and recurrence beside each other", layout.evidence)
    elif layout.has(RECURRENT) and layout.has(FULL, SLIDING, CHUNKED):
        yield Kind(HYBRID, "some layers attend, others are linear or a state space", layout.evidence)
