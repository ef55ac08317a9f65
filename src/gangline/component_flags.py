"""The flags that each component knows, and why one would not start with those it is given.

Beside the composition root (components/): `gangline run` refuses with it before it connects, the installer before it
deploys. Each table of flags belongs to its component and is only gathered here. Nothing is started."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gangline.config import manner
from gangline.errors import GanglineError
from gangline.rights import BACKEND
from gangline.rules.flags import COMMON, IDLE, refuse_unknown
from gangline.rules.sets import OperatorSettings

NUMA = ("node-name", "podresources-socket", "sysfs-root", "poll-interval", "drift-resync-interval")
"""Of KAI's exporter, which reads a node; ours serves simulated ones and needs none of it."""
RESERVATION = ("log-json",)


def words(flags: Mapping[str, str]) -> list[str]:
    """As a command line has them."""
    return [f"--{name}={value}" for name, value in flags.items()]


def known_flags(name: str) -> tuple[str, ...]:
    """Every flag that a component accepts, beside the options of `gangline run` itself."""
    from gangline.admission.scheduling.settings import KNOWN as ADMISSION
    from gangline.binder.flags import FLAGS as BINDER
    from gangline.controllers.flags import NODE_SCALE, POD_GROUP, QUEUE, SERVED_ELSEWHERE
    from gangline.grouper.settings import KNOWN as GROUPER
    from gangline.installer.settings import FLAGS as INSTALLER
    from gangline.scheduler.loop.flags import KNOWN as SCHEDULER

    own: dict[str, Iterable[str]] = {
        "admission": ADMISSION,
        "binder": BINDER,
        "grouper": GROUPER,
        "installer": INSTALLER,
        "node-scale-adjuster": NODE_SCALE,
        "numa-placement-exporter": NUMA,
        "operator": ("init-container-image",),
        "podgroup-controller": (*POD_GROUP, *SERVED_ELSEWHERE),
        "queue-controller": (*QUEUE, *SERVED_ELSEWHERE),
        "resource-reservation": RESERVATION,
    }
    return SCHEDULER if name == "scheduler" else tuple(dict.fromkeys((*own.get(name, ()), *COMMON)))


def idle_flags(name: str) -> tuple[str, ...]:
    """Those that are accepted, so that upstream's command line can be kept, and do nothing."""
    from gangline.admission.scheduling.settings import NO_EFFECT
    from gangline.scheduler.loop.flags import WITHOUT_MEANING

    webhooks = ("enable-podgroup-webhook", "enable-webhook", "enable-quota-validation")
    admission = ("leader-elect", *(item for item in NO_EFFECT if item not in ("webhook-addr", "cert-dir")))
    own: dict[str, Iterable[str]] = {
        "scheduler": WITHOUT_MEANING,
        "admission": admission,
        "podgroup-controller": webhooks,
        "queue-controller": webhooks,
        "numa-placement-exporter": (*NUMA, "leader-elect"),
        "resource-reservation": (*RESERVATION, "leader-elect"),
        "grouper": (),
    }
    return tuple(
        item for item in (*own.get(name, ()), *IDLE) if name != "grouper" or item != "max-concurrent-reconciles"
    )


def refuse_flags(name: str, flags: Iterable[str], options: Iterable[str] = ()) -> None:
    """Raises ConfigError for flags that a component does not know."""
    shown = {"grouper": "pod grouper", "admission": "admission server"}.get(name, name)
    refuse_unknown(shown, flags, known_flags(name), options)


def real_backends(given: Iterable[str]) -> list[str]:
    """What backends are called that are given by name or alias, each once; one that does not exist keeps its name."""
    from gangline.operator.backends import ALIASES

    return list(dict.fromkeys(ALIASES.get(name, name) for name in given))


def configured(config: Mapping[str, Any]) -> OperatorSettings:
    """The operator's settings as its configuration says them; without one, its own."""
    from gangline.operator.settings import read

    return read(dict(config)) if config else OperatorSettings()


def check(name: str, flags: Mapping[str, str], config: Mapping[str, Any], compat: Sequence[str] = ()) -> str:
    """Why a component would not start with these flags, this config.yaml and this manner; empty: it would."""
    try:
        refuse_flags(name, flags)
        _reader(name, flags, config, compat)()
    except (GanglineError, ValueError) as error:
        return str(error)
    return ""


def _reader(
    name: str, flags: Mapping[str, str], config: Mapping[str, Any], compat: Sequence[str]
) -> Callable[[], object]:
    """What reads all flags of a component."""
    from gangline.admission.scheduling.settings import from_flags as admission
    from gangline.binder.flags import read_flags as binder_flags
    from gangline.binder.plugins import build as binder_plugins
    from gangline.controllers.flags import node_scale_flags, pod_group_flags, queue_flags
    from gangline.grouper.settings import from_flags as grouper
    from gangline.operator.backends import Registry
    from gangline.scheduler.loop.component import check as scheduler

    def sets() -> Registry:
        return Registry(replace(configured(config), manner=manner(compat)))

    readers: dict[str, Callable[[], object]] = {
        "scheduler": lambda: scheduler(flags, config),
        "binder": lambda: binder_plugins(binder_flags(flags)),
        "queue-controller": lambda: queue_flags(flags),
        "grouper": lambda: grouper(words(flags)),
        "podgroup-controller": lambda: pod_group_flags(flags),
        "node-scale-adjuster": lambda: node_scale_flags(flags),
        "admission": lambda: (admission(words(flags)), sets()),
        "operator": sets,
    }
    if name.startswith(BACKEND):
        return lambda: sets().by_name(name.removeprefix(BACKEND))
    return readers.get(name, lambda: None)
