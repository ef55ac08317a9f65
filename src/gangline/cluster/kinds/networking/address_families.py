"""The addresses a service asks for, and their families: what is wrong with them before any is given out."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.cluster.kinds.checks import Obj, Problems, one_of, with_paths
from gangline.cluster.kinds.networking.addresses import legacy_ip, read_ip
from gangline.errors import Problem
from gangline.rules.values import problems as say

_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_TWO = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"


def family_problems(spec: Obj, version: str) -> Iterator[Problem]:
    """First what contradicts itself; else what a cluster with addresses of this one version does not have."""
    wrong = [*_related(spec)]
    yield from wrong
    headless = spec.get("clusterIP") == "None"
    if not wrong and not (headless and not spec.get("selector")):
        yield from _configured(spec, f"IPv{version}")


def _related(spec: Obj) -> Problems:
    seen: set[str] = set()
    for where, family in with_paths(spec.get("ipFamilies"), "spec.ipFamilies"):
        yield from one_of(family, _FAMILIES, where)
        if family in seen:
            yield say.duplicate(where, family)
        seen.add(family)
    yield from one_of(spec.get("ipFamilyPolicy"), _POLICIES, "spec.ipFamilyPolicy")
    yield from _cluster_ips(spec.get("clusterIP") or "", spec.get("clusterIPs") or [], spec.get("ipFamilies") or [])


def _cluster_ips(first: str, addresses: list[str], families: list[str]) -> Problems:
    path = "spec.clusterIPs"
    if addresses and not first:
        yield say.invalid(path, addresses, "must be empty when `clusterIP` is not specified")
    elif addresses and addresses[0] != first:
        yield say.invalid(path, addresses, "first value must match `clusterIP`")
    if len(addresses) > 2:
        yield say.invalid(path, addresses, "may only hold up to 2 values")
    if "None" in addresses:
        if len(addresses) > 1:
            yield say.invalid(path, addresses, "'None' must be the first and only value")
        return
    wrong = [problem for where, address in with_paths(addresses, path) for problem in legacy_ip(address, where)]
    yield from wrong
    versions = [read.version for address in addresses if (read := read_ip(address)) is not None]
    if len(versions) != len(set(versions)):
        yield say.invalid(path, addresses, "may specify no more than one IP for each IP family")
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        read = read_ip(address)
        if read is not None and f"IPv{read.version}" != family:
            yield say.invalid(
                f"{path}[{index}]", address, f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            )


def _configured(spec: Obj, only: str) -> Problems:
    policy, families, addresses = spec.get("ipFamilyPolicy"), spec.get("ipFamilies") or [], spec.get("clusterIPs") or []
    if (policy or "SingleStack") == "SingleStack":
        for items, noun in ((families, "IP families"), (addresses, "cluster IPs")):
            if len(items) > 1:
                yield say.invalid("spec.ipFamilyPolicy", "SingleStack", f"{_TWO} {noun} are specified")
    for index, address in enumerate(addresses):
        read = read_ip(address)
        if read is not None and f"IPv{read.version}" != only:
            yield say.invalid(
                f"spec.clusterIPs[{index}]", addresses, f"IPv{read.version} is not configured on this cluster"
            )
    if len(families) == 1 or policy in ("PreferDualStack", "RequireDualStack"):
        yield from (
            say.invalid(where, family, "not configured on this cluster")
            for where, family in with_paths(families, "spec.ipFamilies")
            if family != only and not addresses
        )
    if policy == "RequireDualStack":
        yield say.invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
