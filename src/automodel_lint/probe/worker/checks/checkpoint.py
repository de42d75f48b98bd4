"""NAM912: does a model that is saved and read back have every value, dtype and alias that it had?"""

from __future__ import annotations

import contextlib
import gc
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker import building
from automodel_lint.probe.worker.checks import NotProbed, check
from automodel_lint.probe.worker.environment import on_cpu
from automodel_lint.probe.worker.errors import is_out_of_memory, missing_dependency, one_line, place_in
from automodel_lint.probe.worker.subject import Subject
from automodel_lint.probe.worker.tensor_names import folded, listed
from automodel_lint.probe.worker.variants import tie_settings, with_tie

Fields = tuple[str, tuple[str, ...]]  # what is lost, of which tensors


@dataclass(frozen=True)
class Layout:
    """A way to write and read a checkpoint. ``read`` returns the model that now holds what is in the folder."""

    name: str
    write: Callable[[nn.Module, str], None]
    read: Callable[[nn.Module, str], nn.Module]


@check("NAM912", order=60)
def save_reload(subject: Subject) -> Iterator[Fault]:
    seen: set[Any] = set()
    compared = 0
    for tied in tie_settings(subject.cls):
        for dtype in (torch.float32, torch.bfloat16):
            config = with_tie(subject.config(), tied)
            source = _source(subject, config, dtype)
            with tempfile.TemporaryDirectory(prefix="probe-") as root, _quiet():
                for layout in _layouts(subject):
                    for fault in _round_trip(subject, config, dtype, source, layout, root):
                        key = (fault.fields["what"], fault.fields["names"])
                        if key not in seen:
                            seen.add(key)
                            yield fault
            compared = max(compared, len(_tensors(source)))
    subject.figure(f"{compared} tensors in {', '.join(layout.name for layout in _layouts(subject))} layout")


def _source(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """A model in which no tensor that a checkpoint must hold has the value that construction gives it."""
    model = subject.fresh(config, dtype)
    generator = torch.Generator().manual_seed(subject.job.seed)
    with torch.no_grad():
        for name, tensor in sorted(model.state_dict().items()):
            if name in dict(model.named_buffers()) and tensor.is_floating_point():
                tensor.add_(torch.rand(tensor.shape, generator=generator).to(tensor.dtype))
    return model


def _target(subject: Subject, config: Any, dtype: torch.dtype) -> nn.Module:
    """A new model with other values."""
    model = subject.fresh(config, dtype)
    building.randomise(model, subject.job.seed + 1)
    return model


def _round_trip(
    subject: Subject, config: Any, dtype: torch.dtype, source: nn.Module, layout: Layout, root: str
) -> Iterator[Fault]:
    before = {name: tensor.detach().clone() for name, tensor in _tensors(source).items()}
    where = f"{layout.name}, {str(dtype).removeprefix('torch.')}"
    step = "saved"
    try:
        with on_cpu(subject.observed), tempfile.TemporaryDirectory(dir=root) as folder:
            layout.write(source, folder)
            step = "read back"
            target = layout.read(_target(subject, config, dtype), folder)
            lost = list(_lost(source, before, target))
            if not lost:  # a second time into the same model: what the first left in the adapter must not matter
                building.randomise(target, subject.job.seed + 2)
                step = "read back a second time"
                target = layout.read(target, folder)
                lost = [(f"{what}, the second time it is read", names) for what, names in _lost(source, before, target)]
    except NotProbed:
        raise
    except (Exception, SystemExit) as error:
        missing = missing_dependency(error, subject.package)
        if is_out_of_memory(error) or missing:
            raise NotProbed(f"needs {missing or 'more memory'}") from error
        text = f"cannot be {step}: {one_line(error, subject.package)}"
        yield Fault({"layout": where, "what": text, "names": "the model"}, place_in(error, subject.framework.package))
        return
    for what, names in lost:
        yield Fault({"layout": where, "what": what, "names": listed(names)}, {"tensor": names[0]})


def _tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter and buffer under each of its names."""
    return {
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }


def _lost(source: nn.Module, before: dict[str, torch.Tensor], target: nn.Module) -> Iterator[Fields]:
    """Compare what was saved with what was read back; ``before`` are the values of ``source`` before it was saved."""
    now, then = _tensors(target), _tensors(source)
    changed = [name for name, tensor in then.items() if not _equal(tensor, before[name])]
    absent = [name for name in then if name not in now]
    common = [name for name in then if name in now]
    dtypes = [name for name in common if now[name].dtype != then[name].dtype]
    shapes = [name for name in common if now[name].shape != then[name].shape]
    rest = set(common) - set(dtypes) - set(shapes)
    values = [name for name in common if name in rest and not _equal(now[name], before[name])]
    ties = [name for first, name in _aliases(then) if now.get(first) is not None and not _same(now, first, name)]
    for what, names in (
        ("saving changes the value", changed),
        ("is not in the model that was read back", absent),
        ("comes back with another dtype", dtypes),
        ("comes back with another shape", shapes),
        ("comes back with another value", values),
        ("is no longer the same parameter as the embedding it is tied to", ties),
    ):
        if names:
            count = f" ({len(names)} tensors)" if len(names) > len(folded(names)) else ""
            yield f"{what}{count}", tuple(names)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _aliases(tensors: dict[str, torch.Tensor]) -> Iterator[tuple[str, str]]:
    """Yield the first name of a tensor with each further name of it."""
    first: dict[int, str] = {}
    for name, tensor in tensors.items():
        if first.setdefault(id(tensor), name) != name:
            yield first[id(tensor)], name


def _same(tensors: dict[str, torch.Tensor], one: str, other: str) -> bool:
    return other in tensors and tensors[one].data_ptr() == tensors[other].data_ptr()


def _layouts(subject: Subject) -> list[Layout]:
    """The ways in which the framework writes checkpoints."""
    if subject.framework.find("Checkpointer") is None:
        return [_by_mixin(subject)]
    config_class = subject.framework.need("CheckpointingConfig")

    def checkpointer(folder: str, layout: str) -> Any:
        settings = {"checkpoint_dir": folder, "model_save_format": layout, "model_cache_dir": folder}
        return config_class(**settings, save_consolidated=layout == "safetensors").build(0, 0, 0)

    def writing(layout: str) -> Callable[[nn.Module, str], None]:
        return lambda model, folder: checkpointer(folder, layout).save_model(model, folder)

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
        Layout("native", writing("torch_save"), reading("torch_save")),
        Layout("HF", writing("safetensors"), reading("safetensors")),
        Layout("HF as a base model", writing("safetensors"), as_base),
    ]


def _by_mixin(subject: Subject) -> Layout:
    cls = subject.cls
    if not (hasattr(cls, "save_pretrained") and hasattr(cls, "from_pretrained")):
        raise NotProbed("the framework has no Checkpointer, and the class no save_pretrained and from_pretrained")

    def read(model: nn.Module, folder: str) -> nn.Module:
        dtype = next((p.dtype for p in model.parameters()), torch.float32)
        with building.default_dtype(dtype):
            return cls.from_pretrained(folder)

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
