"""The options of every component at start, and the settings that follow from them.

Read by the builders of the table (`__init__.py`). Starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.component_flags import words
from gangline.config import manner
from gangline.rules.schedulers import served
from gangline.rules.sets import OperatorProcess, OperatorSettings


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """The options of every component at start."""

    compat: tuple[str, ...] = ()
    """Upstream systems to imitate: grove, kai."""
    period: float = 1.0
    """Seconds between two scheduling cycles, at least."""
    webhook: str = ""
    """Where the cluster reaches our admission webhook, as a URL; empty: through its service inside the cluster."""
    nodes: str = ""
    """Simulated nodes, as the text of a nodes file; empty: the default ones."""
    singles: bool = True
    """The scheduler may place pods that stand for themselves before their PodGroup: the grouper is ours, and is told
    nothing that the scheduler is not."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Upstream's flags of this component, without dashes."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """The scheduler's config.yaml, parsed."""
    outside: tuple[str, ...] = ()
    """Backends that run as processes of their own; the operator leaves their gangs to them."""
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    """Of the scheduler half's hooks; their manner follows `compat`."""
    operator: OperatorSettings = field(default_factory=OperatorSettings)
    """Of the operator and its hooks; their manner follows `compat`."""
    reread: Callable[[], OperatorSettings] | None = None
    """Gives the operator's settings as its configuration says them now, where that may change while it runs."""
    process: OperatorProcess | None = None
    """How the operator's processes run, where Grove's OperatorConfiguration says it."""
    recording: str = ""
    """The folder in which schedulers record their cycles, unless their flags name one; empty: nowhere."""
    namespace: str = ""
    """Where this process lives, if that is not the namespace of its component."""


def operator_settings(options: ComponentOptions, current: OperatorSettings | None = None) -> OperatorSettings:
    """The operator's settings with the options of its start: `current`, or what held then."""
    settings = _with_init(current or options.operator, options.flags)
    return replace(
        settings,
        manner=manner(options.compat),
        narrow=options.operator.narrow,
        outside=(*settings.outside, *options.outside),
        namespace=options.namespace or settings.namespace,
    )


def _with_init(settings: OperatorSettings, flags: Mapping[str, str]) -> OperatorSettings:
    """Where the init container of start orders comes from, if the installer says it."""
    image = flags.get("init-container-image", "")
    name, _, tag = image.rpartition(":")
    return (
        replace(settings, init_image=name, init_version=tag, init_command=("gangline", "initc")) if image else settings
    )


def operator_settings_now(options: ComponentOptions) -> Callable[[], OperatorSettings] | None:
    """Gives the settings that hold now, the same object while nothing changes; None where nothing can."""
    reread, known = options.reread, list[tuple[OperatorSettings, OperatorSettings]]()
    if reread is None:
        return None

    def current() -> OperatorSettings:
        current = reread()
        if not known or known[0][0] is not current:
            known[:] = [(current, operator_settings(options, current))]
        return known[0][1]

    return current


def named_flags(options: ComponentOptions) -> dict[str, str]:
    """The flags, with the schedulers whose pods the scheduler half serves in this manner, unless they name others."""
    return {"scheduler-name": ",".join(served(manner(options.compat))), **options.flags}


def admission_settings(options: ComponentOptions) -> AdmissionSettings:
    from gangline.admission.scheduling.settings import from_flags

    return from_flags(words(named_flags(options)), base=options.admission)
