"""What a Config and a shard mean, without a cluster: defaults, flags, places, rights, webhooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CONFIG_MAP,
    DAEMON_SET,
    DEPLOYMENT,
    MUTATING_WEBHOOK,
    PROMETHEUS,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    SERVICE_MONITOR,
    VALIDATING_WEBHOOK,
    VPA,
    Kind,
)
from gangline.api.meta import Raw
from gangline.components.installer_parts import installer_parts
from gangline.components.options import ComponentOptions, operator_settings
from gangline.errors import ConfigError
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CertificatePair, InstallFacts, ShardLeader, WantedObjects
from gangline.installer.look import cdi_of
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.shards import config_yaml, wishes_of_shard
from gangline.installer.settings import Image, InstallerSettings, read_flags, read_image
from gangline.scheduler.settings import native_settings, read_config, shard_settings
from yaml_loading import load_yaml

PARTS = installer_parts()
CERTIFICATE = CertificatePair(b"certificate", b"key", b"authority")
EVERYTHING = frozenset(kind.resource for kind in (VPA, PROMETHEUS, SERVICE_MONITOR))


def config(spec: Raw | None = None, settings: InstallerSettings | None = None, **facts: Any) -> WantedObjects:
    return wishes_of_config(
        ConfigReading(spec or {}, settings or InstallerSettings()),
        InstallFacts(**({"certificate": CERTIFICATE} | facts)),
        PARTS,
    )


def shard(spec: Raw | None = None, of: Raw | None = None, **facts: Any) -> WantedObjects:
    return wishes_of_shard(ConfigReading(of or {}), "s", spec or {}, InstallFacts(**facts), PARTS)


def only(wishes: WantedObjects, kind: Kind[Any], name: str) -> Raw:
    [found] = [item.obj for item in wishes.objects if item.kind == kind and item.name == name]
    return found


def names(wishes: WantedObjects, kind: Kind[Any]) -> list[str]:
    return [item.name for item in wishes.objects if item.kind == kind]


def pod(wishes: WantedObjects, name: str) -> Raw:
    found: Raw = only(wishes, DEPLOYMENT, name)["spec"]["template"]["spec"]
    return found


def container(wishes: WantedObjects, name: str) -> Raw:
    found: Raw = pod(wishes, name)["containers"][0]
    return found


def flags(wishes: WantedObjects, name: str) -> Mapping[str, str]:
    return dict(item[2:].split("=", 1) for item in container(wishes, name)["command"][3:])


def yaml_of(wishes: WantedObjects) -> Raw:
    found: Raw = load_yaml(only(wishes, CONFIG_MAP, "kai-scheduler-s")["data"]["config.yaml"])
    return found


# --- where pods go and what they run ----------------------------------------------------------------------------------


def test_what_global_says_holds_for_every_pod() -> None:
    found = config(
        {
            "global": {
                "nodeSelector": {"pool": "infra"},
                "tolerations": [{"key": "infra"}],
                "priorityClassName": "high",
                "imagesPullSecret": "old",
                "additionalImagePullSecrets": ["b", "old", "a"],
                "replicaCount": 3,
            }
        }
    )
    for name in names(found, DEPLOYMENT):
        spec = pod(found, name)
        assert spec["nodeSelector"] == {"pool": "infra"} and spec["tolerations"] == [{"key": "infra"}]
        assert spec["priorityClassName"] == "high" and spec["imagePullSecrets"] == [
            {"name": "a"},
            {"name": "b"},
            {"name": "old"},
        ]
        assert only(found, DEPLOYMENT, name)["spec"]["replicas"] == 3
    assert only(found, SERVICE_ACCOUNT, "kai-resource-reservation")["imagePullSecrets"] == [
        {"name": "a"},
        {"name": "b"},
        {"name": "old"},
    ]


def test_a_section_says_more_than_global_and_keeps_what_it_does_not_say() -> None:
    node, near = (
        {"requiredDuringSchedulingIgnoredDuringExecution": [0]},
        {"preferredDuringSchedulingIgnoredDuringExecution": [1]},
    )
    found = config(
        {
            "global": {"affinity": {"nodeAffinity": near, "podAffinity": near}, "replicaCount": 2},
            "binder": {"replicas": 1, "service": {"affinity": {"nodeAffinity": node}}},
        }
    )
    affinity = pod(found, "binder")["affinity"]
    assert affinity["nodeAffinity"] == node and affinity["podAffinity"] == near and "podAntiAffinity" in affinity
    assert only(found, DEPLOYMENT, "binder")["spec"]["replicas"] == 1


def test_a_memory_limit_that_the_binder_gives_is_one_that_admission_asks_for() -> None:
    assert "hami-core-enabled" not in flags(config(), "admission")
    limited = config({"admission": {"gpuSharing": True}, "binder": {"plugins": {"hamicore": {"enabled": True}}}})
    assert flags(limited, "admission")["hami-core-enabled"] == "true"
    assert json.loads(flags(limited, "binder")["plugins"])["hamicore"]["enabled"] is True


def test_copies_stay_apart_unless_another_rule_is_given() -> None:
    plain = pod(config(), "binder")["affinity"]["podAntiAffinity"]
    assert plain["preferredDuringSchedulingIgnoredDuringExecution"][0]["weight"] == 100
    assert "requiredDuringSchedulingIgnoredDuringExecution" not in plain
    strict = config({"global": {"requireDefaultPodAntiAffinityTerm": True}})
    [term] = pod(strict, "binder")["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {"labelSelector": {"matchLabels": {"app": "binder"}}, "topologyKey": "kubernetes.io/hostname"}
    own = config({"global": {"affinity": {"podAntiAffinity": {"mine": []}}}})
    assert pod(own, "binder")["affinity"]["podAntiAffinity"] == {"mine": []}


def test_every_component_has_its_own_resource_defaults_and_a_default_never_contradicts_what_is_said() -> None:
    assert container(config(), "binder")["resources"]["requests"] == {"cpu": "50m", "memory": "200Mi"}
    assert container(shard(), "kai-scheduler-s")["resources"]["requests"] == {"cpu": "250m", "memory": "512Mi"}
    said = config({"binder": {"service": {"resources": {"limits": {"memory": "100Mi"}, "requests": {"cpu": "4"}}}}})
    assert container(said, "binder")["resources"] == {
        "requests": {"cpu": "4", "memory": "100Mi"},
        "limits": {"memory": "100Mi"},
    }


def test_a_config_changes_the_parts_of_the_image_that_it_names() -> None:
    settings = InstallerSettings(image=read_image("registry.example:5000/team/gangline:1.2"))
    assert container(config(settings=settings), "binder")["image"] == "registry.example:5000/team/gangline:1.2"
    found = config({"binder": {"service": {"image": {"tag": "2", "pullPolicy": "Always"}}}}, settings)
    assert container(found, "binder")["image"] == "registry.example:5000/team/gangline:2"
    assert container(found, "binder")["imagePullPolicy"] == "Always"
    assert str(read_image("gangline")) == "gangline:latest" and str(read_image("r/g@sha256:ab")) == "r/g@sha256:ab"
    assert Image("r", "g", "1").with_parts({"repository": "other/place"}) == Image("other/place", "g", "1")


def test_what_is_wrong_with_the_installers_own_flags_is_said() -> None:
    with pytest.raises(ConfigError, match="--half=workload: write both or scheduler"):
        read_flags({"half": "workload"})
    with pytest.raises(ConfigError, match="--image=: is not an image: write registry/name:tag"):
        read_flags({"image": ""})
    with pytest.raises(ConfigError, match="the installer has no flag --images; it knows --burst"):
        read_flags({"images": "x"})


def test_containers_are_confined_unless_openshift_does_it() -> None:
    assert container(config(), "binder")["securityContext"]["runAsNonRoot"] is True
    own = config({"global": {"securityContext": {"runAsUser": 7}}})
    assert container(own, "binder")["securityContext"] == {"runAsUser": 7}
    assert json.loads(flags(own, "binder")["resource-reservation-container-security-context"]) == {"runAsUser": 7}
    open_shift = config({"global": {"openshift": True}})
    assert "securityContext" not in container(open_shift, "binder")
    assert "resource-reservation-container-security-context" not in flags(open_shift, "binder")


def test_a_component_with_a_lease_is_stopped_before_the_next_starts_and_a_server_never_misses() -> None:
    found = config({"global": {"replicaCount": 2}})
    assert only(found, DEPLOYMENT, "binder")["spec"]["strategy"] == {"type": "Recreate"}
    assert only(found, DEPLOYMENT, "admission")["spec"]["strategy"]["rollingUpdate"] == {
        "maxSurge": 1,
        "maxUnavailable": 0,
    }
    assert container(found, "binder")["readinessProbe"]["httpGet"]["path"] == "/healthz"
    assert container(config(), "binder")["readinessProbe"]["httpGet"]["path"] == "/readyz"


# --- services ---------------------------------------------------------------------------------------------------------


def test_what_is_switched_off_is_not_there() -> None:
    found = config({"podGrouper": {"service": {"enabled": False}}, "scheduler": {"service": {"enabled": False}}})
    assert "pod-grouper" not in names(found, DEPLOYMENT) and "scheduler" not in names(found, SERVICE_ACCOUNT)
    off = shard(of={"scheduler": {"service": {"enabled": False}}})
    assert off.objects == [] and off.notes == [
        "no scheduler runs: spec.scheduler.service.enabled of the Config is false"
    ]


def test_nobody_explains_in_upstreams_manner_or_where_it_is_switched_off() -> None:
    assert "explainer" in names(config({}), DEPLOYMENT)
    assert "explainer" not in names(config({"global": {"compat": ["kai"]}}), DEPLOYMENT)
    assert "explainer" not in names(config({"explainer": {"service": {"enabled": False}}}), DEPLOYMENT)


def test_the_operator_of_sets_and_its_hooks_are_left_to_somebody_else_where_that_is_asked_for() -> None:
    both, half = config(answers=True), config(settings=InstallerSettings(half="scheduler"), answers=True)
    assert "gangline-operator" in names(both, DEPLOYMENT) and "gangline-operator" not in names(half, DEPLOYMENT)

    def hooked(wishes: WantedObjects) -> set[str]:
        return {
            webhook["rules"][0]["resources"][0]
            for webhook in only(wishes, VALIDATING_WEBHOOK, "validating-kai-admission")["webhooks"]
        }

    assert hooked(both) - hooked(half) == {"podcliquesets", "clustertopologybindings"}
    assert hooked(half) == {"pods", "podgroups", "queues", "topologies"}


def test_the_binder_is_told_of_reservations_plugins_and_devices() -> None:
    reserves = {"namespace": "reserved", "allocationTimeout": 5, "runtimeClassName": "nvidia"}
    spec = {
        "binder": {
            "plugins": {"hamicore": {"enabled": True}, "gpusharing": {"priority": 70}},
            "volumeBindingTimeoutSeconds": 9,
            "resourceReservation": reserves,
        }
    }
    said = flags(config(spec, fake_gpus=True, cdi=True), "binder")
    plugins = json.loads(said["plugins"])
    assert plugins["hamicore"]["enabled"]
    assert plugins["gpusharing"] == {"enabled": True, "priority": 70, "arguments": {"cdiEnabled": "true"}}
    assert plugins["volumebinding"]["arguments"] == {"bindTimeoutSeconds": "9"}
    assert (
        said["resource-reservation-namespace"] == "reserved" and said["resource-reservation-allocation-timeout"] == "5"
    )
    assert said["runtime-class-name"] == "nvidia" and said["fake-gpu-nodes"] == "true"
    assert json.loads(said["resource-reservation-pod-command"]) == ["gangline", "run", "resource-reservation"]


def test_a_reservation_image_of_ones_own_runs_what_it_runs() -> None:
    said = flags(
        config({"binder": {"resourceReservation": {"image": {"repository": "r", "name": "reserve", "tag": "1"}}}}),
        "binder",
    )
    assert said["resource-reservation-pod-image"] == "r/reserve:1" and "resource-reservation-pod-command" not in said


@pytest.mark.parametrize(
    ("policy", "cdi"),
    [
        ({"spec": {"cdi": {"enabled": True, "default": True}}}, True),
        ({"spec": {"cdi": {"enabled": True}}}, False),
        ({"spec": {"cdi": {"enabled": False, "default": True}}}, False),
        ({"spec": {}}, False),
        ({"labels": {"app.kubernetes.io/version": "v25.10.1"}, "spec": {"cdi": {"enabled": True}}}, True),
        ({"labels": {"app.kubernetes.io/version": "v25.3.0"}, "spec": {"cdi": {"enabled": True}}}, False),
    ],
)
def test_devices_are_named_for_cdi_where_the_gpu_operator_does_it(policy: Raw, cdi: bool) -> None:
    assert cdi_of({"metadata": {"labels": policy.get("labels", {})}, "spec": policy["spec"]}) is cdi


def test_selectors_of_pods_and_namespaces_are_told_in_one_order() -> None:
    spec = {"global": {"namespaceLabelSelector": {"b": "2", "a": "1"}, "podLabelSelector": {"team": "ml"}}}
    found = config(spec, answers=True)
    assert flags(found, "pod-grouper")["namespace-label-selector"] == "a=1,b=2"
    [hook] = only(found, MUTATING_WEBHOOK, "mutating-kai-admission")["webhooks"][-1:]
    assert hook["namespaceSelector"]["matchLabels"] == {"a": "1", "b": "2"} and hook["objectSelector"] == {
        "matchLabels": {"team": "ml"}
    }
    assert hook["namespaceSelector"]["matchExpressions"][0]["values"] == [
        "kube-system",
        "kai-scheduler",
        "gangline-system",
    ]


def test_the_config_names_the_webhooks_and_switches_checks_off() -> None:
    found = config(
        {
            "namespace": "kai",
            "admission": {"mutatingWebhookConfigurationName": "m", "queueLabelSelector": True},
            "queueController": {"webhooks": {"enableValidation": False}},
        },
        answers=True,
    )
    [complete] = [
        webhook
        for webhook in only(found, MUTATING_WEBHOOK, "m")["webhooks"]
        if webhook["name"] == "complete.pods.gangline.io"
    ]
    apart, queued = complete["namespaceSelector"]["matchExpressions"]
    assert "kai" in apart["values"] and queued == {"key": "kai.scheduler/queue", "operator": "Exists"}
    assert complete["clientConfig"]["service"] == {
        "name": "admission",
        "namespace": "kai",
        "port": 443,
        "path": "/mutate--v1-pod",
    }
    checked = {
        webhook["rules"][0]["resources"][0]
        for webhook in only(found, VALIDATING_WEBHOOK, "validating-kai-admission")["webhooks"]
    }
    assert "queues" not in checked and "podgroups" in checked


def test_rights_go_to_the_namespaces_that_the_config_names() -> None:
    found = config(
        {
            "namespace": "kai",
            "binder": {"resourceReservation": {"namespace": "reserved", "serviceAccountName": "keeper"}},
        }
    )
    bound = {
        (item.namespace, item.name): item.obj["subjects"][0] for item in found.objects if item.kind == ROLE_BINDING
    }
    assert bound["reserved", "kai-binder"] == {"kind": "ServiceAccount", "name": "binder", "namespace": "kai"}
    assert bound["reserved", "kai-resource-reservation"]["name"] == "keeper"
    assert ("kai", "kai-binder") in bound and "kai-binder" in names(found, CLUSTER_ROLE)


def test_an_admission_server_that_is_installed_needs_no_secrets_and_registers_nothing() -> None:
    roles = [
        item.obj["rules"]
        for item in config().objects
        if item.kind in (CLUSTER_ROLE, ROLE) and item.name == "kai-scheduler-admission"
    ]
    rules = [rule for role in roles for rule in role]
    assert rules and "admissionregistration.k8s.io" not in {group for rule in rules for group in rule["apiGroups"]}
    assert "secrets" not in {resource for rule in rules for resource in rule["resources"]}


def test_sets_that_start_in_order_wait_in_the_image_of_the_installer() -> None:
    settings = InstallerSettings(image=read_image("registry.example:5000/gangline@sha256:ab"))
    said = flags(config(settings=settings), "gangline-operator")
    told = operator_settings(ComponentOptions(flags=said))
    assert f"{told.init_image}:{told.init_version}" == "registry.example:5000/gangline@sha256:ab"
    assert told.init_command == ("gangline", "initc") and operator_settings(ComponentOptions()).init_command == ()


def test_a_certificate_that_runs_out_is_renewed_and_the_old_one_trusted_a_while_longer() -> None:
    first = PARTS.certificate(("admission.kai.svc",), 0.0, None)
    assert PARTS.certificate(("admission.kai.svc",), 86400.0, first) == first
    later = PARTS.certificate(("admission.kai.svc",), 86400.0 * 3600, first)
    assert later.certificate != first.certificate and later.authority == later.certificate + first.certificate
    assert PARTS.certificate(("other.svc",), 0.0, first).certificate != first.certificate


def test_prometheus_is_made_monitored_and_asked() -> None:
    spec = {"prometheus": {"enabled": True, "retentionPeriod": "4w", "enablePersistentStorage": False}}
    found = config(spec, served=EVERYTHING)
    instance = only(found, PROMETHEUS, "prometheus")["spec"]
    assert instance["retention"] == "4w" and "storage" not in instance
    assert names(found, SERVICE_MONITOR) == ["queue-controller", "kube-state-metrics"] and "usage-prometheus" in names(
        found, SERVICE
    )
    usage = yaml_of(shard({"usageDBConfig": {"clientType": "prometheus"}}, of=spec))["usageDBConfig"]
    assert usage["connectionString"] == "http://usage-prometheus.kai-scheduler.svc.cluster.local:9090"
    outside = {"prometheus": {"enabled": True, "externalPrometheusUrl": "http://prometheus.example"}}
    assert names(config(outside, served=EVERYTHING), PROMETHEUS) == []
    assert yaml_of(shard({"usageDBConfig": {"clientType": "prometheus"}}, of=outside))["usageDBConfig"][
        "connectionString"
    ] == ("http://prometheus.example")


def test_prometheus_that_is_switched_off_keeps_its_history_until_that_has_run_out() -> None:
    there = {"metadata": {"name": "prometheus", "namespace": "kai-scheduler"}, "spec": {"retention": "2w"}}
    first = config(instances=(there,), now=86400.0)
    marked = only(first, PROMETHEUS, "prometheus")["metadata"]["annotations"]
    assert marked == {"kai/deprecation-timestamp": "1970-01-02T00:00:00Z"} and first.kept == ["prometheus"]
    assert first.notes == ["Prometheus prometheus is no longer wanted; it goes when its history has run out (14 days)"]
    retired = {"metadata": there["metadata"] | {"annotations": marked}, "spec": there["spec"]}
    assert (
        only(config(instances=(retired,), now=86400.0 * 14), PROMETHEUS, "prometheus")["metadata"]["annotations"]
        == marked
    )
    assert config(instances=(retired,), now=86400.0 * 16).kept == []
    again = config({"prometheus": {"enabled": True}}, instances=(retired,), served=EVERYTHING)
    assert "annotations" not in only(again, PROMETHEUS, "prometheus")["metadata"]


def test_a_vertical_autoscaler_is_made_for_each_or_for_one() -> None:
    every = config({"global": {"vpa": {"enabled": True}}, "binder": {"vpa": {"enabled": False}}}, served=EVERYTHING)
    assert "pod-grouper" in names(every, VPA) and "binder" not in names(every, VPA)
    assert only(every, VPA, "pod-grouper")["spec"]["updatePolicy"] == {"updateMode": "InPlaceOrRecreate"}


def test_the_numa_exporter_is_kais_and_wanted_when_a_shard_or_the_config_says_so() -> None:
    image = {
        "numaPlacementExporter": {
            "service": {"image": {"repository": "r", "name": "numa-placement-exporter", "tag": "v0.17.0"}}
        }
    }
    numa = ({"plugins": {"numa": {"enabled": True}}},)
    assert names(config(image), DAEMON_SET) == [] and names(config(image, shards=numa), DAEMON_SET) == [
        "numa-placement-exporter"
    ]
    [found] = only(config(image, shards=numa), DAEMON_SET, "numa-placement-exporter")["spec"]["template"]["spec"][
        "containers"
    ]
    assert found["image"] == "r/numa-placement-exporter:v0.17.0"
    assert found["args"] == [
        "--podresources-socket=/var/lib/kubelet/pod-resources/kubelet.sock",
        "--sysfs-root=/host/sys",
    ]
    assert found["resources"]["requests"] == {"cpu": "50m", "memory": "64Mi"}
    assert "name KAI's image in spec.numaPlacementExporter.service.image" in config(shards=numa).missing[0]
    image["numaPlacementExporter"]["service"]["enabled"] = False  # type: ignore[assignment]
    assert names(config(image, shards=numa), DAEMON_SET) == []


def test_a_service_that_would_not_start_stays_as_it_is_and_is_named() -> None:
    strange = config({"binder": {"plugins": {"mine": {}}}})
    assert (
        strange.kept == ["binder"] and "binder plugins: there is no mine; known are reservation" in strange.problems[0]
    )
    found = config({"queueController": {"queueLabelToMetricLabel": "team"}})
    assert found.problems == [
        "queue-controller stays as it is, because it would not start: --queue-label-to-metric-label=team: 'team' is "
        "not of the form key=value"
    ]
    assert found.kept == ["queue-controller"] and "binder" in names(found, DEPLOYMENT)


# --- shards -----------------------------------------------------------------------------------------------------------


def test_a_plain_shard_is_the_scheduler_as_it_starts_without_a_configuration() -> None:
    assert read_config(yaml_of(shard()), native_settings()) == native_settings()


def test_a_plain_shard_in_the_manner_of_kai_is_kais() -> None:
    assert (
        read_config(
            config_yaml(ConfigReading({}, InstallerSettings(compat=("kai",))), {}, WantedObjects()), shard_settings()
        )
        == shard_settings()
    )


def test_plugins_and_actions_are_switched_ordered_and_told_their_arguments() -> None:
    found = yaml_of(
        shard(
            {
                "plugins": {
                    "elastic": {"enabled": False},
                    "priority": {"priority": 5000},
                    "numa": {"priority": 1},
                    "nodeplacement": {"arguments": {"gpu": "spread"}},
                },
                "actions": {"preempt": {"enabled": False}, "reclaim": {"priority": 999}},
                "kValue": 0.5,
                "minRuntime": {"preemptMinRuntime": "5m", "reclaimMinRuntime": "10m"},
            }
        )
    )
    assert found["actions"] == "reclaim, allocate, consolidation, stalegangeviction"
    plugins = {plugin["name"]: plugin.get("arguments", {}) for plugin in found["tiers"][0]["plugins"]}
    assert next(iter(plugins)) == "priority" and "elastic" not in plugins and next(reversed(plugins)) == "numa"
    assert plugins["nodeplacement"] == {"gpu": "spread"} and plugins["proportion"] == {"kValue": "0.5"}
    assert plugins["minruntime"] == {"defaultPreemptMinRuntime": "5m", "defaultReclaimMinRuntime": "10m"}


def test_a_shard_that_spreads_packs_nothing_and_moves_nothing() -> None:
    found = yaml_of(shard({"placementStrategy": {"gpu": "spread"}}))
    plugins = [plugin["name"] for plugin in found["tiers"][0]["plugins"]]
    assert "gpuspread" in plugins and not {"gpupack", "gpusharingorder"} & set(plugins)
    assert "consolidation" not in found["actions"]


def test_depth_budgets_and_usage_reach_the_configuration() -> None:
    usage = {"clientType": "prometheus", "connectionString": "http://p", "usageParams": {"windowSize": "2w"}}
    found = yaml_of(
        shard(
            {
                "queueDepthPerAction": {"allocate": 3},
                "usageDBConfig": usage,
                "scenarioSearchBudgets": {"maxJobSearchDuration": "1m"},
            }
        )
    )
    assert found["queueDepthPerAction"] == {"allocate": 3} and found["usageDBConfig"] == usage
    assert found["scenarioSearchBudgets"] == {"maxJobSearchDuration": "1m"}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"queueDepthPerAction": {"allocat": 3}},
            "spec.queueDepthPerAction.allocat: is none of this shard's actions (allocate, ",
        ),
        (
            {"usageDBConfig": {"clientType": "prometheus"}},
            "spec.usageDBConfig: nothing says where Prometheus is; give connectionString",
        ),
        (
            {"scenarioSearchBudgets": {"maxJobSearchDuration": "1m", "minJobSearchDuration": "2m"}},
            "minJobSearchDuration must be smaller than maxJobSearchDuration",
        ),
        ({"actions": {"alocate": {}}}, "actions: there is no action 'alocate'; known are allocate, consolidation"),
        ({"args": {"schedule-period": "x"}}, "--schedule-period=x: 'x' is not a duration"),
    ],
)
def test_a_shard_that_cannot_be_is_refused_with_the_place_and_the_remedy(spec: Raw, text: str) -> None:
    found = shard(spec)
    assert found.objects == [] and found.kept == ["kai-scheduler-s"] and text in found.problems[0]


def test_the_leaders_address_is_of_its_family() -> None:
    several = shard(of={"scheduler": {"replicas": 2}}, leader=ShardLeader("p", "u", "fd00::1"))
    [found] = [item.obj for item in several.objects if item.name == "kai-scheduler-s-leader"]
    assert found["addressType"] == "IPv6" and found["endpoints"][0]["addresses"] == ["fd00::1"]


def test_metrics_are_served_where_the_service_looks_for_them() -> None:
    found = shard(of={"scheduler": {"schedulerService": {"port": 80, "targetPort": 9000}}})
    assert flags(found, "kai-scheduler-s")["listen-address"] == ":9000"
    assert only(found, SERVICE, "kai-scheduler-s")["spec"]["ports"][0] | {"name": ""} == {
        "name": "",
        "port": 80,
        "protocol": "TCP",
        "targetPort": 9000,
    }
    queues = config(
        {"queueController": {"controllerService": {"metrics": {"port": 80, "targetPort": 9000, "name": "m"}}}}
    )
    assert flags(queues, "queue-controller")["metrics-bind-address"] == ":9000"
    assert only(queues, SERVICE, "queue-controller")["spec"]["ports"] == [
        {"name": "m", "port": 80, "protocol": "TCP", "targetPort": 9000}
    ]
