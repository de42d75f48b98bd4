"""NAM912: does a model that is saved and read back have every value, dtype and alias that it had?"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.environment import on_cpu
from automodel_lint.probe.worker.errors import inner, is_out_of_memory, missing_dependency, one_line, place_in
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tensor_names import aliases, listed
from automodel_lint.probe.worker.variants import tie_settings, with_tie

UNREAD = "reloading leaves at its initial value"
DROPPED = "the adapter returns, and the loader drops,"


@dataclass(frozen=True)
class Layout:
    """A way to write and read a checkpoint. ``read`` returns the model that now holds what is in the folder.

    ``twice``: to be read a second time into the same model.
    """

    name: str
    write: Callable[[nn.Module, str], None]
    read: Callable[[nn.Module, str], nn.Module]
    twice: bool = False


@check("NAM912", order=60)
def save_reload(subject: Subject) -> Iterator[Fault]:
    seen = _Seen()
    compared, refused = 0, ""
    adapters: set[str] = set()
    for config, dtype, layouts in _settings(subject):
        source = _source(subject, config, dtype)
        compared = max(compared, len(_tensors(source)))
        with tempfile.TemporaryDirectory(prefix="probe-") as root, _quiet():
            for layout in layouts:
                try:
                    for lost in _round_trip(subject, config, dtype, source, layout, root):
                        if lost.names and set(lost.names) <= subject.broken_by_adapter:
                            adapters.update(lost.names)  # one cause is reported once, and NAM906 knows the line
                        elif seen.is_new(lost, layout, dtype):
                            yield _fault(lost, layout, dtype)
                except _Refused as reason:
                    refused = refused or str(reason)
    if refused and not seen.names:
        raise NotProbed(refused)
    figure = f"{compared} tensors {'compared' if seen.names or adapters else 'equal'}"
    figure += f"; {DROPPED} {listed(sorted(seen.names[DROPPED] - {'itself'}))}" if DROPPED in seen.names else ""
    subject.figure(figure + (f"; what the adapter does to {len(adapters)} of them is said by NAM906" * bool(adapters)))


def _settings(subject: Subject) -> Iterator[tuple[Any, torch.dtype, list[Layout]]]:
    """Yield fp32 in every layout; the other way to tie in the first and the last; bf16 in the last."""
    layouts = _layouts(subject)
    first, *others = tie_settings(subject.cls)
    yield with_tie(subject.config(), first), torch.float32, layouts
    for tied in others:
        yield with_tie(subject.config(), tied), torch.float32, layouts[::2]
    yield with_tie(subject.config(), first), torch.bfloat16, layouts[-1:]


@dataclass(frozen=True)
class Lost:
    """What a round trip loses, of which tensors; or the error in words. ``at`` is the line if it is another's."""

    what: str
    names: tuple[str, ...] = ()
    at: dict[str, Any] | None = None
    error: str = ""


class _Seen:
    """What has been reported, so that one cause is reported once."""

    def __init__(self) -> None:
        self.names: dict[str, set[str]] = {}
        self.where: set[tuple[str, str]] = set()

    def is_new(self, lost: Lost, layout: Layout, dtype: torch.dtype) -> bool:
        known = self.names.setdefault(lost.what, set())
        again = bool(known) and set(lost.names) <= known
        same_in_fp32 = dtype != torch.float32 and (lost.what, layout.name) in self.where
        known |= {*lost.names, "itself"}
        self.where.add((lost.what, layout.name))
        return not (again or same_in_fp32)


def _fault(lost: Lost, layout: Layout, dtype: torch.dtype) -> Fault:
    where = f"{layout.name}, {str(dtype).removeprefix('torch.')}"
    at = {**(lost.at or {}), **({"tensor": lost.names[0]} if lost.names else {})}
    return Fault({"layout": where, "what": lost.what, "names": listed(lost.names) or lost.error}, at)


@torch.no_grad()
def _source(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """A model in which no tensor that is state has the value that construction gives it.

    A persistent buffer is state if all its values are equal, as zeros are; other values were computed from the config.
    """
    model = subject.fresh(config, dtype)
    generator = torch.Generator().manual_seed(subject.job.seed)
    state = model.state_dict()
    for name, buffer in sorted(model.named_buffers()):
        if name in state and buffer.is_floating_point() and buffer.numel() and (buffer == buffer.flatten()[0]).all():
            buffer.add_(torch.rand(buffer.shape, generator=generator).to(buffer.dtype))
    return model


def _target(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """A new model with other values."""
    model = subject.fresh(config, dtype)
    building.randomise(model, subject.job.seed + 1)
    return model


def _round_trip(
    subject: Subject, config: Any, dtype: torch.dtype, source: nn.Module, layout: Layout, root: str
) -> Iterator[Lost]:
    saved, step = _values(source), "saved"
    loader: dict[str, Any] = {}
    try:
        with on_cpu(subject.observed), tempfile.TemporaryDirectory(dir=root) as folder:
            _write(layout, source, folder)
            step = "read back"
            target = _target(subject, config, dtype)
            initial = _values(target)
            with _watched(subject, target, loader):
                target = layout.read(target, folder)
            lost = [_blamed(source, one, loader) for one in _compared(source, saved, initial, target)]
            if layout.twice and not lost:  # what the first reading left in the adapter must not matter
                step = "read a second time"
                building.randomise(target, subject.job.seed + 2)
                initial = _values(target)
                target = layout.read(target, folder)
                again = _compared(source, saved, initial, target)
                lost = [replace(one, what=f"the second time, {one.what}") for one in again]
    except (NotProbed, _Refused):
        raise
    except (Exception, SystemExit, CheckpointException) as raised:
        error = inner(raised)
        missing = missing_dependency(error, subject.package)
        if is_out_of_memory(error) or missing:
            raise NotProbed(f"needs {missing or 'more memory'}") from error
        text = one_line(error, subject.package)
        at = _own_line(subject, error) or (loader if _returns(source, source.state_dict()) else {})
        lost = [Lost(f"the model cannot be {step}:", at=at, error=text)]
    yield from lost


@contextlib.contextmanager
def _watched(subject: Subject, model: nn.Module, loader: dict[str, Any]) -> Iterator[None]:
    """Note the line of the framework's loader that hands what it has read to the adapter of ``model``."""
    checkpointer = subject.framework.find("Checkpointer")
    adapter = getattr(model, "state_dict_adapter", None)
    if checkpointer is None or adapter is None:
        yield
        return
    convert = adapter.from_hf

    @functools.wraps(convert)
    def watched(*arguments: Any, **named: Any) -> Any:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not isinstance(frame.f_locals.get("self"), checkpointer):
            frame = frame.f_back
        if frame is not None:
            loader.update(file=frame.f_code.co_filename, line=frame.f_lineno)
        return convert(*arguments, **named)

    with patch.object(adapter, "from_hf", watched):
        yield


def _blamed(source: nn.Module, lost: Lost, loader: dict[str, Any]) -> Lost:
    """Say so where the adapter returns what the model then does not get: the loader renames or drops it after that."""
    if lost.what == UNREAD and loader and _returns(source, lost.names):
        return replace(lost, what=DROPPED, at=loader)
    return lost


def _returns(source: nn.Module, names: Iterable[str]) -> bool:
    """Tell whether the adapter of a model gives back tensors of these names in their shapes."""
    adapter, state = getattr(source, "state_dict_adapter", None), dict(source.state_dict())
    if adapter is None:
        return False
    try:
        returned = adapter.from_hf(dict(adapter.to_hf(dict(state))))
    except Exception:  # NAM906 is about that
        return False
    return all(name in returned and returned[name].shape == state[name].shape for name in names)


class _Refused(Exception):
    """A class does not let itself be saved without more than the model."""


def _write(layout: Layout, model: nn.Module, folder: str) -> None:
    try:
        layout.write(model, folder)
    except ValueError as error:  # as its own export does that wants a tokenizer
        raise _Refused(f"{layout.name}: refuses to be saved: {' '.join(str(error).split())}") from error


def _own_line(subject: Subject, error: BaseException) -> dict[str, Any]:
    """The line that raised if it is in the folder of the class, nothing if shared code did."""
    place = place_in(error, subject.package)
    folder = os.path.dirname(sys.modules[subject.target.module].__file__ or "")
    return place if place and os.path.dirname(place["file"]) == folder else {}


def _tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter and buffer under each of its names."""
    return {
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }


def _values(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in _tensors(model).items()}


def _compared(
    source: nn.Module, saved: dict[str, torch.Tensor], initial: dict[str, torch.Tensor], target: nn.Module
) -> Iterator[Lost]:
    """Compare the values that were ``saved`` with those read into ``target``, which were ``initial`` before."""
    now, then = _tensors(target), _tensors(source)
    common = [name for name in then if name in now]
    dtypes = [name for name in common if now[name].dtype != saved[name].dtype]
    shapes = [name for name in common if now[name].shape != saved[name].shape]
    comparable = set(common) - set(dtypes) - set(shapes)
    values = [name for name in common if name in comparable and not _equal(now[name], saved[name])]
    unread = [name for name in values if name in initial and _equal(now[name], initial[name])]
    for what, names in (
        ("saving changes the value of", [name for name, tensor in then.items() if not _equal(tensor, saved[name])]),
        ("the reloaded model lacks", [name for name in then if name not in now]),
        ("reloading changes the dtype of", dtypes),
        ("reloading changes the shape of", shapes),
        (UNREAD, unread),
        ("reloading changes the value of", [name for name in values if name not in unread]),
        ("reloading breaks the tie of", [b for a, b in aliases(then.items()) if a in now and not _same(now, a, b)]),
    ):
        if names:
            yield Lost(what, tuple(names))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _same(tensors: dict[str, torch.Tensor], one: str, other: str) -> bool:
    return other in tensors and tensors[one].data_ptr() == tensors[other].data_ptr()


def _layouts(subject: Subject) -> list[Layout]:
    """The ways in which the framework writes checkpoints."""
    if subject.framework.find("Checkpointer") is None:
        return [_by_mixin(subject)]
    config_class = subject.framework.need("CheckpointingConfig")

    def checkpointer(folder: str, layout: str, consolidated: bool = False) -> Any:
        settings = {"checkpoint_dir": folder, "model_save_format": layout, "model_cache_dir": folder}
        return config_class(**settings, save_consolidated=consolidated).build(0, 0, 0)

    def writing(layout: str) -> Callable[[nn.Module, str], None]:
        return lambda model, folder: checkpointer(folder, layout).save_model(model, folder)

    def consolidate(model: nn.Module, folder: str) -> None:
        checkpointer(folder, "safetensors", True).save_model(model, folder)

    def reading(layout: str) -> Callable[[nn.Module, str], nn.Module]:
        def read(model: nn.Module, folder: str) -> nn.Module:
            checkpointer(folder, layout).load_model(model, f"{folder}/model")
            return model

        return read

    def as_base(model: nn.Module, folder: str) -> nn.Module:
        path = f"{folder}/model/consolidated"
        checkpointer(folder, "safetensors").load_base_model(model, torch.device("cpu"), folder, path)
        return model

    return [
        Layout("native layout", writing("torch_save"), reading("torch_save"), twice=True),
        Layout("HF layout", writing("safetensors"), reading("safetensors")),
        Layout("HF layout, as a base model", consolidate, as_base),
    ]


def _by_mixin(subject: Subject) -> Layout:
    cls = subject.cls
    if not (hasattr(cls, "save_pretrained") and hasattr(cls, "from_pretrained")):
        raise NotProbed("the framework has no Checkpointer, and the class no save_pretrained and from_pretrained")

    def read(model: nn.Module, folder: str) -> nn.Module:
        dtype = next((p.dtype for p in model.parameters()), torch.float32)
        with building.default_dtype(dtype):
            made = cls.from_pretrained(folder)
        cast = subject.framework.find("cast_model_to_dtype")
        if cast and any(p.dtype != dtype for p in made.parameters() if p.is_floating_point()):
            cast(made, dtype)  # as what was saved has been
        return made

    return Layout("save_pretrained", lambda model, folder: model.save_pretrained(folder), read)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Where nothing is warned of, and where a garbage collection looks at new objects only (or it takes 0.2 s)."""
    gc.freeze()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
        gc.unfreeze()
