"""NAM201, NAM202, NAM208, NAM209, NAM211-NAM213, NAM216: the tie policy and what must back it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from automodel_lint.domain.loading import FLIP_GUARD, Loading
from automodel_lint.domain.model_class import POLICIES, ModelClass
from automodel_lint.domain.things import ModelPackage
from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.domain.tie_policy import KEYS, POLICY, may_supply_keys
from automodel_lint.domain.tying import Tying, refused_arguments
from automodel_lint.findings import Finding, Severity
from automodel_lint.inference.bindings import dotted, nodes_on
from automodel_lint.inference.names import ClassEntity, FunctionEntity, Scope
from automodel_lint.inference.values import Ref, Undecided
from automodel_lint.remedies import tie_gate
from automodel_lint.remedies import tying as remedies
from automodel_lint.rules import rule


@rule("NAM201")
def tie_support_missing(model: ModelClass) -> Iterator[Finding]:
    if model.owns_causal_head:
        members, _ = model.inherited(POLICY)
        declared = members or model.has_opaque_base or _declared_by_code(model)
        if not declared and model.project.knows("TieSupport"):
            yield model.finding(repair=remedies.policy(model))


def _declared_by_code(model: ModelClass) -> bool:
    """A class decorator or an ``__init_subclass__`` of the checkout that sets the policy."""
    functions: list[ast.AST] = []
    for decorator in model.entity.node.decorator_list:
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = model.names.resolve(func, model.entity.scope)
        functions += [e.node for e in found if isinstance(e, FunctionEntity)]
    functions += [m.binding.node for m in model.inherited("__init_subclass__")[0]]
    texts = (n for f in functions for n in ast.walk(f) if isinstance(n, (ast.Attribute, ast.Constant)))
    return any(POLICY in (n.attr if isinstance(n, ast.Attribute) else str(n.value)) for n in texts)


@rule("NAM202")
def tie_support_invalid(model: ModelClass) -> Iterator[Finding]:
    members, opaque = model.inherited(POLICY)
    if opaque or not model.owns_causal_head:
        return
    for member in members:
        for value in model.member_values(member) or ():
            if not _is_policy(model, value):
                shown = value.fqn.rpartition(".")[2] if isinstance(value, Ref) else repr(value)
                if isinstance(value, Ref) and "." in value.fqn:
                    shown = ".".join(value.fqn.split(".")[-2:])
                yield model.finding(member.value, owner=member.owner, value=shown)
                break


def _is_policy(model: ModelClass, value: object) -> bool:
    if not isinstance(value, Ref):
        return False
    *_, owner, member = ("", *value.fqn.split("."))
    if owner == "TieSupport":
        return member in POLICIES
    if ".TieSupport." in value.fqn:  # an attribute of a member
        return False
    enums = model.project.by_fqn(value.fqn.rpartition(".")[0])
    if any(isinstance(e, ClassEntity) for e in enums):  # a member of some other class
        return False
    return not value.name[:1].isupper() or value.name.isupper()  # a class is no member; another name may be one


@rule("NAM208")
def tied_keys_missing(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head or not model.ties or model.defines(KEYS):
        return
    declared = bool(model.inherited("_nemo_tied_weights_keys")[0])
    supplied = any(may_supply_keys(model, a) for a in model.mro[1:])
    severity = Severity.WARNING if declared or supplied else None
    fields = {"policy": model.tie_policy or "BOTH"}
    yield model.finding(severity=severity, repair=remedies.keys(model), **fields)


@rule("NAM209")
def tie_weights_missing(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head or model.defines("tie_weights"):
        return
    if model.ties:
        yield model.finding(repair=remedies.method(model), declared=model.tie_policy or "BOTH")
    elif not model.project.knows("TieSupport") and _declares_keys(model):
        yield model.finding(repair=remedies.method(model), declared=f"`{KEYS}`")


def _declares_keys(model: ModelClass) -> bool:
    """In a release that has no policies yet, keys are the declaration: such a class is tied where the config says so.

    Only the mapping that transformers 5 reads counts; with the older list, transformers ties by itself.
    """
    values = [v for member in model.local(KEYS) for v in model.member_values(member) or [None]]
    return bool(values) and all(isinstance(v, dict) and v for v in values)


@rule("NAM211")
def tie_flip_guard_missing(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    view = model.method("from_pretrained", local=True)
    if view is None:
        return
    loading = Loading(view)
    how = loading.changed_by()
    if how is not None and not loading.refuses_flip() and model.project.knows(FLIP_GUARD):
        yield model.finding(view.node, method="from_pretrained", how=how)


@rule("NAM212")
def tie_metadata_contradiction(model: ModelClass) -> Iterator[Finding]:
    if not model.owns_causal_head:
        return
    if model.tie_policy == "UNTIED_ONLY":
        for member in model.local(KEYS):
            values = model.member_values(member)
            if values and all(values):
                yield model.finding(
                    member.value,
                    policy="UNTIED_ONLY",
                    problem=f"declares a non-empty `{KEYS}`",
                    advice="empty it",
                )
        view = model.method("tie_weights", local=True)
        if view is not None and Tying(view).ever_aliases(surely=True):
            yield model.finding(
                view.node,
                method="tie_weights",
                policy="UNTIED_ONLY",
                problem="has a `tie_weights` that aliases the two weights",
                advice="remove it, or declare the policy that is meant",
            )
    elif model.tie_policy == "TIED_ONLY" and not _may_alias(model):
        yield model.finding(
            policy="TIED_ONLY",
            problem="aliases the two weights neither in `__init__` nor in `tie_weights`",
            advice="assign `self.lm_head.weight = <input embedding>.weight` in `tie_weights()`",
        )


def _may_alias(model: ModelClass) -> bool:
    """Whether the constructor or ``tie_weights`` can tie; code without source in the way may do so."""
    tie = model.method("tie_weights")
    init = model.method("__init__")
    if tie is None and (model.is_pretrained_model or model.has_opaque_base):
        return True
    return any(view is not None and Tying(view).ever_aliases() for view in (tie, init)) or init is None


@rule("NAM213")
def tie_weights_ungated(model: ModelClass) -> Iterator[Finding]:
    view = model.method("tie_weights")
    if view is None or not model.owns_causal_head:
        return
    problems = []
    ungated = Tying(view).ungated_statements() if model.tie_policy == "BOTH" else []
    if ungated:
        problems.append(f"aliases the two weights whatever `{FLAG}` says")
    refuses = model.is_pretrained_model and refused_arguments(view.node)
    if refuses:
        problems.append("refuses the arguments that transformers 5 passes")
    if problems:
        repair = tie_gate.gated(model, view, ungated, refuses)
        problem = " and ".join(problems)
        yield model.finding(view.node, owner=view.owner, method="tie_weights", repair=repair, problem=problem)


@rule("NAM216")
def tie_flag_default(package: ModelPackage) -> Iterator[Finding]:
    reads = []
    for module in package.modules(b"tie_"):
        names = [n for n, bound in module.bindings.names.items() if any(_is_flag_text(b.node) for b in bound)]
        lines = {n for word in ("tie_", *names) for n in package.project.tree.lines_with(module.path, word)}
        scope = Scope(module)
        for node in nodes_on(module.syntax, lines):
            if isinstance(node, ast.Call) and _reads_flag(package, node, scope):
                with suppress(Undecided):
                    reads.append((module.path, node, package.project.values.single(node.args[2], scope)))
    defaults = {repr(value) for _, _, value in reads}
    if len(defaults) > 1:
        reads.sort(key=lambda r: (r[0], r[1].lineno))
        path, node, value = next(r for r in reads if r[2] is not False)
        others = ", ".join(sorted(defaults - {repr(value)}))
        yield package.finding(path, node, value=repr(value), others=others)


def _is_flag_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == FLAG


def _reads_flag(package: ModelPackage, call: ast.Call, scope: Scope) -> bool:
    """``getattr(<some config>, "tie_word_embeddings", D)``."""
    if dotted(call.func) != "getattr" or len(call.args) != 3:
        return False
    words = [n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in ast.walk(call.args[0])]
    about_config = any(word.lower().endswith(("config", "cfg")) for word in words)
    return about_config and package.project.values.text(call.args[1], scope) == FLAG
