"""One registered class under the probe: its tiny configuration, its models, inputs for them."""

from __future__ import annotations

import copy
import importlib
import itertools
from functools import cached_property
from typing import Any

import torch
from torch import nn

from automodel_lint.probe.protocol import Job, Target
from automodel_lint.probe.worker import building, inputs, pixels
from automodel_lint.probe.worker.checks import NotProbed
from automodel_lint.probe.worker.environment import Observed
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.framework import Framework
from automodel_lint.probe.worker.model_variants import variants_of
from automodel_lint.probe.worker.trial import ImageTrial, Trial, choose, choose_image


class Subject:
    """A class that checks look at.

    What is expensive is made once and shared: a check that changes a model or a configuration works on a copy
    (:meth:`fresh`, :meth:`config`). Whatever cannot be had is a :class:`NotProbed` with the reason.
    """

    def __init__(self, job: Job, target: Target, observed: Observed):
        self.job, self.target, self.observed = job, target, observed
        self.package = job.package
        self.framework = Framework(job.framework)
        self.recipe = building.recipe_for(target.architectures, job.tiny)
        self.measured: str | None = None
        self.how: list[str] = []  # what the last construction did otherwise than the class by itself
        self.failed: list[Exception] = []  # and what was raised before that
        self.new_facts: dict[str, Any] = {}
        self.broken_by_adapter: set[str] = set()  # tensors that NAM906 has said do not come back through the adapter

    def figure(self, text: str) -> None:
        """Say what the check measured, in a few words and with the unit."""
        self.measured = text

    def tell(self, **facts: Any) -> None:
        """Report something about the class that is no verdict; it must be plain data."""
        self.new_facts.update(facts)

    # -- the class ------------------------------------------------------------------------------------------------

    def import_class(self) -> type[nn.Module]:
        """Import the class as the registry does; raises whatever that raises."""
        for module in self.recipe.get("stand_ins", ()):
            building.stand_in(module, self.target.module.rpartition(".")[0])
        found = getattr(importlib.import_module(self.target.module), self.target.name)
        building.set_defaults(self.recipe)
        return found

    @cached_property
    def cls(self) -> type[nn.Module]:
        """The class."""
        try:
            return self.import_class()
        except BaseException as error:  # whatever a module raises
            raise NotProbed(self._without("imported", "NAM901", error)) from error

    def _without(self, done: str, code: str, error: BaseException) -> str:
        """Why there is nothing to look at; what was raised is said once, by the check that is about it."""
        about = code if code in self.job.checks else one_line(error, self.package)
        return f"it cannot be {done}: {about}"

    # -- configurations -------------------------------------------------------------------------------------------

    @cached_property
    def found_config_class(self) -> type | None:
        """The configuration class that the class is made for, ``None`` if none can be told."""
        return building.config_class_of(
            self.cls, self.target.architectures, self.recipe, self.package, self.job.registry
        )

    @property
    def config_class(self) -> type:
        """The configuration class that the class is made for."""
        if self.found_config_class is None:
            raise NotProbed("no configuration class found for it")
        return self.found_config_class

    @property
    def trial(self) -> Trial:
        """The tiny configuration that was chosen by trying, and what it needed to run."""
        if isinstance(self._trial, NotProbed):
            raise self._trial
        return self._trial

    @cached_property
    def _trial(self) -> Trial | NotProbed:
        try:
            return choose(self)
        except NotProbed as reason:
            return reason

    def config(self, **changes: Any) -> Any:
        """Return a new tiny configuration with ``changes`` to its top-level fields."""
        made = copy.deepcopy(self.trial.config)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    # -- models ---------------------------------------------------------------------------------------------------

    def construct(self, config: Any = None, dtype: torch.dtype = torch.float32) -> nn.Module:
        """Construct the class as the framework does: under ``dtype`` as default dtype, with the config saying so too.

        Parameters hold whatever construction left in them. Raises whatever construction raises.
        """
        made = self.config() if config is None else config
        self.how, self.failed = [], []
        return building.construct(
            self.cls, made, self.recipe, dtype, self.package, self.observed, self.how, self.failed
        )

    def fresh(self, config: Any = None, dtype: torch.dtype = torch.float32) -> nn.Module:
        """Return a new model with reproducible random parameters, in evaluation mode.

        Raises:
            NotProbed: if it cannot be constructed.
        """
        try:
            model = self.construct(config, dtype)
        except (Exception, SystemExit) as error:
            asked = "NAM902" if config is None and dtype is torch.float32 else ""
            raise NotProbed(self._without("constructed", asked, error)) from error
        cast = self.framework.find("cast_model_to_dtype")
        if cast and any(p.dtype != dtype for p in model.parameters() if p.is_floating_point()):
            cast(model, dtype)  # as the framework does after it has loaded or initialised
        building.randomise(model, self.job.seed)
        return model.eval()

    @property
    def model(self) -> nn.Module:
        """A model in fp32 with random parameters, in evaluation mode. Not to be changed."""
        if isinstance(self._shared, NotProbed):
            raise self._shared
        return self._shared

    @cached_property
    def _shared(self) -> nn.Module | NotProbed:
        """The shared model, or why there is none: that is not found out twice."""
        try:
            return self.fresh()
        except NotProbed as reason:
            return reason

    @cached_property
    def variants(self) -> list[tuple[str, nn.Module]]:
        """Models with options on that the shared one leaves off, each with what is on. Not to be changed."""
        return list(variants_of(self))

    @cached_property
    def obstacle(self) -> str | None:
        """Why there is nothing to look at beyond import and construction, ``None`` if there is a model."""
        for made in (lambda: self.cls, lambda: self.model):
            try:
                made()
            except NotProbed as reason:
                return str(reason)
        return None

    # -- running --------------------------------------------------------------------------------------------------

    def inputs(self, model: nn.Module | None = None, seed: int = 0, modality: str | None = None) -> dict[str, Any]:
        """Return keyword arguments for ``forward``: token ids ``[B, S]`` (int64), and what the class needs beside them.

        With ``modality="image"`` the rows hold an image each, and pixels are among the arguments.

        Raises:
            NotProbed: if it takes no images, or none that could be made.
        """
        made = self.model if model is None else model
        if modality == "image":
            return self._with_image(made, seed)
        return inputs.tiny_inputs(made, self.config(), self.recipe, seed, extras=self.trial.extras)

    def _with_image(self, model: nn.Module, seed: int) -> dict[str, Any]:
        if self.image.form is None:
            raise NotProbed("it takes no images, or none that could be made")
        forms = pixels.image_inputs(model, self.config(), self.recipe, seed)
        return next(itertools.islice(forms, self.image.form, None))

    @cached_property
    def image(self) -> ImageTrial:
        """In which form the class takes images."""
        return choose_image(self)

    def run(self, model: nn.Module, arguments: dict[str, Any]) -> torch.Tensor:
        """Call ``forward`` on the CPU and return its logits ``[B, S, V]`` (or what it returns in their place)."""
        return inputs.logits_of(building.call(model, arguments, self.observed))

    @property
    def adapter(self) -> Any:
        """The state-dict adapter of the shared model, ``None`` if it has none."""
        return getattr(self.model, "state_dict_adapter", None)
