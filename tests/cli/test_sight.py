"""What commands see of a cluster for somebody who may not see it whole: their own namespace, and what is not shown."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.test_login import two_namespaces
from embedded import admin
from gangline.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING, Kind
from gangline.cli.connection import ClusterConnection
from gangline.cli.look.sight import look_at
from gangline.cli.look.summaries import headline
from gangline.cli.look.top import SECTIONS, picture
from gangline.cli.objects.get import _summarized
from gangline.client import Client, User
from gangline.cluster.server.server import Server
from gangline.errors import BadInput, Forbidden


def seen_by(server: Server, name: str, *groups: str) -> ClusterConnection:
    user = User(name, (*groups, "system:authenticated"))
    return ClusterConnection(Client(server.transport(user), manager="test"), "work", "here")


async def test_a_tenant_sees_their_own_namespace_and_is_told_what_is_not_shown() -> None:
    async with two_namespaces() as (server, _):
        view = await look_at(seen_by(server, "bob"))
        assert [fact.pod.name for fact in view.pods] == ["mine-0"]
        own, unseen = view.source.troubles
        assert own == "only namespace work is shown: you may not list pods of others"
        assert unseen.startswith("not shown: you may not list nodes, podgangs, podgroups, queues")


async def test_a_headline_counts_nothing_that_may_not_be_read() -> None:
    async with two_namespaces() as (server, _):
        shown = picture(await look_at(seen_by(server, "bob")), SECTIONS, "work")
        assert shown.startswith("neither GPUs nor gangs may be read\nwarning: only namespace work is shown")
        assert "NODES\nnodes are not shown: you may not list nodes\n" in shown
        assert "QUEUES\nqueues are not shown: you may not list queues\n" in shown
        await let_bob_read(server, CLUSTER_ROLE_BINDING, "nodes")
        assert headline(await look_at(seen_by(server, "bob"))) == "at least 0/0 GPUs in use; 0 nodes, 0 closed"
        await let_bob_read(server, ROLE_BINDING, "podgroups", "podgangs")
        seen = headline(await look_at(seen_by(server, "bob")))
        assert seen == "at least 0/0 GPUs in use; 1 gang waits, 0 run, 0 failed; 0 nodes, 0 closed"


async def let_bob_read(server: Server, binding: Kind[Any], *resources: str) -> None:
    groups = ["", "scheduling.run.ai", "scheduler.grove.io"]
    rules = [{"apiGroups": groups, "resources": list(resources), "verbs": ["list"]}]
    await admin(server).create(CLUSTER_ROLE, {"metadata": {"name": resources[0]}, "rules": rules})
    place = {"namespace": "work"} if binding.namespaced else {}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": resources[0]}
    subject = {"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}
    await admin(server).create(
        binding, {"metadata": {"name": resources[0], **place}, "roleRef": ref, "subjects": [subject]}
    )


async def test_a_table_of_what_may_not_be_read_is_an_error() -> None:
    async with two_namespaces() as (server, _):
        with pytest.raises(BadInput, match="nodes are not shown: you may not list nodes"):
            await _summarized(seen_by(server, "bob"), "nodes", "", "table", False, "")
        with pytest.raises(BadInput, match="gangs are not shown: you may not list podgangs and podgroups"):
            await _summarized(seen_by(server, "bob"), "gangs", "secret", "table", False, "")


async def test_who_may_list_everywhere_is_told_of_no_namespace() -> None:
    async with two_namespaces() as (server, _):
        view = await look_at(seen_by(server, "eve", "admins"))
        assert {fact.pod.name for fact in view.pods} == {"mine-0", "secret-0"}
        assert not any("only namespace" in trouble for trouble in view.source.troubles)


async def test_who_may_see_nothing_gets_an_error_and_no_empty_table() -> None:
    async with two_namespaces() as (server, _):
        with pytest.raises(Forbidden, match='User "eve" cannot list resource "pods"'):
            await look_at(seen_by(server, "eve"))
