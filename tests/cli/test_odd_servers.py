"""What commands say of a server that is none of Kubernetes, or has something odd in front of it."""

from __future__ import annotations

import pytest

from gangline.cli.care.facts import gather_facts
from gangline.cli.connection import ClusterConnection
from gangline.client import Client, InProcess, Request, Response, User
from gangline.errors import Unreadable


def odd(body: str, date: str = "") -> ClusterConnection:
    """To a server that answers everything alike."""

    async def handle(request: Request) -> Response:
        return Response(200, body.encode(), headers={"date": date} if date else {})

    return ClusterConnection(Client(InProcess(handle, User("x")), retries=0), "default", "http://odd")


DISCOVERY = [
    '{"groups": 5, "resources": []}',
    '{"groups": [5], "resources": []}',
    '{"groups": [{"name": 5}], "resources": []}',
    '{"groups": [], "resources": 5}',
    '{"groups": [], "resources": [{"name": "pods"}]}',
    '{"groups": [], "resources": [{"name": "pods", "kind": "Pod", "namespaced": true, "shortNames": 5}]}',
]


@pytest.mark.parametrize("body", DISCOVERY)
async def test_discovery_that_is_none_is_told(body: str) -> None:
    with pytest.raises(Unreadable, match=r"the answer to GET /ap[^ ]* is none of a Kubernetes API server"):
        await odd(body).kind("pods")


@pytest.mark.parametrize("items", ["5", "[5]", "[null]", "[{}]", '[{"metadata": 5}]'])
async def test_doctor_names_lists_that_are_none_and_goes_on(items: str) -> None:
    facts = await gather_facts(odd(f'{{"items": {items}, "status": 5}}'))
    assert set(facts.lists) == set(facts.refused) and facts.user == ""
    assert "the answer to GET /api/v1/nodes is none of a Kubernetes API server" in facts.refused["nodes"]


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 01 Jan 99999 00:00:00 GMT"])
async def test_doctor_compares_no_clocks_where_the_server_says_no_time(date: str) -> None:
    assert (await gather_facts(odd("{}", date))).skew is None
