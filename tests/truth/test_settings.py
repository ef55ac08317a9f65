"""An answer is reached with the settings of the scheduler that runs: those of its Deployment, else those that it noted
on its verdicts, else a native scheduler's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.scheduler.settings import PluginSetting, native_settings, shard_settings
from gangline.scheduler.thought.settings_note import noted_settings, settings_note
from gangline.why.answers import titles_of
from gangline.why.causes import cause_of
from gangline.why.objects import ClusterObjects, dig
from gangline.why.remedies import remedies
from gangline.why.replay import at_rest
from gangline.why.schedulers.running_settings import running_settings
from gangline.why.subjects import find
from truth.clusters import NOW
from truth.objects import priority_class

CHANGED = [
    native_settings(),
    shard_settings(),
    replace(native_settings(), actions=("allocate",), max_consolidation_victims=3, queue_depth={"allocate": 5}),
    replace(
        native_settings(), plugins=(PluginSetting("predicates"), PluginSetting("nodeplacement", {"gpu": "spread"}))
    ),
]


@pytest.mark.parametrize("settings", CHANGED)
def test_a_note_gives_the_settings_back(settings: Any) -> None:
    assert noted_settings(json.loads(json.dumps(settings_note(settings)))) == settings


def test_a_native_scheduler_notes_nothing_and_words_of_a_later_version_are_left_out() -> None:
    assert settings_note(native_settings()) == {}
    assert noted_settings({"tomorrow": 1}) == native_settings()


def deployment(pool: str, *flags: str, config: Raw | None = None) -> list[Raw]:
    args = ["run", "scheduler", "--scheduler-conf=/etc/config/config.yaml", f"--partition-label-value={pool}", *flags]
    volume = {"name": "config", "configMap": {"name": f"shard-{pool}"}}
    pod = {"containers": [{"name": "scheduler", "args": args}], "volumes": [volume]}
    meta = {"name": f"shard-{pool}", "namespace": "kai-scheduler"}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"template": {"spec": pod}}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta,
            "data": {"config.yaml": yaml.safe_dump(config or {})},
        },
    ]


def among(raws: list[Raw]) -> ClusterObjects:
    read = (
        kinds.DEPLOYMENT,
        kinds.CONFIG_MAP,
        kinds.POD_GROUP,
        kinds.NODE,
        kinds.QUEUE,
        kinds.POD,
        kinds.LEASE,
        kinds.PRIORITY_CLASS,
    )
    return ClusterObjects.of([(kind, [raw for raw in raws if raw["kind"] == kind.kind]) for kind in read], NOW)


def test_flags_and_configuration_of_the_deployment_of_the_pool_count() -> None:
    config = {"actions": "allocate, reclaim", "queueDepthPerAction": {"allocate": 7}}
    raws = [*deployment("a", "--max-consolidation-preemptees=2", config=config), *deployment("b", "--compat=kai")]
    of_a = running_settings(among(raws), "a")
    assert (of_a.actions, of_a.queue_depth, of_a.max_consolidation_victims) == (
        ("allocate", "reclaim"),
        {"allocate": 7},
        2,
    )
    assert of_a.plugins == native_settings().plugins
    assert running_settings(among(raws), "b").plugins == shard_settings().plugins
    assert running_settings(among(raws), "c") == native_settings()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="nested without end"),
        pytest.param("? {1: 2}\n: 3\nactions: allocate", id="a key that is no text"),
        pytest.param("actions: [", id="no YAML"),
    ],
)
def test_a_configuration_that_cannot_be_read_counts_as_none(text: str) -> None:
    """Any team may mount anything; what it says must not end the explainer."""
    raws = deployment("a", config={})
    raws[1]["data"]["config.yaml"] = text
    assert running_settings(among(raws), "a") == native_settings()


def noted(name: str, revision: int, verdict: Raw) -> Raw:
    notes = {names.VERDICT: json.dumps(verdict), names.VERDICT_REVISION: str(revision)}
    meta = {"name": name, "namespace": "default", "annotations": notes}
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": meta, "spec": {}}


def test_without_a_deployment_the_newest_verdict_tells_the_settings() -> None:
    raws = [
        noted("old", 9, {"settings": {"actions": ["allocate"]}}),
        noted("new", 10, {"settings": {"fewest_moves": False}}),
    ]
    assert running_settings(among(raws), "") == replace(native_settings(), fewest_moves=False)
    assert running_settings(among([noted("upstream", 0, {"headline": "x waits"})]), "") == shard_settings()


def test_a_scheduler_that_may_not_preempt_is_not_expected_to_make_room() -> None:
    """The gang of higher priority would preempt in a usual scheduler; here it waits, and is told so."""
    usual, without = low_and_high([]), low_and_high(deployment("", config={"actions": "allocate"}))
    assert at_rest(usual).started("default/high")
    assert not at_rest(without).started("default/high")
    (subject,) = find(without, "high", "default")
    cause = cause_of(without, subject, titles_of(without))
    assert cause.state == "waits" and "8 GPUs short" in cause.why


def low_and_high(more: list[Raw]) -> ClusterObjects:
    return among([node("n0"), queue("q"), *gang("low", 50, "n0"), *gang("high", 60), *more])


def node(name: str, **labels: str) -> Raw:
    has = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    meta = {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    status = {"allocatable": has, "capacity": has, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {}, "status": status}


def queue(name: str) -> Raw:
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"resources": {"cpu": free, "memory": free, "gpu": free}}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def gang(name: str, priority: int, on: str = "") -> list[Raw]:
    meta: Raw = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    spec: Raw = {"minMember": 1, "queue": "q", "priorityClassName": f"p{priority}", "preemptibility": "preemptible"}
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": meta, "spec": spec}
    container = {"name": "c", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "8"}}}
    pod_spec: Raw = {"schedulerName": "kai-scheduler", "priority": priority, "containers": [container]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**meta, "name": f"{name}-0", "uid": f"{name}-0", "annotations": {"pod-group-name": name}},
        "spec": {**pod_spec, **({"nodeName": on} if on else {})},
        "status": {"phase": "Running" if on else "Pending"},
    }
    return [group, pod, priority_class(f"p{priority}", priority)]


def test_a_new_node_is_told_without_marks_of_the_simulation_or_the_name_of_another() -> None:
    marks = {names.SIMULATED: "true", names.POOL: "gpu", "example.com/host": "n0", "type": "h100"}
    objects = among([node("n0", **marks), queue("q"), *gang("low", 60, "n0"), *gang("high", 60)])
    (subject,) = find(objects, "high", "default")
    cause = cause_of(objects, subject, titles_of(objects))
    nodes = [
        change
        for remedy in remedies(objects, subject, cause, titles_of(objects))
        for change in remedy.changes
        if change.kind is kinds.NODE and change.how == "new"
    ]
    assert nodes
    labels = dig(nodes[0].body, "metadata", "labels")
    assert labels["type"] == "h100" and labels["kubernetes.io/hostname"] == labels["example.com/host"] == nodes[0].name
    assert names.SIMULATED not in labels and names.POOL not in labels and "n0" not in labels.values()


@pytest.mark.parametrize(
    ("flag", "told"), [("--compat=kai", "does not keep"), ("--v=4", "looks at when a pod is placed")]
)
def test_pods_that_stand_unevenly_hear_what_their_scheduler_makes_of_it(flag: str, told: str) -> None:
    rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    raws = [node("n0", zone="a"), node("n1", zone="b"), queue("q"), *gang("x", 50, "n0")]
    (group, pod, priority) = raws[3:]
    pod["metadata"]["labels"] = {"app": "x"}
    pod["spec"]["topologySpreadConstraints"] = [{**rule, "labelSelector": {"matchLabels": {"app": "x"}}}]
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    second = {**pod, "metadata": {**pod["metadata"], "name": "x-1", "uid": "x-1"}}
    objects = among([*raws[:3], group, pod, second, priority, *deployment("", flag)])
    (subject,) = find(objects, "x", "default")
    (fact,) = cause_of(objects, subject, titles_of(objects)).facts
    assert fact.startswith(
        "its pods stand unevenly by zone (a 2, b 0): spec.topologySpreadConstraints asks for maxSkew 1"
    )
    assert told in fact
