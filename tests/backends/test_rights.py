"""A backend as its own process has just the rights that it uses: with them it works, and each of them is used."""

from __future__ import annotations

import pytest

from backends.test_journeys import BACKEND, cluster, llm
from embedded import until
from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    COSCHEDULING_POD_GROUP,
    EVENT,
    NAMESPACE,
    POD_CLIQUE_SET,
    ROLE,
    ROLE_BINDING,
    TOPOLOGY_BINDING,
)
from gangline.api.meta import Raw
from gangline.client import Client, User
from gangline.client.wire import Request, Response, Transport
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.operator.backends import BUILT_IN, Registry
from gangline.operator.rights import election_rights, rights
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager, ManualClock
from gangline.runtime.leading.election import Elected, Election
from gangline.runtime.leading.lease import ElectionSettings
from operator_world import NAMESPACE as HERE
from operator_world import OperatorWorld, clique

COSCHEDULING = Registry(OperatorSettings()).by_name("coscheduling")
LEASE, HOME = "gangline-backend-coscheduling", "gangline-system"
USER = User("system:serviceaccount:gangline-system:backend-coscheduling", ("system:authenticated",))
Right = tuple[str, str, str]
"""Verb, group, resource."""


def expanded(rules: list[Raw]) -> set[Right]:
    return {
        (verb, rule["apiGroups"][0], resource)
        for rule in rules
        for verb in rule["verbs"]
        for resource in rule["resources"]
    }


class Ledger:
    """Carries requests on, and writes down which right each one needs."""

    def __init__(self, inner: Transport) -> None:
        self.used: set[Right] = set()
        self.refused: list[str] = []
        self._inner = inner

    async def send(self, request: Request) -> Response:
        self.used |= needed(request)
        answer = await self._inner.send(request)
        if answer.status == 403:
            self.refused.append(f"{request.method} {request.path}")
        return answer

    async def close(self) -> None:
        await self._inner.close()


def needed(request: Request) -> set[Right]:
    parts = request.path.strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    rest = rest[2:] if rest[0] == "namespaces" and len(rest) > 2 else rest
    resource = "/".join([rest[0], *rest[2:]])
    if request.method == "GET":
        verb = "watch" if request.argument("watch") else "get" if len(rest) > 1 else "list"
        return {(verb, group, resource)}
    found = {
        ("patch" if request.method == "PATCH" else "create" if request.method == "POST" else "delete", group, resource)
    }
    return found | ({("create", group, resource)} if "apply" in request.content_type else set())


async def grant(here: OperatorWorld) -> None:
    """The rights of the coscheduling backend, and of its lease."""
    subject = {"kind": "User", "name": USER.name, "apiGroup": "rbac.authorization.k8s.io"}
    await here.client.create(NAMESPACE, {"metadata": {"name": HOME}})
    await here.client.create(CLUSTER_ROLE, {"metadata": {"name": "backend"}, "rules": rights(COSCHEDULING)})
    await here.client.create(ROLE, {"metadata": {"name": "lease", "namespace": HOME}, "rules": election_rights(LEASE)})
    for kind, meta, role in (
        (CLUSTER_ROLE_BINDING, {"name": "backend"}, "ClusterRole"),
        (ROLE_BINDING, {"name": "lease", "namespace": HOME}, "Role"),
    ):
        await here.client.create(
            kind,
            {
                "metadata": meta,
                "subjects": [subject],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": meta["name"]},
            },
        )


async def test_a_backend_works_as_its_own_process_with_just_the_rights_that_it_uses() -> None:
    async with cluster(
        COSCHEDULING_POD_GROUP, settings=OperatorSettings(outside=("coscheduling",)), clock=ManualClock()
    ) as here:
        await grant(here)
        ledger = Ledger(here.server.transport(USER))
        client = Client(ledger, manager="backend")
        worker = Elected(
            lambda: Manager(build("backend-coscheduling", ComponentOptions()), client, here.clock),
            Election(client, here.clock, ElectionSettings(LEASE, HOME)),
        )
        await worker.start()
        try:
            await _lives_through_everything(here)
        finally:
            await worker.stop()
        assert ledger.refused == []
        assert ledger.used == expanded(rights(COSCHEDULING)) | expanded(election_rights(LEASE))


async def _lives_through_everything(here: OperatorWorld) -> None:
    """A gang that cannot be translated, then can, changes its minimum, and leaves."""
    await here.client.create(
        TOPOLOGY_BINDING, {"metadata": {"name": "t"}, "spec": {"levels": [{"domain": "rack", "key": "x/rack"}]}}
    )
    await here.apply(llm("coscheduling", topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}))
    await until(lambda: _refusals(here, 2), "the refusal to be told again")
    await here.client.patch(POD_CLIQUE_SET, "llm", HERE, {"spec": {"template": {"topologyConstraint": None}}})
    await until(lambda: _minima(here, [6]), "the translation")
    smaller = [clique("prefill", 3, 1, scheduler=""), clique("decode", 4, scheduler="")]
    await here.client.patch(POD_CLIQUE_SET, "llm", HERE, {"spec": {"template": {"cliques": smaller}}})
    await until(lambda: _minima(here, [5]), "the new minimum")
    await here.client.patch(POD_CLIQUE_SET, "llm", HERE, {"metadata": {"annotations": {BACKEND: "default"}}})
    await until(lambda: _minima(here, []), "the object to be pruned")


async def _refusals(here: OperatorWorld, count: int) -> bool:
    assert isinstance(here.clock, ManualClock)
    here.clock.advance(3)
    return any(
        (event.count or 0) >= count
        for event in (await here.client.list(EVENT, HERE)).items
        if event.reason == "COSCHEDULINGBackendMappingFailed"
    )


async def _minima(here: OperatorWorld, wanted: list[int]) -> bool:
    assert isinstance(here.clock, ManualClock)
    here.clock.advance(1)
    return [item.spec["minMember"] for item in await here.every(COSCHEDULING_POD_GROUP)] == wanted


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_a_backend_may_follow_what_it_reads_and_write_only_its_own_kinds(name: str) -> None:
    known = Registry(OperatorSettings()).by_name(name)
    held = expanded(rights(known))
    assert {("list", kind.group, kind.plural) for kind in (*known.reads, *known.writes)} <= held
    deleted = {(group, resource) for verb, group, resource in held if verb == "delete"}
    assert deleted == {(kind.group, kind.plural) for kind in known.writes}
    assert not any(
        resource in ("secrets", "pods/status")
        or (group == "" and verb not in ("list", "watch") and resource != "events")
        for verb, group, resource in held
    )


def test_the_rights_of_a_lease_are_for_that_lease() -> None:
    assert election_rights("gangline-backend-kai") == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "patch"],
            "resourceNames": ["gangline-backend-kai"],
        },
    ]
