"""All that a config says by itself about the model it is of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from automodel_lint.onboarding.attention import attention_of
from automodel_lint.onboarding.blocks import mlp_of, norm_of, rope_of
from automodel_lint.onboarding.component import Component
from automodel_lint.onboarding.config_file import ConfigFile, clean
from automodel_lint.onboarding.experts import Experts, experts_of
from automodel_lint.onboarding.kind import KINDS, Kind, Modalities, bidirectional_field, kinds_of, modalities_of
from automodel_lint.onboarding.layers import Layout, layout_of
from automodel_lint.onboarding.parts import Field, Part, Parts, brief, parts_of
from automodel_lint.onboarding.sizes import INNER, Parameters, Sizes, parameters_of, sizes_of
from automodel_lint.onboarding.ties import TieFlag, tie_flag

_NAME = re.compile(r"[^\W\d][\w.\-]{0,199}")
_DRAFTS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules", "mtp_num_layers")


@dataclass(frozen=True)
class Classification:
    """What a config says.

    Attributes:
        file: the config.
        architectures: the names under which the model can be registered.
        model_type: what transformers chooses the config class by; ``None`` if it is not stated.
        parts: the configs inside it.
        kinds: what the model is, the first the one that changes most about adding it; never empty.
        modalities: what it takes and gives beside text.
        layout: which layers there are.
        experts: its mixture of experts, ``None`` for a dense model.
        sizes, parameters: how large the language model is.
        components: what its layers are made of.
        tie: the flag that ties the head to the embedding.
        quantization: the field that says how the weights of the checkpoint are quantised.
        auto_map: the fields that name code in the checkpoint's own repository.
        dtype: the dtype that the checkpoint is in.
        draft_layers: the field that says that there are layers that predict further tokens.
        notes: what a reader should know about the file itself, in sentences.
    """

    file: ConfigFile
    architectures: tuple[str, ...]
    model_type: str | None
    parts: Parts
    kinds: tuple[Kind, ...]
    modalities: Modalities
    layout: Layout
    experts: Experts | None
    sizes: Sizes
    parameters: Parameters
    components: tuple[Component, ...]
    tie: TieFlag
    quantization: Field | None
    auto_map: tuple[Field, ...]
    dtype: Field | None
    draft_layers: Field | None
    notes: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The name of the first kind."""
        return self.kinds[0].name

    @property
    def traits(self) -> tuple[str, ...]:
        """The names of the other kinds."""
        return tuple(kind.name for kind in self.kinds[1:])

    def is_(self, name: str) -> bool:
        """Tell whether the model is of a kind (one of :data:`KINDS`), as its first or by the way."""
        assert name in KINDS
        return any(kind.name == name for kind in self.kinds)

    def has(self, group: str, name: str) -> bool:
        """Tell whether a component of a group has a name."""
        return any(c.group == group and c.name == name for c in self.components)

    @property
    def architecture(self) -> str | None:
        """The first architecture, which is what a checkpoint is loaded by."""
        return self.architectures[0] if self.architectures else None


def classify(file: ConfigFile) -> Classification:
    """Return what a config says of its model.

    Raises:
        ConfigProblem: if a field that is needed has a value of a wrong type.
    """
    parts = parts_of(file)
    outer, backbone = parts.outer, parts.backbone
    architectures = _architectures(outer)
    layout = layout_of(backbone)
    experts = experts_of(backbone, layout.count.value if layout.count is not None else None)
    modalities = modalities_of(parts)
    components = _components(parts, layout, experts)
    sizes, tie = sizes_of(backbone, layout, experts), tie_flag(parts)
    model_type = outer.text("model_type")
    return Classification(
        file=file,
        architectures=architectures,
        model_type=model_type.value if model_type is not None else None,
        parts=parts,
        kinds=kinds_of(parts, layout, experts, modalities, architectures),
        modalities=modalities,
        layout=layout,
        experts=experts,
        sizes=sizes,
        parameters=parameters_of(parts, sizes, layout, experts, components, tie.value),
        components=components,
        tie=tie,
        quantization=_quantization(parts),
        auto_map=_auto_map(outer),
        dtype=outer.text("dtype", "torch_dtype") or backbone.text("dtype", "torch_dtype"),
        draft_layers=_drafts(backbone),
        notes=tuple(_notes(file, outer, backbone, architectures, model_type)),
    )


def _components(parts: Parts, layout: Layout, experts: Experts | None) -> tuple[Component, ...]:
    """The components of the language model; a pipeline of diffusers has none."""
    if parts.outer.get("_diffusers_version") is not None:
        return ()
    part = parts.backbone
    has_mlp = not layout.only_recurrent or part.get(*INNER) is not None
    attention = attention_of(part, layout, bidirectional_field(parts))
    return (*attention, *rope_of(part), *norm_of(part), *mlp_of(part, experts, has_mlp))


def _architectures(outer: Part) -> tuple[str, ...]:
    field = outer.entries("architectures")
    if field is None:
        name = outer.text("_class_name")  # diffusers
        return (name.value,) if name is not None else ()
    for value in field.value:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            outer.file.refuse(field.path, "must be a list of names of classes")
    return tuple(dict.fromkeys(field.value))


def _quantization(parts: Parts) -> Field | None:
    for part in dict.fromkeys((parts.outer.path, parts.backbone.path)):
        of = parts.outer if part == parts.outer.path else parts.backbone
        table = of.table("quantization_config", "compression_config")
        if table is not None:
            method = table.value.get("quant_method") or table.value.get("quant_algo") or table.value.get("format")
            bits = table.value.get("bits") or table.value.get("w_bit")
            said = f"{method or 'method not stated'}{f', {bits} bits' if isinstance(bits, int) else ''}"
            return Field(f"{table.path}.quant_method" if "quant_method" in table.value else table.path, clean(said))
    return None


def _auto_map(outer: Part) -> tuple[Field, ...]:
    table = outer.table("auto_map")
    entries = table.value.items() if table is not None else ()
    return tuple(Field(f"auto_map.{clean(key)}", brief(value)) for key, value in entries if value is not None)


def _drafts(part: Part) -> Field | None:
    found = (part.size(name) for name in _DRAFTS)
    return next((field for field in found if field is not None and field.value), None)


def _notes(
    file: ConfigFile, outer: Part, backbone: Part, architectures: tuple[str, ...], model_type: Field | None
) -> list[str]:
    notes = [f"`{clean(path)}` is stated twice; the last one counts" for path in file.repeated]
    if not architectures:
        notes.append("`architectures` is not stated: nothing says which class a checkpoint of it is loaded by")
    elif len(architectures) > 1:
        notes.append(f"`architectures` names {len(architectures)}; a checkpoint is loaded by the first")
    if backbone.get("block_configs") is not None:
        notes.append(f"`{backbone.at('block_configs')}`: layers differ one by one, which is not looked into here")
    if model_type is None and outer.get("_diffusers_version") is None:
        notes.append("`model_type` is not stated: transformers cannot tell which config class it is for")
    return notes
