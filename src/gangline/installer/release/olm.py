"""The bundle of the Operator Lifecycle Manager: what `gangline install` brings, in the form of OLM.

Printed by cli/deploy/olm.py from the same manifests as the chart. OLM brings definitions, the installer with its rights
and priority classes; a Config, a shard and queues are for the administrator to apply afterwards, and stand in the
bundle as examples. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangline.api import names
from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG,
    CRD,
    DEPLOYMENT,
    PRIORITY_CLASS,
    QUEUE,
    ROLE,
    SCHEDULING_SHARD,
    SERVICE_ACCOUNT,
    Kind,
)
from gangline.api.meta import Raw
from gangline.api.yaml_text import yaml_text
from gangline.installer.release.manifests import Manifest

PACKAGE, CHANNEL = "gangline", "alpha"
LEAST_KUBERNETES = "1.34.0"
EXAMPLES = (CONFIG, SCHEDULING_SHARD, QUEUE)
"""What an administrator applies once OLM is done."""
CSV = f"manifests/{PACKAGE}.clusterserviceversion.yaml"
DESCRIPTION = """\
A scheduler and a workload operator for jobs whose pods must all run at once: they start whole or wait whole, and are
told why. After the installation, apply a Config named `kai-config`, a SchedulingShard and queues (the examples of this
bundle); the installer then brings every other component. Install it into the namespace gangline-system.
"""


def bundle(manifests: Sequence[Manifest], version: str, image: str) -> dict[str, str]:
    """File → text."""
    files = {f"manifests/{item.name}.crd.yaml": item.whole for item in _of_kind(manifests, CRD)}
    files |= {f"manifests/{item.name}.priorityclass.yaml": item.whole for item in _of_kind(manifests, PRIORITY_CLASS)}
    files |= {f"manifests/{role.name}.clusterrole.yaml": role.whole for role in _roles(manifests, bound=False)}
    files[CSV] = service_version(manifests, version, image)
    files["metadata/annotations.yaml"] = {"annotations": _annotations()}
    return {name: yaml_text(content, width=120) for name, content in files.items()}


def service_version(manifests: Sequence[Manifest], version: str, image: str) -> Raw:
    """The ClusterServiceVersion: who runs, with which rights, and which kinds it owns."""
    examples = [item.whole for kind in EXAMPLES for item in _of_kind(manifests, kind)]
    notes = {
        "alm-examples": json.dumps(examples, indent=2),
        "capabilities": "Basic Install",
        "categories": "AI/Machine Learning",
        "containerImage": image,
        "description": "Gang scheduling for Kubernetes: all pods of a job start, or none",
        "operatorframework.io/suggested-namespace": names.SYSTEM_NAMESPACE,
    }
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": f"{PACKAGE}.v{version}", "annotations": notes},
        "spec": {
            "displayName": PACKAGE,
            "description": DESCRIPTION,
            "version": version,
            "maturity": CHANNEL,
            "minKubeVersion": LEAST_KUBERNETES,
            "keywords": ["scheduler", "gang scheduling", "gpu", "queues"],
            "provider": {"name": PACKAGE},
            "installModes": [
                {"type": mode, "supported": mode == "AllNamespaces"}
                for mode in ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
            ],
            "install": {"strategy": "deployment", "spec": _strategy(manifests)},
            "customresourcedefinitions": {
                "owned": [owned for item in _of_kind(manifests, CRD) for owned in _owned(item.obj)]
            },
        },
    }


def _strategy(manifests: Sequence[Manifest]) -> Raw:
    """OLM makes the account, the roles and the bindings itself."""
    [account] = [item.name for item in _of_kind(manifests, SERVICE_ACCOUNT)]
    given = {
        "clusterPermissions": [rule for role in _roles(manifests, bound=True) for rule in role.obj["rules"]],
        "permissions": [rule for item in _of_kind(manifests, ROLE) for rule in item.obj["rules"]],
    }
    rights: Mapping[str, Any] = {
        where: [{"serviceAccountName": account, "rules": rules}] for where, rules in given.items() if rules
    }
    deployments = [
        {"name": item.name, "label": item.obj["metadata"]["labels"], "spec": item.obj["spec"]}
        for item in _of_kind(manifests, DEPLOYMENT)
    ]
    return {**rights, "deployments": deployments}


def _owned(definition: Raw) -> Iterable[Raw]:
    spec = definition["spec"]
    for version in spec["versions"]:
        about = version["schema"]["openAPIV3Schema"].get("description", spec["names"]["kind"])
        yield {
            "name": definition["metadata"]["name"],
            "kind": spec["names"]["kind"],
            "version": version["name"],
            "displayName": spec["names"]["kind"],
            "description": about,
        }


def _annotations() -> Raw:
    prefix = "operators.operatorframework.io.bundle"
    return {
        f"{prefix}.mediatype.v1": "registry+v1",
        f"{prefix}.manifests.v1": "manifests/",
        f"{prefix}.metadata.v1": "metadata/",
        f"{prefix}.package.v1": PACKAGE,
        f"{prefix}.channels.v1": CHANNEL,
        f"{prefix}.channel.default.v1": CHANNEL,
    }


def _roles(manifests: Sequence[Manifest], *, bound: bool) -> list[Manifest]:
    """Those of the installer, which OLM makes and binds; or those that the cluster's own roles take in."""
    bindings = {item.obj["roleRef"]["name"] for item in _of_kind(manifests, CLUSTER_ROLE_BINDING)}
    return [item for item in _of_kind(manifests, CLUSTER_ROLE) if (item.name in bindings) == bound]


def _of_kind(manifests: Sequence[Manifest], kind: Kind[Any]) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest.kind is kind]
