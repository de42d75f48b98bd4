"""The reference of a class: what transformers itself has for the same architecture, on the same tiny configuration."""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings
from functools import cached_property
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.worker import building, environment
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.errors import missing_dependency
from automodel_lint.probe.worker.subject import Subject

LIMIT = 200_000_000  # parameters; a configuration that did not become tiny for transformers would take minutes

# Which table of transformers names the class for a kind of head, by the end of the class's own name.
TABLES = (
    ("ForCausalLM", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"),
    ("ForConditionalGeneration", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES"),
    ("ForSequenceClassification", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES"),
    ("Model", "MODEL_MAPPING_NAMES"),
)


class Reference:
    """Transformers' own class of a subject's architecture, with reproducible random values.

    Everything is made once and shared by the checks; whatever cannot be had is a :class:`NotProbed` with the reason.
    """

    def __init__(self, subject: Subject):
        self.subject = subject

    @classmethod
    def of(cls, subject: Subject) -> Reference:
        """Return the one reference of a subject."""
        made = vars(subject).get("_reference")
        if made is None:
            made = vars(subject)["_reference"] = cls(subject)
        return made

    @cached_property
    def cls(self) -> type[nn.Module]:
        """The class of transformers.

        Raises:
            NotProbed: if transformers is missing, or has none for the architecture or the model type.
        """
        try:
            import transformers
        except ImportError as error:
            raise NotProbed("transformers is not installed: no reference to compare with") from error
        found = next((c for name in self._names(transformers) if _is_own(c := getattr(transformers, name, None))), None)
        if found is None:
            raise NotProbed(f"transformers {transformers.__version__} has no class of this architecture")
        return found

    def _names(self, transformers: Any) -> list[str]:
        """The names under which transformers may have it, the likeliest first."""
        names = [self.subject.cls.__name__, *self.subject.target.architectures]
        tables = transformers.models.auto.modeling_auto
        model_type = getattr(self.subject.config_class, "model_type", "") or ""
        for name in list(names):
            table = next((table for end, table in TABLES if name.endswith(end)), None)
            if table and model_type in getattr(tables, table):
                by_type = getattr(tables, table)[model_type]
                names.extend(by_type if isinstance(by_type, tuple) else [by_type])
        return names

    def config(self) -> Any:
        """Return a new configuration of the reference's own class with the fields of the subject's tiny one.

        Raises:
            NotProbed: if the reference's class does not take them.
        """
        return copy.deepcopy(self._config)

    @cached_property
    def _config(self) -> Any:
        own, wanted = self.subject.config(), getattr(self.cls, "config_class", None)
        if wanted is None:
            raise NotProbed(f"{self.cls.__name__} of transformers names no configuration class")
        if isinstance(own, wanted):
            return own
        part = next((p for p in vars(own).values() if isinstance(p, wanted)), None)
        if part is not None:
            return copy.deepcopy(part)
        errors = []
        declared = self.subject.recipe.get("set", {})
        for fields in (_completed(_published(own, wanted), declared), own.to_dict()):
            try:
                return wanted.from_dict({**fields, "architectures": [self.cls.__name__]})
            except Exception as error:
                errors.append(error)
        text = _cause(errors[0])
        raise NotProbed(f"its configuration does not carry over to {wanted.__name__}: {text}") from errors[0]

    def model(self) -> Any:
        """Return the shared reference model: fp32, plain attention, evaluation mode, random values. Not to be changed.

        Raises:
            NotProbed: if it cannot be constructed, or is too large.
        """
        return self._model

    @cached_property
    def _model(self) -> Any:
        config, name = self.config(), self.cls.__name__
        config._attn_implementation = self._attention()
        try:
            with warnings.catch_warnings(), environment.on_cpu(self.subject.observed):
                warnings.simplefilter("ignore")
                with torch.device("meta"):
                    size = sum(p.numel() for p in self.cls(copy.deepcopy(config)).parameters())
                if size > LIMIT:
                    raise NotProbed(f"the reference {name} has {size:,} parameters on the tiny configuration")
                with building.default_dtype(torch.float32):
                    model = self.cls(config)
        except (NotProbed, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise NotProbed(f"the reference {name} cannot be constructed: {_cause(error)}") from error
        model = model.float().eval()
        building.randomise(model, self.subject.job.seed)
        _randomise_buffers(model, self.subject.job.seed)
        return model

    def reading(self, checkpoint: dict[str, torch.Tensor]) -> Any:
        """Return a reference model as :meth:`model` with the values of a published checkpoint, read by transformers.

        Raises:
            NotProbed: if transformers cannot read it, or finds not every parameter in it.
        """
        self.model()  # what is too large, or cannot be constructed, says so there
        config, name = self.config(), self.cls.__name__
        config._attn_implementation = self._attention()
        state = {n: tensor.detach().clone().contiguous() for n, tensor in checkpoint.items()}
        before = torch.get_default_dtype()
        try:
            with warnings.catch_warnings(), environment.on_cpu(self.subject.observed):
                warnings.simplefilter("ignore")
                model, info = self.cls.from_pretrained(
                    None, config=config, state_dict=state, dtype=torch.float32, output_loading_info=True
                )
        except Exception as error:
            raise NotProbed(f"{name} of transformers cannot read it: {_cause(error)}") from error
        finally:
            torch.set_default_dtype(before)
        if info["missing_keys"]:
            raise NotProbed(f"{name} of transformers misses {min(info['missing_keys'])} in it")
        return model.float().eval()

    def _attention(self) -> str:
        """The way of attention: for a class derived from the reference the one it uses, as masks differ by it."""
        with contextlib.suppress(NotProbed):
            ours = self.subject.model
            used = getattr(getattr(ours, "config", None), "_attn_implementation", None)
            if used == "sdpa" and isinstance(ours, self.cls):
                return used
        return "eager"

    def state_dict(self, layout: str = "published") -> dict[str, torch.Tensor]:
        """Return names and tensors of the checkpoint; they share no storage with the model.

        ``layout="published"`` is that of ``save_pretrained``: aliases gone, fused tensors taken apart, and behind the
        prefix that they have where the class is a part of the architecture's. Not every checkpoint on the hub is so,
        and transformers loads these as well: ``"module"`` keeps the names and tensors of the module tree (fused from
        the start), ``"bare"`` has no prefix of the base model, as an original release.
        """
        state = getattr(self, {"published": "_saved", "module": "_unaliased", "bare": "_bare"}[layout])
        return {self.prefix + name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def keys(self) -> set[str]:
        """Return the names in the published checkpoint."""
        return {self.prefix + name for name in self._saved}

    @cached_property
    def prefix(self) -> str:
        """What stands before every name in the checkpoint: the attribute of the architecture that holds the class."""
        import transformers

        wholes = (getattr(transformers, name, None) for name in self.subject.target.architectures)
        for whole in wholes:
            if _is_own(whole) and whole is not self.cls and getattr(whole, "config_class", None):
                for name, part in (getattr(whole.config_class, "sub_configs", None) or {}).items():
                    if part is self.cls.config_class:
                        return name.removesuffix("_config") + "."
        return ""

    @cached_property
    def _unaliased(self) -> dict[str, torch.Tensor]:
        from transformers import modeling_utils

        model = self.model()
        state = model.state_dict()
        for name in getattr(model, "_keys_to_ignore_on_save", None) or ():
            state.pop(name, None)
        try:
            return modeling_utils.remove_tied_weights_from_state_dict(state, model)
        except AttributeError as error:
            raise NotProbed("this version of transformers does not tell how it saves a checkpoint") from error

    @cached_property
    def _saved(self) -> dict[str, torch.Tensor]:
        return self._reverted(self._unaliased)

    @cached_property
    def _bare(self) -> dict[str, torch.Tensor]:
        base = f"{getattr(self.model(), 'base_model_prefix', '') or 'model'}."
        return self._reverted({name.removeprefix(base): tensor for name, tensor in self._unaliased.items()})

    def _reverted(self, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return what ``save_pretrained`` makes of the tensors of the module tree."""
        try:
            from transformers import conversion_mapping, core_model_loading
        except ImportError:
            return state
        model = self.model()
        conversions = [
            conversion
            for conversion in conversion_mapping.get_model_conversion_mapping(model, add_legacy=False)
            if type(conversion).__name__ != "PrefixChange"
        ]
        # a transposition that looks at the shape first is for checkpoints of both kinds; the published ones need it
        for operation in (o for c in conversions for o in getattr(c, "operations", None) or ()):
            if getattr(operation, "check_dims", False):
                operation.check_dims = False
        model._weight_conversions = conversions or None
        try:
            return core_model_loading.revert_weight_conversion(model, dict(state))
        except Exception as error:
            raise NotProbed(f"the reference {type(model).__name__} cannot be saved: {_cause(error)}") from error
        finally:
            del model._weight_conversions


def _published(config: Any, wanted: type) -> dict[str, Any]:
    """Return the fields as a ``config.json`` has them, for a configuration class ``wanted``.

    Those are what the constructor takes, what every configuration has, and what ``wanted`` knows, but for rotary
    parameters that the class derives for itself: transformers has them by kind of layer. What is unset has the
    default of ``wanted``.
    """
    from transformers import PretrainedConfig

    constructor = {*inspect.signature(type(config).__init__).parameters} - {"self", "args", "kwargs"}
    others = getattr(wanted, "attribute_map", None) or {}
    known = {*inspect.signature(wanted.__init__).parameters, *others, *others.values()}
    taken = {*constructor, *PretrainedConfig().to_dict(), *known} - {"transformers_version"}
    if constructor and "rope_parameters" not in constructor:
        taken.discard("rope_parameters")
    parts = getattr(wanted, "sub_configs", None) or {}
    fields = {}
    for name, value in config.to_dict().items():
        part = getattr(config, name, None)
        if isinstance(part, PretrainedConfig):
            value = _published(part, parts.get(name) or type(part))
        if name in taken and value not in (None, [], {}):
            fields[name] = value
    return fields


def _completed(fields: dict[str, Any], declared: dict[str, Any]) -> dict[str, Any]:
    """Return ``fields`` with what was declared for the configuration and the class's own configuration has dropped."""
    whole = dict(fields)
    for name, value in declared.items():
        if isinstance(value, dict) and isinstance(whole.get(name), dict):
            whole[name] = _completed(whole[name], value)
        elif value is not None:
            whole.setdefault(name, value)
    return whole


def _cause(error: BaseException) -> str:
    """Say what transformers raised, in one short line."""
    missing = missing_dependency(error, "transformers")
    if missing:
        return f"needs {missing}, which is not installed"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 160 else text[:157] + '…'}"


def _is_own(found: Any) -> bool:
    """Tell whether it is a model of transformers, and no stand-in and not put there by the framework."""
    return isinstance(found, type) and issubclass(found, nn.Module) and found.__module__.startswith("transformers.")


@torch.no_grad()
def _randomise_buffers(model: nn.Module, seed: int) -> None:
    """Move the persistent floating-point buffers (a correction bias, statistics), so that one that is lost shows.

    Zeros become small numbers of both signs, everything else keeps its sign and moves by up to a tenth.
    """
    generator = torch.Generator().manual_seed(seed + 1)
    saved = model.state_dict()
    for name, buffer in sorted(model.named_buffers()):
        if name in saved and buffer.is_floating_point():
            noise = torch.rand(buffer.shape, generator=generator) - 0.5
            buffer.copy_(torch.where(buffer == 0, 0.4 * noise, buffer * (1 + 0.2 * noise)))
