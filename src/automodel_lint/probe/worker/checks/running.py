"""NAM910, NAM915: does the model learn, and does it learn from the past only?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.errors import missing_dependency, one_line
from automodel_lint.probe.worker.forward_places import forward_of
from automodel_lint.probe.worker.later_tokens import first_leaking
from automodel_lint.probe.worker.reference import Reference
from automodel_lint.probe.worker.subject import Subject

STEPS = 6
RATES = (3e-3, 3e-4)  # the smaller one for a model that the larger one throws about
FALL = 1e-3  # of the loss: more than another order of sums makes
LEAK = 1e-4  # of the largest logit: what fp32 and another order of sums never reach
TOKENS = ("input_ids", "decoder_input_ids")
ID_FIELD = re.compile(r".*(token|start|end|sep|pad|bos|eos|mask)_?(id|ids|index)|.*token_ids?")


@check("NAM910", order=40)
def loss_not_falling(subject: Subject) -> Iterator[Fault]:
    """Train on one batch, as a model is trained, and see whether the loss falls."""
    arguments = subject.inputs()
    for rate in RATES:
        losses, how = _train(subject, arguments, rate)
        how = f"{STEPS} steps (AdamW, {rate:g}{how})"
        before, after = losses[0], min(losses[1:])
        if after < before - FALL * abs(before):
            subject.figure(f"loss {before:.4f} before, {losses[-1]:.4f} after {how}")
            return
    subject.figure(f"loss {before:.4f} before, {after:.4f} at best in {how}")
    yield Fault({"before": f"{before:.4f}", "after": f"{after:.4f}", "steps": STEPS}, {"method": "forward"})


def _train(subject: Subject, arguments: dict[str, Any], rate: float) -> tuple[list[float], str]:
    """Return the losses before each step and after the last, and what was not as in training, in words."""
    problems: list[Exception] = []
    for training, how in ((True, ""), (False, ", in evaluation mode")):  # some want more arguments for training
        try:
            return _steps(subject, subject.fresh().train(training), arguments, rate), how
        except NotProbed:
            raise
        except Exception as error:
            problems.append(error)
    raise _not_run(problems[0], subject) from problems[0]


def _steps(subject: Subject, model: nn.Module, arguments: dict[str, Any], rate: float) -> list[float]:
    parameters = [p for p in model.parameters() if p.requires_grad and p.is_floating_point()]
    if not parameters:
        raise NotProbed("it has no parameter to train")
    optimiser = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.0)
    losses: list[float] = []
    for _ in range(STEPS + 1):
        torch.manual_seed(subject.job.seed)  # the same dropout in each step
        if losses:
            optimiser.step()
        with torch.enable_grad():
            loss = _loss(subject, subject.run(model, arguments), arguments)
            if not torch.isfinite(loss):
                raise NotProbed("its loss is not finite, see NAM907")
            optimiser.zero_grad()
            if loss.requires_grad:
                loss.backward()
        if all(p.grad is None for p in parameters):
            raise NotProbed("no gradient reaches any of its parameters, see NAM907")
        losses.append(loss.item())
    return losses


def _loss(subject: Subject, output: torch.Tensor, arguments: dict[str, Any]) -> torch.Tensor:
    """Next-token cross-entropy of logits ``[B, S, V]``; of anything else the distance from a fixed target."""
    output = output.float()
    if _is_over_vocabulary(subject, output, arguments):
        targets = _tokens(arguments)[:, 1:]
        return nn.functional.cross_entropy(output[:, :-1].flatten(0, 1), targets.flatten())
    target = torch.randn(output.shape, generator=torch.Generator().manual_seed(1))
    return nn.functional.mse_loss(output, target)


def _not_run(error: Exception, subject: Subject) -> NotProbed:
    missing = missing_dependency(error, subject.package)
    if missing:
        return NotProbed(f"needs {missing}, which is not installed")
    return NotProbed(f"it cannot be run, see NAM907: {one_line(error, subject.package)}")


def _tokens(arguments: dict[str, Any]) -> torch.Tensor:
    """Return the tokens ``[B, S]`` whose followers the model predicts.

    Raises:
        NotProbed: if the arguments hold none, or more than one sequence of tokens.
    """
    found = [name for name in arguments if name.endswith("_ids") and not re.search("position|type", name)]
    name = next((name for name in TOKENS if name in found), None)
    others = [n for n in found if n not in TOKENS and arguments[n] is not None]
    if others:
        raise NotProbed(f"what it predicts is not its input: it takes {', '.join(others)} as well")
    if name is None or arguments[name].dim() != 2 or arguments[name].shape[1] < 2:
        raise NotProbed("its inputs are no sequence of tokens")
    return arguments[name]


def _is_over_vocabulary(subject: Subject, output: torch.Tensor, arguments: dict[str, Any]) -> bool:
    """Tell whether an output is one row of logits for each input token."""
    try:
        ids, config = _tokens(arguments), subject.config()
    except NotProbed:
        return False
    if output.dim() != 3 or output.shape[:2] != ids.shape:
        return False
    size = getattr(config, "vocab_size", None) or getattr(_text_part(config), "vocab_size", None)
    return bool(size) and output.shape[-1] >= size


def _text_part(config: Any) -> Any:
    """Return the configuration of the language model in a configuration, which may be that itself."""
    return config.get_text_config() if hasattr(config, "get_text_config") else getattr(config, "text_config", config)


# -- later tokens -----------------------------------------------------------------------------------------------------


@check("NAM915", order=35)
def future_leak(subject: Subject) -> Iterator[Fault]:
    """Change the last token and see whether the logits of earlier ones move."""
    arguments = subject.inputs()
    changed = _with_another_end(arguments, subject.config())
    moved, ran = _moved(subject, subject.model, arguments, changed)
    earlier = float(moved[:-1].max())
    subject.figure(f"earlier logits moved by {earlier:.2g} of the largest")
    if float(moved[-1]) <= LEAK:
        raise NotProbed("its last token does not change its own logits either")
    if earlier <= LEAK:
        return
    if float(_moved(subject, subject.model, arguments, arguments)[0].max()) > LEAK:
        raise NotProbed("its forward does not give the same logits twice")
    if _reference_leaks(subject, arguments, changed):
        subject.figure(f"earlier logits moved by {earlier:.2g} of the largest; those of the reference move too")
        return
    _must_not_say_otherwise(subject, ran)
    position = int(moved[:-1].argmax())
    module = first_leaking(subject, subject.model, _tokens(arguments).shape, arguments, changed)
    fields = {"position": position, "difference": f"{float(moved[position]):.2g}", "module": ""}
    if module:
        fields["module"] = f", first in `{module}`"
    place = forward_of(subject.model.get_submodule(module), subject.cls)
    yield Fault(fields, {**place, "module": module, "method": "forward"})


def _moved(subject: Subject, model: nn.Module, *both: dict[str, Any]) -> tuple[torch.Tensor, list[str]]:
    """Return how far the logits of each position ``[S]`` differ between two inputs, as a share of the largest.

    And the names of the modules that ran and say of themselves that they are not causal.

    Raises:
        NotProbed: if it cannot be run, or does not give logits over a vocabulary for each token.
    """
    acausal: list[str] = []
    hooks = [
        module.register_forward_pre_hook(lambda *_, name=name: acausal.append(name))
        for name, module in model.named_modules()
        if getattr(module, "is_causal", None) is False
    ]
    try:
        with torch.no_grad():
            before, after = (subject.run(model, arguments).float() for arguments in both)
    except Exception as error:
        raise _not_run(error, subject) from error
    finally:
        for hook in hooks:
            hook.remove()
    if not _is_over_vocabulary(subject, before, both[0]):
        raise NotProbed("it is no language model: it does not give logits over a vocabulary for each token")
    if not torch.isfinite(before).all() or not torch.isfinite(after).all():
        raise NotProbed("its logits are not finite, see NAM907")
    difference = (before - after).abs().amax(dim=(0, 2)) / before.abs().max().clamp(min=1e-30)
    return difference, list(dict.fromkeys(acausal))


def _with_another_end(arguments: dict[str, Any], config: Any) -> dict[str, Any]:
    """Replace the last token of each row by an ordinary one from elsewhere in the batch."""
    ids = _tokens(arguments)
    special = _special_ids(config.to_dict())
    ordinary = [token for token in dict.fromkeys(ids.flatten().tolist()) if token not in special]
    ends = [next((token for token in ordinary if token != last), None) for last in ids[:, -1].tolist()]
    if None in ends:
        raise NotProbed("its inputs have no two ordinary tokens")
    changed = ids.clone()
    changed[:, -1] = torch.tensor(ends)
    return {name: changed if value is ids else value for name, value in arguments.items()}


def _special_ids(node: dict[str, Any]) -> set[int]:
    found: set[int] = set()
    for name, value in node.items():
        if isinstance(value, dict):
            found |= _special_ids(value)
        elif ID_FIELD.fullmatch(str(name)):
            found |= {item for item in (value if isinstance(value, (list, tuple)) else [value]) if type(item) is int}
    return found


def _reference_leaks(subject: Subject, arguments: dict[str, Any], changed: dict[str, Any]) -> bool:
    """Tell whether the class of transformers looks at later tokens too; ``False`` if there is none to ask."""
    try:
        moved, _ = _moved(subject, Reference.of(subject).model(), arguments, changed)
    except NotProbed:
        return False
    return float(moved[:-1].max()) > LEAK


def _must_not_say_otherwise(subject: Subject, ran: list[str]) -> None:
    """Take a class at its word that it looks at later tokens by design.

    Raises:
        NotProbed: if it says so, in its configuration or of a layer that ran.
    """
    for part in (config := subject.config(), _text_part(config)):
        for name, causal in (("is_causal", False), ("use_bidirectional_attention", True)):
            if getattr(part, name, None) is causal:
                raise NotProbed(f"it looks at later tokens by design: {name} of its configuration is {causal}")
    if ran:
        raise NotProbed(f"it looks at later tokens by design: is_causal of {ran[0]} is False")
