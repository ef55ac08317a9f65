"""Name → how to build that component: the composition root of `gangline run` and of the local platform.

One line per component. Components never import each other; they meet only here, and in the objects of an API server.
Their options are in `options.py`, their admission hooks in `admission_hooks.py`, what the installer hears
of them in `installer_parts.py`, and `preflight.py` alone asks a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gangline.api import names
from gangline.api.kinds import NAMESPACE, QUEUE, TOPOLOGY_BINDING
from gangline.component_flags import words
from gangline.components.admission_hooks import hooks
from gangline.components.installer_parts import installer_parts
from gangline.components.options import ComponentOptions as ComponentOptions
from gangline.components.options import admission_settings, named_flags, operator_settings, operator_settings_now
from gangline.config import Manner, manner
from gangline.errors import ConfigError
from gangline.rights import BACKEND as BACKEND
from gangline.rights import EVERYWHERE as EVERYWHERE
from gangline.rights import LEASES
from gangline.rights import home as home
from gangline.rules.schedulers import SERVED, read_names
from gangline.runtime import Component

if TYPE_CHECKING:
    from gangline.scheduler.thought.options import GroupOfSingle, SchedulerOptions

GATHERING = 0.5
"""Seconds for which a native scheduler tells nothing of a gang whose pods are still coming; a period at the most."""


def _operator(options: ComponentOptions) -> Component:
    from gangline.admission.sets.podcliqueset import faults
    from gangline.operator.component import component

    settings = operator_settings(options)
    return component(settings, operator_settings_now(options), lambda pcs: faults(pcs, settings))


def backend(options: ComponentOptions, name: str) -> Component:
    """One scheduler backend as a process of its own."""
    from gangline.operator.component import backend_component

    return backend_component(operator_settings(options), name, operator_settings_now(options))


def _grouper(options: ComponentOptions) -> Component:
    from gangline.grouper.component import component
    from gangline.grouper.settings import from_flags

    return component(from_flags(words(named_flags(options)), manner(options.compat)))


def _scheduler(options: ComponentOptions) -> Component:
    from gangline.scheduler.loop.component import component
    from gangline.scheduler.loop.flags import read_flags
    from gangline.scheduler.settings import native_settings, shard_settings

    how = manner(options.compat)
    usual = shard_settings() if how.decides_as_upstream else native_settings()
    started = read_flags({"schedule-period": f"{options.period}s", **named_flags(options)}, options.config, usual)
    asked = "update-pod-eviction-condition" in options.flags
    recording = started.options.recording_folder or options.recording
    chosen = replace(
        started.options,
        stamp_every_start=how.stamps_every_start,
        one_line=not how.conditions_of_several_lines,
        request_per_pod=how.request_per_pod,
        note_evictions=not how.evictions_unmarked,
        signs_verdicts=not how.decides_as_upstream,
        honours_budgets=not how.decides_as_upstream,
        eager=not how.decides_as_upstream,
        gathering=0.0 if how.decides_as_upstream else min(GATHERING, started.options.period),
        memory_namespace="" if how.decides_as_upstream else started.namespace,
        tell_disruption=started.options.tell_disruption if asked else not how.evictions_unmarked,
        recording_folder=recording if started.options.recording else "",
    )
    if chosen.singles_at_once and options.singles and not how.decides_as_upstream:
        chosen = replace(chosen, group_of_single=_group_of_single(chosen, how))
    return component(options=chosen, usage=started.usage, plugin_port=started.plugin_port if options.flags else None)


def _group_of_single(options: SchedulerOptions, how: Manner) -> GroupOfSingle:
    """The grouper's thought about pods that stand for themselves, for the scheduler."""
    from gangline.grouper.settings import GrouperSettings
    from gangline.grouper.singles import group_of_single

    settings = GrouperSettings(
        manner=how,
        scheduler_names=options.scheduler_names,
        queue_label=options.settings.queue_label,
        node_pool_label=options.node_pool_key,
    )
    return group_of_single(settings)


def _explainer(options: ComponentOptions) -> Component:
    """In upstream's manner a PodGroup carries upstream's words only."""
    from gangline.why.explainer.component import component

    return Component("explainer") if manner(options.compat).decides_as_upstream else component()


def _binder(options: ComponentOptions) -> Component:
    from gangline.binder.component import component
    from gangline.binder.flags import read_flags
    from gangline.binder.settings import BinderSettings

    return component(read_flags(named_flags(options), BinderSettings(manner=manner(options.compat))))


def _pod_group_controller(options: ComponentOptions) -> Component:
    from gangline.controllers.component import pod_group_controller
    from gangline.controllers.flags import pod_group_flags

    return pod_group_controller(manner=manner(options.compat), **pod_group_flags(named_flags(options)))


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

    return node_scale_adjuster(node_scale_flags(named_flags(options)))


def _numa_placement_exporter(options: ComponentOptions) -> Component:
    from gangline.controllers.component import numa_placement_exporter

    return numa_placement_exporter()


def _resource_reservation(options: ComponentOptions) -> Component:
    from gangline.controllers.reservation import component

    return component()


def _admission(options: ComponentOptions) -> Component:
    from gangline.admission.component import WebhookSettings, component
    from gangline.admission.registration import WebhookAddress
    from gangline.operator.checks import kinds as backend_kinds
    from gangline.operator.memory.probes import Probes, service

    settings, options = WebhookSettings(), replace(options, admission=admission_settings(options))
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
    asked, probes = (
        tuple(dict.fromkeys((QUEUE, TOPOLOGY_BINDING, NAMESPACE, *backend_kinds(operator_settings(options))))),
        Probes(),
    )
    made = component(lambda read: hooks(options, read, probes), settings, asked)
    return replace(
        made,
        services=(
            *made.services,
            service(probes, operator_settings(options), options.namespace or names.SYSTEM_NAMESPACE),
        ),
    )


def _installer(options: ComponentOptions) -> Component:
    from gangline.installer.component import component
    from gangline.installer.settings import read_flags

    return component(installer_parts(), replace(read_flags(options.flags), compat=options.compat))


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
    "explainer": _explainer,
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
