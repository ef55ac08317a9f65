"""What a pod or a template asks for that is probably not meant is warned of in the words of a kube-apiserver 1.35."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.server.conftest import PODS, Api, pod
from gangline.cluster.kinds.pods.pod_warnings import name_warnings, pod_warnings

NULL = "a null labelSelector results in matching no pod"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
OLD_OS = 'deprecated since v1.14; use "kubernetes.io/os" instead'
ITEMS = [{"key": "k", "path": "a"}, {"key": "l", "path": "a/b"}]
CASES: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"nodeSelector": {"beta.kubernetes.io/os": "x"}}, [f"spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}"]),
    (
        {"topologySpreadConstraints": [{"topologyKey": "beta.kubernetes.io/os"}]},
        [
            f"spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/os is {OLD_OS}",
            f"spec.topologySpreadConstraints[0].labelSelector: {NULL}",
        ],
    ),
    (
        {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "a"}]}}},
        [f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {NULL}"],
    ),
    (
        {"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]},
        ['spec.imagePullSecrets[1].name: duplicate name "a"', 'spec.imagePullSecrets[2].name: invalid empty name ""'],
    ),
    ({"hostAliases": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}]}, ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"']),
    (
        {"volumes": [{"name": "v", "rbd": {}}, {"name": "w", "configMap": {"name": "c", "items": ITEMS}}]},
        [
            "spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+",
            'volume "w" (ConfigMap "c"): overlapping paths: "a/b" with "a"',
        ],
    ),
    (
        {"containers": [{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}, {"name": "A"}]}]},
        ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    (
        {
            "containers": [
                {"ports": [{"containerPort": 1, "protocol": "TCP", "name": "p"}]},
                {"ports": [{"containerPort": 1, "protocol": "TCP", "hostPort": 2, "name": "p"}]},
            ]
        },
        [
            "spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]",
            'spec.containers[1].ports[0]: duplicate port name "p" with spec.containers[0].ports[0], services and '
            "probes that select ports by name will use spec.containers[0].ports[0]",
        ],
    ),
    (
        {"terminationGracePeriodSeconds": -1},
        ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
    ),
)


@pytest.mark.parametrize(("spec", "told"), CASES)
def test_a_pod_is_warned_of(spec: dict[str, Any], told: list[str]) -> None:
    assert pod_warnings({"spec": spec}) == told
    inside = [text.replace("spec.", "spec.template.spec.") for text in told]
    assert pod_warnings({"spec": spec}, "spec.template") == inside


def test_a_name_that_is_no_label_is_warned_of() -> None:
    assert name_warnings("a") == []
    told = (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label"
    )
    assert name_warnings("a.b") == [f"{told} is recommended: [must not contain dots]"]


async def test_only_a_new_pod_is_warned_of(api: Api) -> None:
    odd = {"nodeSelector": {"beta.kubernetes.io/os": "x"}, "tolerations": [{"operator": "Exists"}]}
    assert len((await api.post(PODS, pod("p", **odd))).warnings) == 1
    assert (await api.merge(f"{PODS}/p", {"spec": {"activeDeadlineSeconds": 5}})).warnings == ()
