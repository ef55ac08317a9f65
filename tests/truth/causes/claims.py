"""Device claims that nothing meets, volume claims that nothing fits, and what a namespace refuses. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.common import ONE, TWO
from truth.causes.other_makers import DEVICES, DRIVER, stored
from truth.objects import claim, job, resource_claim, uses, uses_claim, volume
from truth.player import TruthCase, flat

OF_TEMPLATE = uses_claim(resourceClaimTemplateName="t")
MODEL = f'device.attributes["{DRIVER}"].productName'
MEMORY = f'device.capacity["{DRIVER}"].memory'


def template(request: Raw, **devices: Any) -> Raw:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", **request}], **devices}}},
    }


def exactly(*expressions: str, count: int = 1, of: str = DRIVER) -> Raw:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    asked = {"deviceClassName": of, "allocationMode": "ExactCount", "count": count}
    return {"exactly": asked | ({"selectors": selectors} if selectors else {})}


def ways(*wanted: tuple[str, int]) -> Raw:
    listed = [
        {"name": f"way-{number}", "deviceClassName": of, "allocationMode": "ExactCount", "count": count}
        for number, (of, count) in enumerate(wanted)
    ]
    return {"firstAvailable": listed}


def selecting(name: str, expression: str, *says: str) -> TruthCase:
    told = (f"of that class meets the selector {expression}", *says)
    return TruthCase(name, "job/x", told, flat(template(exactly(expression)), job("x", **OF_TEMPLATE)), DEVICES, runs=1)


def kept(name: str, objects: list[Raw], *says: str, before: list[Raw] | None = None, **more: Any) -> TruthCase:
    told = ("PersistentVolumeClaim data", *says)
    return TruthCase(name, "job/x", told, flat(*objects, job("x", **uses("data"))), ONE, flat(before or []), **more)


def a_volume(held_by: Raw | None = None, **spec: Any) -> Raw:
    made = volume("v", "data", "")
    given = {key: value for key, value in made["spec"].items() if key not in ("nodeAffinity", "claimRef")} | spec
    return made | {"spec": given | ({"claimRef": held_by} if held_by else {})}


CLAIMS = [
    selecting("a device of one of several models", f'{MODEL} in ["H100", "H200"]', "productName: H100"),
    selecting("a device with more memory than any", f'{MEMORY}.isGreaterThan(quantity("80Gi"))', "memory: 160Gi"),
    selecting("a device whose model begins with other letters", f'{MODEL}.startsWith("NVIDIA H")', "NVIDIA H"),
    selecting("a device of any model but this one", f'{MODEL} != "simulated"', "productName: not-simulated"),
    selecting("a selector that no device can meet", "false", "ResourceClaimTemplate/t were made anew with"),
    TruthCase(
        "a device with a newer driver, of which none says its version",
        "job/x",
        ("a selector of request gpu cannot be evaluated for device gpu-0: no such key: version", "version: 551.0.0"),
        flat(
            template(exactly(f'device.attributes["{DRIVER}"].version.isGreaterThan(semver("550.0.0"))')),
            job("x", **OF_TEMPLATE),
        ),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "devices that must agree in what none of them says",
        "job/x",
        (f"that agree in {DRIVER}/numa (constraints.matchAttribute)", "none of its 2 devices has that attribute"),
        flat(
            template(exactly(count=2), constraints=[{"requests": ["gpu"], "matchAttribute": f"{DRIVER}/numa"}]),
            job("x", **OF_TEMPLATE),
        ),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "alternatives of devices, each more than there are",
        "job/x",
        (f"cannot give 4 devices of class {DRIVER} or 3 devices of class {DRIVER}", "it has 2 of 2 free"),
        flat(template(ways((DRIVER, 4), (DRIVER, 3))), job("x", **OF_TEMPLATE)),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "alternatives of device classes that do not exist",
        "job/x",
        ("DeviceClass a and b, which ResourceClaim", "do not exist"),
        flat(template(ways(("a", 1), ("b", 1))), job("x", **OF_TEMPLATE)),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "a device of another driver beside one that there is",
        "job/x",
        ("cannot give 1 device of class nic for ResourceClaim", "and 1 device of nic.example.com"),
        flat(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": "nic"},
                "spec": {"selectors": [{"cel": {"expression": 'device.driver == "nic.example.com"'}}]},
            },
            resource_claim("gpu"),
            resource_claim("nic", "nic"),
            job(
                "x",
                resourceClaims=[
                    {"name": "gpu", "resourceClaimName": "gpu"},
                    {"name": "nic", "resourceClaimName": "nic"},
                ],
            ),
        ),
        DEVICES,
        never=("None", "pg-", f"1 device of class {DRIVER} for"),
        runs=1,
    ),
    kept(
        "a volume that belongs to another claim",
        [claim("data", storageClassName="", volumeName="v")],
        "PersistentVolume v, which it names (spec.volumeName), belongs to PersistentVolumeClaim default/other",
        before=[volume("v", "other", "")],
        runs=1,
    ),
    kept(
        "a volume that belongs to a former claim of this name",
        [claim("data", storageClassName="", volumeName="v")],
        "belongs to a former PersistentVolumeClaim default/data",
        before=[a_volume({"namespace": "default", "name": "data", "uid": "former"})],
        runs=1,
        remedy_says=("name: v",),
    ),
    kept(
        "a volume that is too small",
        [claim("data", storageClassName="", resources={"requests": {"storage": "100Gi"}})],
        "no PersistentVolume fits (v has 1Gi, 100Gi asked)",
        before=[a_volume()],
        runs=1,
    ),
    kept(
        "a volume without the access mode",
        [claim("data", storageClassName="")],
        "no PersistentVolume fits (v has no access mode ReadWriteMany)",
        before=[a_volume(accessModes=["ReadWriteOnce"])],
        runs=1,
    ),
    kept(
        "a volume without the label that the claim selects",
        [claim("data", storageClassName="", selector={"matchLabels": {"tier": "fast"}})],
        "no PersistentVolume fits (v has no label tier=fast)",
        before=[a_volume()],
        runs=1,
    ),
    TruthCase(
        "a LimitRange of volume claims",
        "statefulset/x",
        (
            "LimitRange lr refuses its volume claims",
            "a PersistentVolumeClaim may have at most 5Gi of storage, 10Gi asked",
        ),
        flat(stored("x", 1)),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "lr", "namespace": "default"},
                "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "5Gi"}}]},
            }
        ),
        runs=1,
    ),
    TruthCase(
        "a Job whose pod failed and is made again after a pause",
        "job/x",
        ("1 pod of it failed, and Job/x makes another one after a pause: 1 of 6 failures are allowed", "exit code 137"),
        flat(job("x", pod_notes={names.RUN_SECONDS: "0", names.EXIT_CODE: "137"}, spec={"backoffLimit": 6})),
        ONE,
    ),
    TruthCase(
        "a gang that runs on a node which is not ready any more",
        "job/x",
        ("x runs: 2 pods on n-0, n-1", "node n-0, which has 1 pod of it, is NotReady since"),
        flat(job("x", 2, gpus=8, spec={"backoffLimit": 6})),
        TWO,
        after=(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n-0", "annotations": {names.HEALTH: "not-ready"}},
            },
        ),
    ),
    TruthCase(
        "a toleration of another value",
        "job/x",
        ("has taint k=b:NoSchedule, which the pod does not tolerate (spec.tolerations has k=a:NoSchedule)",),
        flat(job("x", tolerations=[{"key": "k", "operator": "Equal", "value": "a", "effect": "NoSchedule"}])),
        ({"name": "n", "taints": [{"key": "k", "value": "b", "effect": "NoSchedule"}]},),
        runs=1,
    ),
]
