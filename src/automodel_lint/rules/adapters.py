"""NAM501-NAM513: what gives a model's tensors the names of a checkpoint, and back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from automodel_lint.domain.adapter_code import finding_at_place, finding_in, shown
from automodel_lint.domain.adapter_methods import lacking, unlike_whole
from automodel_lint.domain.expert_order import text_sorts
from automodel_lint.domain.fp32_holders import unrouted_holder
from automodel_lint.domain.invented_tensors import invented
from automodel_lint.domain.loose_adapter import LooseAdapter
from automodel_lint.domain.lora_keys import blind_quantisation, blind_rename
from automodel_lint.domain.lost_keys import lost_keys, suspects
from automodel_lint.domain.low_memory import claim, is_tested, rebuilt
from automodel_lint.domain.mesh_reads import half_cut_experts, mesh_reads
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.domain.name_dispatch import name_tests
from automodel_lint.domain.one_way import one_way
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.names import ClassEntity
from automodel_lint.rules import rule


@rule("NAM501", late=True)
def adapter_incomplete(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for cls in _served_by(model):
        missing = lacking(model, cls)
        if missing and (isinstance(model, ModelClass) or model.must_be_complete):
            names = " and ".join(f"`{name}`" for name in missing)
            yield model.finding(owner=cls, missing=names)


@rule("NAM502", late=True)
def adapter_one_way(model: ModelClass) -> Iterator[Finding]:
    for adapter in model.adapters:
        found = one_way(model, adapter)
        if found is not None:
            loaded = f"loads that as `{found.loaded}`" if found.loaded else "does not load that"
            yield finding_at_place(model, adapter, found.place, name=found.name, saved=found.saved, loaded=loaded)


@rule("NAM503", late=True)
def adapter_lora_blind(model: ModelClass) -> Iterator[Finding]:
    for adapter in model.adapters:
        blind = blind_rename(model, adapter)
        if blind is None:
            continue
        fault = f"renames `{blind.weight}` to `{blind.saved}`"
        advice = "rename behind an outer `base_model.model.` as well"
        if not blind.lora_saved:
            fault += f" and leaves out its LoRA tensor, `{blind.lora}`"
        elif blind.is_alone:
            fault += f", but not its LoRA tensor, `{blind.lora}`"
        else:
            fault += f" and saves its LoRA tensor as `{blind.lora_saved}`"
            advice = "keep `base_model.model.` in front and rename all of the rest, or nothing"
        yield finding_at_place(model, adapter, blind.place, fault=fault, advice=advice)


@rule("NAM503", late=True)
def adapter_quantises_lora(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        for view in blind_quantisation(model, adapter):
            fault = "takes every name that ends in `.weight`, those of LoRA too"
            advice = "leave out what holds `.lora_`"
            yield finding_in(model, view, view.node, Severity.WARNING, fault=fault, advice=advice)


@rule("NAM504", late=True)
def adapter_drops_keys(model: ModelClass) -> Iterator[Finding]:
    for adapter in model.adapters:
        lost = lost_keys(model, adapter)
        if lost is not None:
            fault, advice = f"leaves out `{lost.name}`", "keep what no test names, in an `else`"
            if lost.becomes:
                fault = f"loads `{lost.name}` as `{lost.becomes}`, which is not the model's"
                advice = "give the prefix only to what belongs under it"
            yield finding_in(model, lost.view, lost.node, fault=fault, advice=advice)


@rule("NAM504", late=True)
def adapter_drops_keys_of_others(loose: LooseAdapter) -> Iterator[Finding]:
    if any(suspects(loose, adapter) != (None, None, None) for adapter in loose.adapters):
        for model in loose.users:
            yield from adapter_drops_keys(model)


@rule("NAM505", late=True)
def adapter_invents_tensor(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        for view, node in invented(model, adapter):
            yield finding_in(model, view, node, call=ast.unparse(node.func))


@rule("NAM506", late=True)
def adapter_single_mismatch(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        found = unlike_whole(model, adapter)
        if found is not None:
            fault = f"returns every name as it is, but `{found.method}` renames"
            if found.name:
                fault = f"leaves `{found.name}` as it is, but `{found.method}` makes it `{found.saved}`"
            yield finding_in(model, found.single, found.single.node, fault=fault)


@rule("NAM507", late=True)
def adapter_mesh_rank(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        for read in mesh_reads(model, adapter):
            fault = f"asks a mesh that may have several dimensions for `{shown(read.node)}`"
            name = read.node.func.attr  # type: ignore[attr-defined]
            advice = f"name the dimension meant, `{name}(<dimension>)`, or ask the submesh that has only that one"
            yield finding_in(model, read.view, read.node, fault=fault, advice=advice)
        for view, node in half_cut_experts(model, adapter):
            fault = f"cuts out the experts of a rank with `{shown(node)}` and nothing by `ep_shard`"
            advice = 'cut the second dimension too, by size and rank of `get_submesh(device_mesh, ("ep_shard",))`'
            yield finding_in(model, view, node, Severity.WARNING, fault=fault, advice=advice)


@rule("NAM508", late=True)
def low_memory_claim(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        said = claim(model, adapter)
        found = rebuilt(model, adapter, said) if said is not None else None
        if said is not None and found is not None:
            view, call = found
            yield model.finding(
                said.member.binding.node, said.member.owner, rebuilding=view.node.name, call=shown(call)
            )


@rule("NAM509", late=True)
def low_memory_untested(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        said = claim(model, adapter)
        if said is not None and said.member.owner is adapter.entity and not is_tested(model, adapter):
            yield model.finding(said.member.binding.node, said.member.owner, asked=said.asked)


@rule("NAM513", late=True)
def fp32_holder_unrouted(model: ModelClass) -> Iterator[Finding]:
    for adapter in model.adapters:
        found = unrouted_holder(model, adapter)
        if found is not None and adapter.entity is not None:
            fault = f"saves `{found.name}` as `{found.saved}`"
            if not found.kept:
                fault += " and does not load it back from there"
            yield model.finding(owner=adapter.entity, fault=fault)


@rule("NAM512", late=True)
def adapter_expert_order(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        for view, node in text_sorts(model, adapter):
            yield finding_in(model, view, node, call=shown(node))


@rule("NAM510", late=True)
def adapter_name_dispatch(model: ModelClass | LooseAdapter) -> Iterator[Finding]:
    for adapter in model.adapters:
        for view, node in name_tests(model, adapter):
            yield finding_in(model, view, node, test=shown(node))


def _served_by(model: ModelClass | LooseAdapter) -> list[ClassEntity]:
    """The adapter classes of a model, each once."""
    return list(dict.fromkeys(adapter.entity for adapter in model.adapters if adapter.entity is not None))
