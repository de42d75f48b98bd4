"""NAM911: does asking the framework for the capabilities of a class give what the class declares?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from automodel_lint.probe.protocol import Fault
from automodel_lint.probe.worker.checks import check
from automodel_lint.probe.worker.errors import one_line
from automodel_lint.probe.worker.subject import Subject

PREFIX = "supports_"
NAMES = ("ModelCapabilities", "get_capabilities")


@check("NAM911", order=15)
def capabilities_query(subject: Subject) -> Iterator[Fault]:
    query = subject.framework.need("query_capabilities")
    config = subject.config()
    if not getattr(config, "architectures", None):
        config.architectures = [subject.target.architectures[0]]
    answers: dict[str, dict[str, bool]] = {}
    for kind, target in (("its config", config), ("its class", subject.cls)):
        if kind == "its class" and "get_capabilities" in _declaring(subject.cls):
            continue  # the framework wants a configuration then
        try:
            answers[kind] = _fields(query(target))
        except (Exception, SystemExit) as error:
            body = _declaring(subject.cls)
            declared = " and ".join(f"`{name}`" for name in NAMES if name in body) or "nothing"
            fields = {"answer": f"raises {one_line(error, subject.package)} for {kind}", "declared": declared}
            yield Fault(fields, {"method": "get_capabilities"} if declared == "`get_capabilities`" else {})
            return
    yield from _disagreements(subject, answers, config)
    answer = answers["its config"]
    subject.tell(capabilities=answer)
    subject.figure(", ".join(sorted(name[len(PREFIX) :] for name, on in answer.items() if on)) or "none")


def _disagreements(subject: Subject, answers: dict[str, dict[str, bool]], config: Any) -> Iterator[Fault]:
    declared = _declared(subject.cls, config)
    for kind, answer in answers.items():
        wrong = sorted(name for name, value in declared.items() if answer.get(name, False) != value)
        if wrong:
            says = ", ".join(f"{name}={answer.get(name, 'unknown')}" for name in wrong)
            meant = ", ".join(f"{name}={declared[name]}" for name in wrong)
            yield Fault({"answer": f"{says} for {kind}", "declared": meant})
            return


def _declaring(cls: type) -> dict[str, Any]:
    """What the nearest class of the MRO that declares capabilities has in its body."""
    return next((dict(vars(one)) for one in cls.__mro__ if any(n in vars(one) for n in NAMES)), {})


def _declared(cls: type, config: Any) -> dict[str, bool]:
    """The flags as the class itself declares them, dynamically for a configuration if it does so."""
    body = _declaring(cls)
    if "get_capabilities" in body:
        return _fields(cls.get_capabilities(config))
    return _fields(cls.ModelCapabilities()) if "ModelCapabilities" in body else {}


def _fields(capabilities: Any) -> dict[str, bool]:
    return {name: bool(getattr(capabilities, name)) for name in dir(capabilities) if name.startswith(PREFIX)}
