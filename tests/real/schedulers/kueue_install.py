"""Kueue outside a cluster: its webhooks are reached through a Service that names this machine, and its certificate is
shown to it.

Kueue signs its webhooks' certificate itself, for the name of its Service; an ExternalName Service leads the API server
to loopback under that name."""

from __future__ import annotations

from gangline.api import builtin
from gangline.api.kinds import CRD, KUEUE_QUEUE, MUTATING_WEBHOOK, SECRET, SERVICE, VALIDATING_WEBHOOK, Kind
from gangline.api.meta import Raw
from real.schedulers.scheduler import Objects, Scheduler

NAMESPACE = "kueue-system"
CLUSTER_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", builtin.Untyped, namespaced=False)
FLAVOR = Kind("kueue.x-k8s.io", "v1beta2", "ResourceFlavor", "resourceflavors", builtin.Untyped, namespaced=False)
CONVERTED = ("localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters")
ASKED = ("", "kueue.x-k8s.io")
"""API groups whose webhooks are installed: pods and Kueue's own kinds."""


class Kueue(Scheduler):
    def installs(self, port: int) -> Objects:
        yield (
            SERVICE,
            {
                "metadata": {"name": "kueue-webhook-service", "namespace": NAMESPACE},
                "spec": {"type": "ExternalName", "externalName": "localhost"},
            },
        )
        yield SECRET, {"metadata": {"name": "kueue-webhook-server-cert", "namespace": NAMESPACE}}
        for manifest in self.manifests("config/components/webhook/manifests.yaml"):
            kind = MUTATING_WEBHOOK if manifest["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK
            hooks = [_reached(hook, port) for hook in manifest["webhooks"] if hook["rules"][0]["apiGroups"][0] in ASKED]
            yield kind, manifest | {"metadata": {"name": f"kueue-{manifest['metadata']['name']}"}, "webhooks": hooks}
        for pattern in self.definitions:
            yield from ((CRD, _converted(manifest, port)) for manifest in self.manifests(pattern))

    def quota(self, pods: int) -> Objects:
        yield FLAVOR, {"metadata": {"name": "any"}}
        plenty = {"cpu": "1k", "memory": "1Ti"}
        given = [
            {"name": name, "nominalQuota": amount} for name, amount in (plenty | {"nvidia.com/gpu": str(pods)}).items()
        ]
        yield (
            CLUSTER_QUEUE,
            {
                "metadata": {"name": "team"},
                "spec": {
                    "namespaceSelector": {},
                    "resourceGroups": [
                        {
                            "coveredResources": [item["name"] for item in given],
                            "flavors": [{"name": "any", "resources": given}],
                        }
                    ],
                },
            },
        )
        yield KUEUE_QUEUE, {"metadata": {"name": "team", "namespace": "default"}, "spec": {"clusterQueue": "team"}}


def _service(path: str, port: int) -> Raw:
    return {"service": {"namespace": NAMESPACE, "name": "kueue-webhook-service", "path": path, "port": port}}


def _reached(hook: Raw, port: int) -> Raw:
    elsewhere = {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]}
        ]
    }
    return hook | {
        "clientConfig": _service(hook["clientConfig"]["service"]["path"], port),
        "namespaceSelector": elsewhere,
    }


def _converted(definition: Raw, port: int) -> Raw:
    if definition["spec"]["names"]["plural"] not in CONVERTED:
        return definition
    webhook = {"clientConfig": _service("/convert", port), "conversionReviewVersions": ["v1"]}
    return definition | {"spec": definition["spec"] | {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
