"""Name → how to build that component: the composition root of `gangline run` and of the local platform.

One line per component. Components never import each other; they meet only here, and in the objects of an API server.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gangline import role_objects
from gangline.admission.scheduling.settings import SCHEDULER, WORKLOAD, AdmissionSettings
from gangline.api import names
from gangline.api.kinds import MUTATING_WEBHOOK, NAMESPACE, QUEUE, TOPOLOGY_BINDING, VALIDATING_WEBHOOK, Kind
from gangline.api.meta import Raw, as_raw
from gangline.client import Client
from gangline.component_flags import check, configured, real_backends, words
from gangline.config import manner
from gangline.errors import ConfigError
from gangline.rights import BACKEND as BACKEND
from gangline.rights import EVERYWHERE as EVERYWHERE
from gangline.rights import LEASES
from gangline.rights import home as home
from gangline.rules.hooks import Hook
from gangline.rules.schedulers import SERVED, read_names, served
from gangline.rules.sets import OperatorProcess, OperatorSettings
from gangline.runtime import Component, Reader

if TYPE_CHECKING:
    from gangline.installer.contract import Address, ComponentParts, Pair
    from gangline.operator.memory.probes import Probes


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """What every component may be told at start."""

    compat: tuple[str, ...] = ()
    """Upstream systems to imitate: grove, kai."""
    period: float = 1.0
    """Seconds between two scheduling cycles, at least."""
    webhook: str = ""
    """Where the cluster reaches our admission webhook, as a URL; empty: through its service inside the cluster."""
    nodes: str = ""
    """Simulated nodes, as the text of a nodes file; empty: the default ones."""
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
    namespace: str = ""
    """Where this process lives, if that is not the namespace of its component."""


def _sets(options: ComponentOptions, current: OperatorSettings | None = None) -> OperatorSettings:
    """The operator's settings with what was told at start: `current`, or what held then."""
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


def _sets_now(options: ComponentOptions) -> Callable[[], OperatorSettings] | None:
    """Gives the settings that hold now, the same object while nothing changes; None where nothing can."""
    reread, known = options.reread, list[tuple[OperatorSettings, OperatorSettings]]()
    if reread is None:
        return None

    def current() -> OperatorSettings:
        current = reread()
        if not known or known[0][0] is not current:
            known[:] = [(current, _sets(options, current))]
        return known[0][1]

    return current


def _named(options: ComponentOptions) -> dict[str, str]:
    """The flags, with the schedulers whose pods the scheduler half serves in this manner, unless they name others."""
    return {"scheduler-name": ",".join(served(manner(options.compat))), **options.flags}


def _operator(options: ComponentOptions) -> Component:
    from gangline.admission.sets.podcliqueset import faults
    from gangline.operator.component import component

    settings = _sets(options)
    return component(settings, _sets_now(options), lambda pcs: faults(pcs, settings))


def backend(options: ComponentOptions, name: str) -> Component:
    """One scheduler backend as a process of its own."""
    from gangline.operator.component import backend_component

    return backend_component(_sets(options), name, _sets_now(options))


def _grouper(options: ComponentOptions) -> Component:
    from gangline.grouper.component import component
    from gangline.grouper.settings import from_flags

    return component(from_flags(words(_named(options)), manner(options.compat)))


def _scheduler(options: ComponentOptions) -> Component:
    from gangline.scheduler.loop.component import component
    from gangline.scheduler.loop.flags import read_flags
    from gangline.scheduler.settings import native_settings, shard_settings

    how = manner(options.compat)
    usual = shard_settings() if how.decides_as_upstream else native_settings()
    started = read_flags({"schedule-period": f"{options.period}s", **_named(options)}, options.config, usual)
    asked = "update-pod-eviction-condition" in options.flags
    told = replace(
        started.options,
        stamp_every_start=how.stamps_every_start,
        note_evictions=not how.evictions_unmarked,
        tell_disruption=started.options.tell_disruption if asked else not how.evictions_unmarked,
    )
    return component(options=told, usage=started.usage, plugin_port=started.plugin_port if options.flags else None)


def _binder(options: ComponentOptions) -> Component:
    from gangline.binder.component import component
    from gangline.binder.flags import read_flags
    from gangline.binder.settings import BinderSettings

    return component(read_flags(_named(options), BinderSettings(manner=manner(options.compat))))


def _pod_group_controller(options: ComponentOptions) -> Component:
    from gangline.controllers.component import pod_group_controller
    from gangline.controllers.flags import pod_group_flags

    return pod_group_controller(manner=manner(options.compat), **pod_group_flags(_named(options)))


def _queue_controller(options: ComponentOptions) -> Component:
    from prometheus_client import REGISTRY

    from gangline.controllers.component import queue_controller
    from gangline.controllers.flags import queue_flags
    from gangline.controllers.queue_metrics import QueueMetrics

    if not options.flags:
        return queue_controller()
    return queue_controller(QueueMetrics(registry=REGISTRY, **queue_flags(options.flags)))


def _node_scale_adjuster(options: ComponentOptions) -> Component:
    from gangline.controllers.component import node_scale_adjuster
    from gangline.controllers.flags import node_scale_flags

    return node_scale_adjuster(node_scale_flags(_named(options)))


def _numa_placement_exporter(options: ComponentOptions) -> Component:
    from gangline.controllers.component import numa_placement_exporter

    return numa_placement_exporter()


def _resource_reservation(options: ComponentOptions) -> Component:
    from gangline.controllers.reservation import component

    return component()


def _admission_settings(options: ComponentOptions) -> AdmissionSettings:
    from gangline.admission.scheduling.settings import from_flags

    return from_flags(words(_named(options)), base=options.admission)


def _admission(options: ComponentOptions) -> Component:
    from gangline.admission.component import WebhookSettings, component
    from gangline.admission.registration import WebhookAddress
    from gangline.operator.checks import kinds as backend_kinds
    from gangline.operator.memory.probes import Probes, service

    settings, options = WebhookSettings(), replace(options, admission=_admission_settings(options))
    if options.process is not None:
        webhooks = options.process.webhooks
        settings = replace(
            settings,
            host=webhooks.host,
            port=webhooks.port,
            secret=webhooks.secret,
            folder=webhooks.folder if webhooks.manual else "",
            register=not webhooks.manual,
        )
    if options.flags.get("webhook-addr", "").isdigit():
        settings = replace(settings, port=int(options.flags["webhook-addr"]))
    if options.flags.get("cert-dir"):
        settings = replace(settings, folder=options.flags["cert-dir"], register=False)
    if options.webhook:
        where = urlsplit(options.webhook)
        settings = replace(
            settings,
            place=WebhookAddress(url=options.webhook),
            host=where.hostname or settings.host,
            port=where.port or 443,
        )
    asked, probes = tuple(dict.fromkeys((QUEUE, TOPOLOGY_BINDING, NAMESPACE, *backend_kinds(_sets(options))))), Probes()
    made = component(lambda read: hooks(options, read, probes), settings, asked)
    return replace(
        made, services=(*made.services, service(probes, _sets(options), options.namespace or names.SYSTEM_NAMESPACE))
    )


def _installer(options: ComponentOptions) -> Component:
    from gangline.installer.component import component
    from gangline.installer.settings import read_flags

    return component(installer_parts(), replace(read_flags(options.flags), compat=options.compat))


def installer_parts() -> ComponentParts:
    """What the installer must know of the other components: their rights, flags, hooks and certificates."""
    from gangline.installer.contract import ComponentParts, Pair
    from gangline.scheduler.loop.flags import KNOWN

    def rules(component: str) -> Mapping[str, Sequence[Raw]]:
        places = ("", *role_objects.namespaces(component))
        return {namespace: role_objects.rules(component, namespace) for namespace in places}

    def webhooks(
        flags: Mapping[str, str], config: Mapping[str, Any], compat: Sequence[str], address: Address, authority: bytes
    ) -> list[tuple[Kind[Any], Raw]]:
        from gangline.admission.registration import WebhookAddress, configurations

        options = ComponentOptions(
            compat=tuple(compat), flags=flags, operator=configured(config), namespace=address.namespace
        )
        registered = list(hooks(replace(options, admission=_admission_settings(options)), Nothing()))
        place = WebhookAddress(address.service, address.namespace, address.port)
        return [
            (MUTATING_WEBHOOK if configuration["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK, configuration)
            for configuration in configurations(registered, place, authority)
        ]

    def certificate(hosts: Sequence[str], now: float, kept: Pair | None) -> Pair:
        from gangline.admission.certificates import WebhookKeyPair, self_signed, still_good

        time = datetime.fromtimestamp(now, UTC)
        if kept is not None and still_good(WebhookKeyPair(kept.certificate, kept.key), hosts, time):
            return kept
        made = self_signed(hosts, time)
        return Pair(made.certificate, made.key, made.authority + (kept.certificate if kept is not None else b""))

    return ComponentParts(rules, webhooks, check, certificate, real_backends, frozenset(KNOWN))


class Nothing:
    """A Reader of an empty cluster."""

    def get(self, kind: Kind[Any], name: str, namespace: str = "") -> None:
        return None

    def by(self, kind: Kind[Any], index: str, value: str) -> list[Any]:
        return []

    def count(self, kind: Kind[Any], index: str, value: str) -> int:
        return 0

    def owned(self, kind: Kind[Any], uid: str) -> list[Any]:
        return []

    def list(self, kind: Kind[Any], namespace: str = "", labels: Any = None) -> list[Any]:
        return []


def check_nodes(text: str) -> None:
    """Refuse a nodes file that no world can be made of."""
    from gangline.cluster.world.settings import read_settings

    read_settings(text)


def _world(part: str) -> Callable[[ComponentOptions], Component]:
    """One component of the simulated world."""

    def build_part(options: ComponentOptions) -> Component:
        from gangline.cluster.world.component import components
        from gangline.cluster.world.settings import WorldSettings, read_settings

        settings = read_settings(options.nodes) if options.nodes else WorldSettings()
        return next((item for item in components(settings) if item.name == part), Component(part))

    return build_part


COMPONENTS: dict[str, Callable[[ComponentOptions], Component]] = {
    "operator": _operator,
    "grouper": _grouper,
    "scheduler": _scheduler,
    "binder": _binder,
    "podgroup-controller": _pod_group_controller,
    "queue-controller": _queue_controller,
    "node-scale-adjuster": _node_scale_adjuster,
    "numa-placement-exporter": _numa_placement_exporter,
    "resource-reservation": _resource_reservation,
    "admission": _admission,
    "installer": _installer,
    "kubelet": _world("kubelet"),
    "controller-manager": _world("controller-manager"),
    "default-scheduler": _world("default-scheduler"),
    "autoscaler": _world("autoscaler"),
}


def lease(name: str, options: ComponentOptions) -> str:
    """The lease that only one copy of a component holds at a time."""
    if name == "scheduler":
        pool = options.flags.get("partition-label-value", "")
        return read_names(options.flags.get("scheduler-name", SERVED[0]))[0] + (f"-{pool}" if pool else "")
    return LEASES.get(name, f"gangline-{name}")


def build(name: str, options: ComponentOptions) -> Component:
    if name.startswith(BACKEND):
        return backend(options, name.removeprefix(BACKEND))
    builder = COMPONENTS.get(name)
    if builder is None:
        raise ConfigError(f"no component {name!r}; there are: {', '.join(COMPONENTS)}")
    return builder(options)


async def preflight(name: str, options: ComponentOptions, client: Client) -> None:
    """What must be there before a component starts; raises ConfigError."""
    if name == "operator":
        from gangline.operator.preflight import check

        await check(client, _sets(options))
    elif name == "resource-reservation":
        from gangline.controllers.reservation import own_pod

        own_pod(os.environ)


def hooks(options: ComponentOptions, read: Reader, probes: Probes | None = None) -> Iterable[Hook]:
    """Every admission hook of the two halves; `read` is what they may look up, `probes` what is known of fields that
    the server drops."""
    from gangline.admission.scheduling import kai
    from gangline.admission.sets import authorizer, podcliqueset, topologybinding
    from gangline.operator.checks import backend_check, backend_move, schedulers

    settings = _sets(options)
    now = _sets_now(options) or settings
    if WORKLOAD in options.admission.halves:
        check = backend_check(now, lambda: probes.dropped if probes is not None else frozenset())
        yield from podcliqueset.hooks(settings, lambda: read, check, backend_move(now))
        yield from topologybinding.hooks(topologybinding.Schedulers(*schedulers(settings)))
        yield from authorizer.hooks(settings, lambda: read)
    if SCHEDULER not in options.admission.halves:
        return

    def find_queue(name: str) -> Raw | None:
        queue = read.get(QUEUE, name)
        return None if queue is None else as_raw(queue)

    def labels(namespace: str) -> Mapping[str, str]:
        queue = read.get(NAMESPACE, namespace)
        return {} if queue is None else queue.labels

    how, admission = manner(options.compat), options.admission
    schedulers_served = served(how) if admission.scheduler_names == SERVED else admission.scheduler_names
    yield from kai.hooks(
        replace(admission, manner=how, scheduler_names=schedulers_served), find_queue=find_queue, labels=labels
    )
