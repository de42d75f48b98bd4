"""Chooses, by trying, the tiny configuration and the arguments with which a class runs."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from automodel_lint.probe.worker import building, inputs, pixels
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.errors import missing_dependency, one_line
from automodel_lint.probe.worker.tiny_config import PROFILES, own_tiny_config, resolve

if TYPE_CHECKING:
    from automodel_lint.probe.worker.subject import Subject

EXTRAS = ((), ("attention_mask",), ("attention_mask", "position_ids"))
OWN = "the authors' own"


@dataclass
class Trial:
    """A configuration, and what became of it.

    ``extras`` are the optional arguments without which ``forward`` raises, ``attention`` the implementation that had to
    be named for it; ``first_error`` is what ``forward`` raised without these. ``told`` says what construction changed.
    """

    config: Any
    profile: str
    constructed: bool = False
    ran: bool = False
    attention: str | None = None
    extras: tuple[str, ...] = ()
    first_error: BaseException | None = None
    told: list[str] = field(default_factory=list)


def choose(subject: Subject) -> Trial:
    """Return the first configuration with which the class runs, else the first with which it can be constructed.

    Raises:
        NotProbed: if no configuration can be made.
    """
    trials: list[Trial] = []
    with torch.random.fork_rng(devices=[]):
        for profile, make in _configs(subject):
            try:
                trials.append(_try(subject, make(), profile))
            except NotProbed:
                raise
            except Exception as error:
                trials.append(Trial(None, profile, first_error=error))
            error = trials[-1].first_error
            settled = trials[-1].ran or (trials[-1].constructed and "not_run" in subject.recipe)
            if settled or (error and missing_dependency(error, subject.package)):
                break
    for kind in ("ran", "constructed", "config"):
        best = next((trial for trial in trials if getattr(trial, kind)), None)
        if best:
            _tell(subject, best)
            return best
    error = trials[0].first_error
    assert error is not None
    raise NotProbed(f"no tiny configuration: {one_line(error, subject.package)}") from error


def _configs(subject: Subject) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The ways to make a configuration: the authors' own function, if there is one, else the profiles in turn.

    Who says what holds before shrinking wants it derived; what holds afterwards is laid over the authors' own.
    """
    function = subject.recipe.get("function")
    own = None
    if function:
        own = resolve(function)()
    elif not subject.recipe.keys() & {"given", "parts"}:
        own = own_tiny_config(subject.cls, subject.found_config_class, subject.job.path)
    if own is not None:
        _lay_over(own, subject.recipe.get("set", {}))
        if not getattr(own, "architectures", None):
            own.architectures = [subject.target.architectures[0]]
        yield OWN, lambda: own
        return
    for profile in PROFILES:
        yield (
            profile,
            lambda profile=profile: building.tiny_config(
                subject.cls, subject.config_class, subject.target.architectures, subject.recipe, profile
            ),
        )


def _lay_over(config: Any, changes: dict[str, Any]) -> None:
    """Set fields of a configuration; a table sets those of the configuration that the field holds."""
    for name, value in changes.items():
        part = getattr(config, name, None)
        if isinstance(value, dict) and hasattr(part, "__dict__"):
            _lay_over(part, value)
        else:
            setattr(config, name, value)


def _try(subject: Subject, config: Any, profile: str) -> Trial:
    """Construct and run, as it is and with what may be missing."""
    trial = Trial(config, profile)
    unset = getattr(config, "_attn_implementation", "") is None
    for attention in (None, *(reversed(building.ATTENTIONS) if unset else ())):
        made = copy.deepcopy(config)
        if attention:
            building.set_attention(made, attention)
        try:
            model = subject.fresh(copy.deepcopy(made))
        except NotProbed as reason:
            trial.first_error = trial.first_error or reason.__cause__ or reason
            return trial
        trial.constructed, trial.told = True, list(subject.how)
        if "not_run" in subject.recipe:
            return trial
        for extras in EXTRAS:
            error = _error_of_run(subject, model, made, extras)
            if error is None:
                trial.config, trial.attention, trial.extras, trial.ran = made, attention, extras, True
                return trial
            trial.first_error = trial.first_error or error
            if missing_dependency(error, subject.package):
                return trial
    return trial


def _error_of_run(subject: Subject, model: Any, config: Any, extras: tuple[str, ...]) -> Exception | None:
    try:
        with torch.no_grad():
            subject.run(model, inputs.tiny_inputs(model, config, subject.recipe, extras=extras))
    except Exception as error:
        return error
    return None


@dataclass
class ImageTrial:
    """Which of the forms of :func:`pixels.image_inputs` a class takes, ``None`` if none.

    ``error`` is what ``forward`` raised after its vision tower was done with the images, in a form that does not fit.
    """

    form: int | None = None
    error: Exception | None = None
    tried: int = 0


def choose_image(subject: Subject) -> ImageTrial:
    """Run the class on images in each form until one fits."""
    model, trial = subject.model, ImageTrial()
    seen: list[str] = []
    hooks = [tower.register_forward_hook(lambda *_: seen.append("")) for tower in vision_towers(model).values()]
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for place, arguments in enumerate(pixels.image_inputs(model, subject.config(), subject.recipe)):
                seen.clear()
                trial.tried += 1
                try:
                    subject.run(model, arguments)
                    trial.form = place
                    return trial
                except Exception as error:
                    trial.error = trial.error or (error if seen else None)
    finally:
        for hook in hooks:
            hook.remove()
    return trial


def vision_towers(model: nn.Module) -> dict[str, nn.Module]:
    """Return the outermost modules whose names say that they see, by their names."""
    found: dict[str, nn.Module] = {}
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{other}.") for other in found)
        if (
            not inside
            and pixels.VISION.fullmatch(name.rpartition(".")[2])
            and next(module.parameters(), None) is not None
        ):
            found[name] = module
    return found


def _tell(subject: Subject, trial: Trial) -> None:
    """Report what was derived, for ``--show-config`` and for the reader of a finding."""
    told = [*trial.told, *(f"stand-in for {name}" for name in subject.recipe.get("stand_ins", ()))]
    if trial.attention:
        told.append(f"attention {trial.attention}")
    plain = json.loads(json.dumps(trial.config.to_dict(), default=str))
    made = type(trial.config)
    subject.tell(
        config=plain,
        config_class=f"{made.__module__}:{made.__qualname__}",
        profile=trial.profile,
        recipe=sorted(set(subject.recipe) & set(building.RECIPE_KEYS)),
        how=list(dict.fromkeys(itertools.chain(told, trial.extras))),
    )
