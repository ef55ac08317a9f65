"""What the init container needs to see its siblings: ServiceAccount, Role, RoleBinding and a token, one of each per
set.

Pods themselves do not run as this account.
"""

from __future__ import annotations

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.operator.desired.metadata import labels, metadata


def service_account(pcs: PodCliqueSet) -> Raw:
    meta = metadata(pcs.name, POD_CLIQUE_SET, pcs, labels(pcs.name, names.FOR_SERVICE_ACCOUNT, pcs.name))
    return {"metadata": meta, "automountServiceAccountToken": True}


def role(pcs: PodCliqueSet) -> Raw:
    name = names.role(pcs.name)
    meta = metadata(name, POD_CLIQUE_SET, pcs, labels(pcs.name, names.FOR_ROLE, name.replace(":", "-")))
    return {
        "metadata": meta,
        "rules": [{"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "watch"]}],
    }


def role_binding(pcs: PodCliqueSet) -> Raw:
    name = names.role(pcs.name)
    meta = metadata(name, POD_CLIQUE_SET, pcs, labels(pcs.name, names.FOR_ROLE_BINDING, name.replace(":", "-")))
    return {
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": pcs.name, "namespace": pcs.namespace}],
    }


def token_secret(pcs: PodCliqueSet) -> Raw:
    name = names.token_secret(pcs.name)
    meta = metadata(
        name,
        POD_CLIQUE_SET,
        pcs,
        labels(pcs.name, names.FOR_TOKEN, name),
        annotations={"kubernetes.io/service-account.name": pcs.name},
    )
    return {"metadata": meta, "type": "kubernetes.io/service-account-token"}
