"""Discovery: the catalogue as clients ask for it, in the old form (a list per version) and the aggregated one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from gangline.cluster.server.access.identity import ISSUER
from gangline.cluster.server.catalogue import Catalogue, Resource, Subresource

AGGREGATED = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""What the type of one document with all groups has behind its media type."""
Obj = dict[str, Any]

_ORDER = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)


def group_names(catalogue: Catalogue, aggregated: bool = False) -> list[str]:
    """Named groups, in the order a kube-apiserver prefers them; custom ones last, by name. Where they are listed one by
    one, the name begins with the version."""
    known = [group for group in _ORDER if catalogue.group(group)]
    custom = [group for group in catalogue.groups() if group and group not in _ORDER]
    if aggregated:
        return known + sorted(custom)
    return known + sorted(custom, key=lambda group: min(f"{version}.{group}" for version in catalogue.group(group)))


def versions(catalogue: Catalogue, group: str) -> list[str]:
    """A group's versions, the preferred one first."""
    return sorted(catalogue.group(group), key=version_rank)


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Stable before beta before alpha, higher before lower, anything else last by name."""
    match = re.fullmatch(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", version)
    if match is None:
        return (3, 0, 0, version)
    major, stage, minor = match.groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), "")


def core_versions() -> Obj:
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}],
    }


def group_list(catalogue: Catalogue) -> Obj:
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [group_entry(catalogue, name) for name in group_names(catalogue)],
    }


def group_entry(catalogue: Catalogue, group: str) -> Obj:
    entries = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions(catalogue, group)]
    return {"name": group, "versions": entries, "preferredVersion": entries[0]}


def one_group(catalogue: Catalogue, group: str) -> Obj | None:
    if not group or not catalogue.group(group):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1"} | group_entry(catalogue, group)


def resource_list(catalogue: Catalogue, group: str, version: str) -> Obj | None:
    resources = catalogue.group(group).get(version)
    if resources is None:
        return None
    entries: list[Obj] = []
    for plural in sorted(resources):
        entries += _entries(resources[plural])
    gv = f"{group}/{version}" if group else version
    head = {"kind": "APIResourceList", **({"apiVersion": "v1"} if group else {})}
    return head | {"groupVersion": gv, "resources": entries}


def _entries(resource: Resource) -> list[Obj]:
    entry: Obj = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if "watch" in resource.verbs:
        entry["storageVersionHash"] = storage_hash(resource)
    return [entry, *(_sub_entry(resource, sub) for sub in subresources(resource))]


def storage_hash(resource: Resource) -> str:
    import base64

    digest = hashlib.sha256(f"{resource.shelf[0]}/{resource.version}/{resource.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def subresources(resource: Resource) -> Iterable[Subresource]:
    names = list(resource.subresources) if resource.custom else sorted(resource.subresources)
    return [resource.subresources[name] for name in names]


def _sub_entry(resource: Resource, sub: Subresource) -> Obj:
    entry: Obj = {
        "name": f"{resource.plural}/{sub.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": sub.kind or resource.kind,
        "verbs": list(sub.verbs),
    }
    if sub.group or sub.version:
        entry |= {"group": sub.group, "version": sub.version}
    return entry


def aggregated(catalogue: Catalogue, named: bool) -> Obj:
    """/api (`named` false) or /apis in one document."""
    groups = group_names(catalogue, aggregated=True) if named else [""]
    items = []
    for group in groups:
        about: Obj = {"name": group} if group else {}
        items.append(
            {
                "metadata": about,
                "versions": [_aggregated_version(catalogue, group, v) for v in versions(catalogue, group)],
            }
        )
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_version(catalogue: Catalogue, group: str, version: str) -> Obj:
    resources = catalogue.group(group)[version]
    return {
        "version": version,
        "freshness": "Current",
        "resources": [_aggregated_resource(resources[plural]) for plural in sorted(resources)],
    }


def _aggregated_resource(resource: Resource) -> Obj:
    own = (resource.group, resource.version) if resource.custom else ("", "")
    entry: Obj = {
        "resource": resource.plural,
        "responseKind": _kind(*own, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    subs = [
        {
            "subresource": sub.name,
            "verbs": list(sub.verbs),
            "responseKind": _kind(sub.group, sub.version, sub.kind) if sub.kind else _kind(*own, resource.kind),
        }
        for sub in subresources(resource)
    ]
    if subs:
        entry["subresources"] = subs
    return entry


def _kind(group: str, version: str, kind: str) -> Obj:
    return {"group": group, "version": version, "kind": kind}


def root_paths(catalogue: Catalogue) -> Obj:
    paths = ["/api", "/api/v1", "/apis", "/apis/"]
    for group in group_names(catalogue):
        paths += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions(catalogue, group))]
    others = (
        "/.well-known/openid-configuration",
        "/openid/v1/jwks",
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    )
    return {"paths": sorted([*paths, *others])}


def issuer_configuration(host: str) -> Obj:
    """What OpenID asks of an issuer: where its keys are, and how it signs."""
    return {
        "issuer": ISSUER,
        "jwks_uri": f"https://{host}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["HS256"],
    }


def server_version() -> Obj:
    return {
        "major": "1",
        "minor": "35",
        "gitVersion": "v1.35.0+gangline",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
        "emulationMajor": "1",
        "emulationMinor": "35",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "34",
    }
