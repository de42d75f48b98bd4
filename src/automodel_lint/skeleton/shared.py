"""What a checkout offers to build a model of, found in its source by name and signature."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from automodel_lint.domain.project import Project
from automodel_lint.domain.spelling import home_of
from automodel_lint.inference.names import ClassEntity, External, FunctionEntity
from automodel_lint.request import UsageError


@dataclass(frozen=True)
class Piece:
    """Something to import: its name, the module, and what it takes.

    Attributes:
        name: what it is called.
        module: where it is imported from.
        parameters: the names of its parameters (of a class, those of its constructor or its dataclass fields).
        required: those of them that have no default.
        returns: the dotted name of what a function is annotated to return; empty if that is not told.
        calls: the names of the parameters of a class's ``forward``.
    """

    name: str
    module: str
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    returns: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What is looked for: one of ``names`` with all of ``parameters``; without names, any function of these."""

    names: tuple[str, ...]
    parameters: tuple[str, ...] = ()


CONTRACTS = {
    "tie_support": Wanted(("TieSupport",)),
    "guard": Wanted(("reject_unsupported_tie_word_embeddings",)),
    "mixin": Wanted(("HFCheckpointingMixin",)),
    "backend": Wanted(("BackendConfig",)),
    "cast": Wanted(("cast_model_to_dtype",)),
}
EXPERTS = {
    "moe": Wanted(("MoE",), ("config", "backend")),
    "moe_config": Wanted(("MoEConfig",)),
    "moe_sync": Wanted(("MoEFSDPSyncMixin",)),
}
OFFERED = {
    "linear": Wanted(("initialize_linear_module",), ("in_features", "out_features", "bias", "dtype")),
    "rms_norm": Wanted(("initialize_rms_norm_module",), ("dim", "eps", "dtype")),
    "attention": Wanted(
        ("initialize_attn_module_and_func",), ("attn_impl", "num_qk_channels", "softmax_scale", "num_gqa_groups")
    ),
    "attention_inputs": Wanted(("preprocess_args_and_kwargs_for_attn",), ("attention_mask", "attn_impl")),
    "attention_output": Wanted(("postprocess_output_for_attn",), ("attn_impl",)),
    "head": Wanted((), ("lm_head", "logits_to_keep")),
    "initialize": Wanted(("initialize_module_tree",), ("std", "buffer_device")),
    "yield_fp32": Wanted(("yield_fp32_model",), ("restore_dtype",)),
    "dtype_of": Wanted(("dtype_of",)),
    "dtype_from": Wanted(("dtype_from_str",), ("val", "default")),
    "experts_mixin": Wanted(("MoESplitExpertsStateDictMixin",)),
    "adapter_base": Wanted(("StateDictAdapter",)),
    "query": Wanted(("query_capabilities",)),
}
_OF_MODELS = "components/models/"
_SHARED_MODELS = "components/models/common/"


@dataclass(frozen=True)
class Shared:
    """The pieces of a checkout by role; a role that it has nothing for is ``None``."""

    pieces: dict[str, Piece | None] = field(default_factory=dict)

    def __getattr__(self, role: str) -> Piece | None:
        try:
            return self.pieces[role]
        except KeyError as error:
            raise AttributeError(role) from error

    def sources(self) -> dict[str, str]:
        """Return the module of each name that can be imported."""
        return {piece.name: piece.module for piece in self.pieces.values() if piece is not None}


def shared_of(project: Project, experts: bool) -> Shared:
    """Return what a checkout offers.

    Raises:
        UsageError: if it lacks what every model (with ``experts``, every one with experts) is held to have.
    """
    needed = {**CONTRACTS, **(EXPERTS if experts else {})}
    found = {role: _found(project, wanted) for role, wanted in {**needed, **OFFERED}.items()}
    for role, wanted in needed.items():
        if found[role] is None:
            raise UsageError(
                f"{project.checkout.package_dir}: defines no {wanted.names[0]}: what `new` writes needs a framework "
                "that has it"
            )
    if not (found["attention"] and found["attention_inputs"] and found["attention_output"]):
        found["attention"] = None
    return Shared(found)


def _found(project: Project, wanted: Wanted) -> Piece | None:
    for name in wanted.names:
        home = home_of(project, name)
        piece = _piece(project, home, name) if home else None
        if piece is not None and set(wanted.parameters) <= set(piece.parameters):
            return piece
    return None if wanted.names else _by_parameters(project, wanted.parameters)


def _by_parameters(project: Project, parameters: tuple[str, ...]) -> Piece | None:
    """A function of the shared folders that takes these, whatever it is called."""
    for path in _shared_files(project):
        if not all(project.tree.holds(path, name.encode()) for name in parameters):
            continue
        name = project.names.module_name(path)
        module = project.names.module(name) if name else None
        for node in module.syntax.body if module else ():
            if isinstance(node, ast.FunctionDef) and set(parameters) <= set(_named(node.args)):
                return _piece(project, module.name, node.name) if module else None
    return None


def _shared_files(project: Project) -> Iterator[str]:
    for path in project.package_files():
        inside = os.path.relpath(path, project.checkout.package_dir).replace(os.sep, "/")
        if inside.startswith(_SHARED_MODELS) or (
            inside.startswith(("components/", "shared/")) and not inside.startswith(_OF_MODELS)
        ):
            yield path


def _piece(project: Project, home: str, name: str) -> Piece | None:
    for entity in project.names.from_module(home, name):
        if isinstance(entity, FunctionEntity):
            given, required = _taken(entity.node.args)
            return Piece(name, home, given, required, _returned(project, entity))
        if isinstance(entity, ClassEntity):
            return _of_class(project, home, name, entity)
    return None


def parameters_of(project: Project, home: str, name: str) -> tuple[str, ...]:
    """Return the names of the parameters of a function, or of a class's constructor."""
    piece = _piece(project, home, name)
    return piece.parameters if piece is not None else ()


def _of_class(project: Project, home: str, name: str, entity: ClassEntity) -> Piece:
    methods = {method.name: method for method in project.classes.methods(entity)}
    if "__init__" in methods:
        given, required = _taken(methods["__init__"].args, method=True)
    else:
        fields = [n for n in entity.node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        given = tuple(n.target.id for n in fields)  # type: ignore[union-attr]
        required = tuple(n.target.id for n in fields if n.value is None)  # type: ignore[union-attr]
    calls = _taken(methods["forward"].args, method=True)[0] if "forward" in methods else ()
    return Piece(name, home, given, required, calls=calls)


def _taken(arguments: ast.arguments, method: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of parameters, and of those without a default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [a.arg for a in positional[: len(positional) - len(arguments.defaults)]]
    without += [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    return _named(arguments)[method:], tuple(without)[method:]


def _named(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _returned(project: Project, entity: FunctionEntity) -> str:
    if entity.node.returns is None:
        return ""
    for found in project.names.resolve(entity.node.returns, entity.scope):
        if isinstance(found, (External, ClassEntity)):
            return found.fqn
    return ""
