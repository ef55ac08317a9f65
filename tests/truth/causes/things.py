"""Volumes, claims and config maps that pods need. Data only."""

from __future__ import annotations

from truth.causes.common import ONE, ZONE
from truth.objects import claim, claim_template, job, resource_claim, uses, uses_claim, volume
from truth.player import TruthCase, flat

THINGS = [
    TruthCase(
        "a volume claim that does not exist",
        "job/x",
        ("PersistentVolumeClaim data", "does not exist"),
        flat(job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume claim that is not bound",
        "job/x",
        ("PersistentVolumeClaim data", "not bound", "no-such-class"),
        flat(claim("data", storageClassName="no-such-class"), job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume in another zone",
        "job/x",
        ("PersistentVolumeClaim data", f"{ZONE}=b", f"{ZONE}=a"),
        flat(job("x", **uses("data"))),
        ({"name": "n", "labels": {ZONE: "a"}},),
        flat(volume("v", "data", "b"), claim("data", storageClassName="", volumeName="v")),
        runs=1,
    ),
    TruthCase(
        "a config map that does not exist",
        "job/x",
        ("ConfigMap settings", "does not exist"),
        flat(
            job("x", containers=[{"name": "main", "image": "i", "envFrom": [{"configMapRef": {"name": "settings"}}]}])
        ),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a device claim that does not exist",
        "job/x",
        ("ResourceClaim mine", "does not exist"),
        flat(job("x", **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a claim template that does not exist",
        "job/x",
        ("ResourceClaimTemplate mine", "does not exist"),
        flat(job("x", **uses_claim(resourceClaimTemplateName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a device class that does not exist",
        "job/x",
        ("DeviceClass tpu.example.com", "does not exist"),
        flat(resource_claim("mine", "tpu.example.com"), job("x", **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "devices that are used up",
        "job/x",
        ("2 devices", "gpu.nvidia.com", "0 of 2"),
        flat(job("x", **uses_claim(resourceClaimTemplateName="two"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        flat(claim_template("two", count=2), job("old", **uses_claim(resourceClaimTemplateName="two"))),
        runs=1,
    ),
]
