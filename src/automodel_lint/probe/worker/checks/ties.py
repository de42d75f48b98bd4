"""NAM903, NAM904: is the head the embedding when it should be, and not when it should not?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import scratch
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import is_out_of_memory, missing_dependency, one_line
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tied_pair import SETTINGS, Pair, config_with, find_pair, policy_of, unasked

WORDS = {True: "tied", False: "untied"}


@check("NAM904", order=11)
def tie_not_rejected(subject: Subject) -> Iterator[Fault]:
    policy = policy_of(subject.cls)
    supported = SETTINGS[policy]
    pair = find_pair(_supported(subject, supported[0]))
    if len(supported) == 2:
        subject.figure("it supports both settings")
        return
    tied = not supported[0]
    said = (
        ", where the configuration inside asks as well: the outer one does by default" if unasked(subject, tied) else ""
    )
    try:
        model = subject.construct(config_with(subject, tied, inside=bool(said)))
    except (Exception, SystemExit) as error:
        if is_out_of_memory(error) or missing_dependency(error, subject.package):
            raise
        subject.figure(
            f"{WORDS[tied]} is refused with {type(error).__name__}{f', if asked for {said}' if said else ''}"
        )
        return
    with contextlib.suppress(NotProbed):
        pair = find_pair(model)
    yield _fault(tied, policy, pair, "at construction", {"method": "__init__"})


@check("NAM903", order=12)
def tie_not_aliased(subject: Subject) -> Iterator[Fault]:
    policy = policy_of(subject.cls)
    looks: list[str] = []
    skipped: list[str] = []
    for tied in SETTINGS[policy]:
        for when, prepare in STAGES.items():
            try:
                model = prepare(subject, tied)
            except NotProbed:
                raise
            except (Exception, SystemExit) as error:
                skipped.append(f"{WORDS[tied]} {when}: {one_line(error, subject.package)}")
                continue
            pair = find_pair(model)
            looks.append(f"{WORDS[tied]} {when}")
            if pair.aliased != tied:
                aliasing = {"method": "tie_weights"} if prepare is _loaded else None
                yield _fault(tied, policy, pair, when, aliasing)
                break
    if not looks:
        raise NotProbed(skipped[0])
    subject.figure("; ".join(looks) + (f"; not looked: {'; '.join(skipped)}" if skipped else ""))


def _fault(tied: bool, policy: str, pair: Pair, when: str, at: dict[str, str] | None = None) -> Fault:
    fields = {"setting": WORDS[tied], "policy": policy.upper(), "when": when}
    return Fault({**fields, "head": pair.head_name, "embedding": pair.embedding_name}, at or {"tensor": pair.head_name})


def _supported(subject: Subject, tied: bool) -> nn.Module:
    try:
        return subject.construct(config_with(subject, tied))
    except NotProbed:
        raise
    except (Exception, SystemExit) as error:
        raise NotProbed(f"it cannot be constructed {WORDS[tied]}: {one_line(error, subject.package)}") from error


def _constructed(subject: Subject, tied: bool) -> nn.Module:
    """As the framework hands it on: where it asks for a tie, it sees to it after construction."""
    model = _supported(subject, tied)
    if tied:
        _tie_as_framework(subject, model)
    return model


def _initialised(subject: Subject, tied: bool) -> nn.Module:
    return scratch.from_scratch(subject, config_with(subject, tied), torch.float32)


def _loaded(subject: Subject, tied: bool) -> nn.Module:
    model = _constructed(subject, tied)
    model.load_state_dict(model.state_dict())
    _tie_weights(model)
    return model


STAGES: dict[str, Callable[[Subject, bool], nn.Module]] = {
    "after construction": _constructed,
    "after its initialiser": _initialised,
    "after loading and tie_weights()": _loaded,
}


def _tie_as_framework(subject: Subject, model: nn.Module) -> None:
    ensure: Any = subject.framework.find("ensure_tied_lm_head")
    if ensure is not None:
        ensure(model)
    else:
        _tie_weights(model)


def _tie_weights(model: nn.Module) -> None:
    if callable(getattr(model, "tie_weights", None)):
        model.tie_weights()
