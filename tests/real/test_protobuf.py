"""Kubernetes reads what we write as protobuf, and we read what it writes: for every kind, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from conformance.apiserver.player import Handle
from gangline.api.crds import crds
from gangline.api.kinds import CRD
from gangline.client.wire import JSON, Request, Response
from gangline.cluster.server.call import read_path
from gangline.cluster.server.catalogue import Catalogue, Resource, builtin_resources
from gangline.cluster.server.wire.codec import PROTOBUF
from gangline.cluster.server.wire.protobuf import decode, encode
from real.pair import sender, trusting
from real.plane import TOKEN, Plane, missing
from real.scripts import scripts

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.skipif(bool(missing()), reason=missing())]
NEWER = ("v1alpha2", "v1alpha3", "v1beta1")
"""Versions of the Workload API that the usual release does not serve."""
SERVED = [resource for resource in builtin_resources() if resource.version not in NEWER]
UNSTEADY = "componentstatuses"
"""Asked one by one, in any order."""
MADE = ("creationTimestamp", "managedFields")
MANY = 20
"""Kinds of which the corpus has objects, at least."""
Obj = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Handle]:
    plane = Plane(tmp_path_factory.mktemp("plane"), controllers="", scheduler=False)
    await plane.start()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting())) as session:
        yield sender(session, plane.url)
    await plane.stop()


async def ask(
    real: Handle, path: str, accept: str, body: bytes = b"", content_type: str = JSON, **query: str
) -> Response:
    headers = {"authorization": f"Bearer {TOKEN}"}
    method = "POST" if body else "GET"
    return await real(Request(method, path, tuple(query.items()), body, content_type, accept, headers))


def path_of(resource: Resource, namespace: str = "") -> str:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    return f"{root}/namespaces/{namespace}/{resource.plural}" if namespace else f"{root}/{resource.plural}"


@pytest.mark.parametrize(
    "resource", [item for item in SERVED if item.stored and item.plural != UNSTEADY], ids=lambda item: item.plural
)
async def test_what_kubernetes_writes_is_read_as_its_json(real: Handle, resource: Resource) -> None:
    as_json = msgspec.json.decode((await ask(real, path_of(resource), JSON)).body)
    as_protobuf = decode((await ask(real, path_of(resource), PROTOBUF)).body)
    assert without_revision(as_protobuf).get("items", []) == without_revision(as_json)["items"]


def without_revision(listing: Obj) -> Obj:
    """Others write meanwhile."""
    listing["metadata"].pop("resourceVersion", None)
    told: Obj = without_null(listing)
    return told


def without_null(value: Any) -> Any:
    """Protobuf has no null."""
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


def samples() -> Iterator[tuple[Resource, Obj]]:
    """What scripts of the corpus create, and our definitions."""
    catalogue = Catalogue(SERVED)
    defined = catalogue.find(CRD.group, CRD.version, CRD.plural)
    assert defined is not None
    for definition in crds():
        yield defined, {**definition, "apiVersion": defined.api_version, "kind": defined.kind}
    for case in scripts():
        for step in case["steps"]:
            request = step.get("request", {})
            if request.get("method") != "POST" or not isinstance(request["body"], dict):
                continue
            parts, about = read_path(request["path"]), request["body"].get("metadata")
            resource = catalogue.find(parts.group or "", parts.version, parts.plural)
            if resource is not None and not parts.name and isinstance(about, dict) and "name" in about:
                yield resource, {**request["body"], "apiVersion": resource.api_version, "kind": resource.kind}


async def test_kubernetes_reads_what_we_write(real: Handle) -> None:
    read: set[str] = set()
    for resource, body in samples():
        namespace = "default" if resource.namespaced else ""
        obj = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
        path = path_of(resource, namespace)
        as_json = await ask(real, path, JSON, msgspec.json.encode(obj), dryRun="All")
        if as_json.status >= 300:
            continue
        as_protobuf = await ask(real, path, PROTOBUF, encode(obj), PROTOBUF, dryRun="All")
        assert as_protobuf.status == as_json.status, (obj, as_protobuf.body)
        assert comparable(decode(as_protobuf.body)) == comparable(msgspec.json.decode(as_json.body))
        read.add(resource.kind)
    assert len(read) > MANY


def comparable(obj: Obj) -> Obj:
    """Without what the server makes anew for each."""
    uid = obj["metadata"].get("uid", "")
    told: Obj = without_null(
        {**obj, "metadata": {key: obj["metadata"][key] for key in obj["metadata"] if key not in MADE}}
    )
    same = msgspec.json.encode(told).replace(uid.encode(), b"uid") if uid else msgspec.json.encode(told)
    return msgspec.json.decode(same, type=Obj)
