"""One headless service per replica of a set, so that its pods find each other by name."""

from __future__ import annotations

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.operator.desired.metadata import default_labels, labels, metadata


def service(pcs: PodCliqueSet, replica: int) -> Raw:
    name = names.set_replica(pcs.name, replica)
    config = pcs.spec.template.headless_service_config
    own = {names.SET_REPLICA: str(replica)}
    return {
        "metadata": metadata(name, POD_CLIQUE_SET, pcs, labels(pcs.name, names.FOR_SERVICE, name) | own),
        "spec": {
            "clusterIP": "None",
            "selector": default_labels(pcs.name) | own,
            "publishNotReadyAddresses": bool(config and config.publish_not_ready_addresses),
        },
    }


def address(namespace: str, pcs: str, replica: str) -> str:
    return f"{pcs}-{replica}.{namespace}.svc.cluster.local"
