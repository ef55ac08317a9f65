"""Requests that may say anything: a seed and a number give the same one again.

They are about every resource that a server serves, in the forms kubectl and controllers use, with some of it wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from urllib.parse import quote

import yaml

from cluster.server.builtin.samples import sample
from fuzz import definitions, odd, wire_messages
from gangline.client.wire import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Request
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.verbs.kind_rules import rules_for

Obj = dict[str, Any]
QUERIES: dict[str, Sequence[str]] = {
    "limit": ("1", "2", "0", "-1", "1" + "0" * 26, odd.LONG),
    "continue": ("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "x", "e30", "bnVsbA", "W10"),
    "resourceVersion": ("0", "1", "2", "99999", "-1", odd.LONG[:4000]),
    "resourceVersionMatch": ("Exact", "NotOlderThan"),
    "watch": ("true", "1", "false"),
    "allowWatchBookmarks": ("true",),
    "sendInitialEvents": ("true", "false"),
    "timeoutSeconds": ("0", "1", "-1", odd.LONG),
    "timeout": ("1s", "0", "-1s"),
    "labelSelector": ("a=b", "a in (b,c)", "!a", "a>1", "a notin ()", "=", "a in (", ",", "a==b,c!=d"),
    "fieldSelector": (
        "metadata.name=a",
        "metadata.namespace!=x",
        "spec.nodeName=",
        "status.phase==Running",
        "spec.t=x",
        "a\\=b=c",
        "=",
        "metadata.name",
    ),
    "fieldManager": ("me", "a" * 200, "\x00"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "Odd"),
    "force": ("true", "false", "odd"),
    "dryRun": ("All", "None", ""),
    "propagationPolicy": ("Foreground", "Orphan", "Background", "Odd"),
    "gracePeriodSeconds": ("0", "30", "-1", odd.LONG),
    "orphanDependents": ("true", "x"),
    "pretty": ("true",),
    "container": ("c", "x"),
    "tailLines": ("1", "-1"),
    "sinceSeconds": ("1",),
    "includeObject": ("Object", "None", "Metadata"),
    "shardSelector": ("x",),
    "follow": ("true",),
    "limitBytes": ("1", "0"),
    "sinceTime": ("2020-01-01T00:00:00Z",),
}
ACCEPTS = (
    JSON,
    "*/*",
    "",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "text/html",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    ";;;",
    "a/b;q=x",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
    "application/json;q=0.1, */*;q=0",
    "application/json;stream=watch",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "\x00",
    "é",
)
PLACES = (
    "/",
    "/api",
    "/apis",
    "/version",
    "/healthz",
    "/livez/ping",
    "/readyz?verbose",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
    "/apis/",
    "/openapi/v3/apis/odd",
    "/api/v1",
    "/apis/apps",
    "/apis/apps/v1",
    "/apis/fuzz.io/v1",
    "/logs",
    "/api/v1/namespaces//pods",
    "/api//",
    "/apis/a/b/c/d/e/f/g/h",
    "/api/v1/watch/pods",
    "/api/v1/watch/namespaces/default/pods/p",
    "/api/v1/namespaces/default/pods/p/log",
    "/api/v1/nodes/n/proxy/x",
    "//",
    "/%00",
    "/api/v1/%2e%2e",
)


class Asking:
    """`request(number)` is always the same for a seed, a list of resources and the objects that stand there."""

    def __init__(self, seed: int, resources: Sequence[Resource], standing: dict[str, Obj]) -> None:
        self._seed, self._standing = seed, standing
        self._resources = {_collection(resource): resource for resource in resources}
        self._paths = sorted(self._resources)
        self._likely = [path for path in sorted(standing) if path in self._resources]

    def request(self, number: int) -> Request:
        random = Random(f"{self._seed}/{number}")
        if random.random() < 0.03:
            return self._sent(
                random, random.choice(("GET", "GET", "HEAD", "POST", "OPTIONS")), random.choice(PLACES), b"", JSON
            )
        if random.random() < 0.06:
            return self._defined(random)
        path = random.choice(self._likely if self._likely and random.random() < 0.7 else self._paths)
        resource, standing = self._resources[path], self._standing.get(path)
        name = str((standing or {}).get("metadata", {}).get("name") or "a")
        one = f"{path}/{name if random.random() < 0.9 else quote(odd.text(random)[:300], safe='')}"
        if resource.subresources and random.random() < 0.25:
            one += "/" + random.choice(sorted(resource.subresources))
        way: Callable[[], Request] = random.choices(
            (
                lambda: self._sent(random, "GET", random.choice((path, one)), b"", JSON),
                lambda: self._put(random, "POST", path, resource, standing),
                lambda: self._put(random, "PUT", one, resource, standing),
                lambda: self._patch(random, one, resource, standing),
                lambda: self._delete(random, random.choice((one, one, path))),
                lambda: self._put(random, "POST", one, resource, standing),
            ),
            (2, 5, 3, 6, 1, 0.3),
        )[0]
        return way()

    def _defined(self, random: Random) -> Request:
        """About kinds that requests define."""
        if random.random() < 0.3:
            made = definitions.definition(random)
            one = f"{definitions.PATH}/{made['metadata']['name']}"
            if random.random() < 0.6:
                return self._sent(random, "POST", definitions.PATH, _json(random, made), JSON)
            forced = (("fieldManager", "me"), ("force", "true"))
            return self._sent(random, "PATCH", one, _json(random, made), APPLY_PATCH, forced)
        path, thing = definitions.thing(random)
        one = f"{path}/one{random.choice(('', '', '/status', '/scale'))}"
        method, where, form = random.choice(
            (
                ("POST", path, JSON),
                ("PUT", one, JSON),
                ("GET", path, JSON),
                ("GET", one, JSON),
                ("PATCH", one, MERGE_PATCH),
                ("PATCH", one, APPLY_PATCH),
                ("DELETE", path, JSON),
            )
        )
        named = (("fieldManager", "me"), ("force", "true")) if form == APPLY_PATCH else ()
        return self._sent(random, method, where, b"" if method == "GET" else _json(random, thing), form, named)

    def _object(self, random: Random, resource: Resource, standing: Obj | None, anew: bool = False) -> Any:
        if standing is not None and random.random() < 0.7:
            about = {
                **standing.get("metadata", {}),
                **({"name": f"n{random.randrange(10**6)}"} if anew and random.random() < 0.8 else {}),
            }
            return odd.mutated(random, {**standing, "metadata": about})
        made = sample(rules_for(resource).schema.root, random) or {}
        made |= {"apiVersion": resource.api_version, "kind": resource.kind}
        made["metadata"] = {
            **(made.get("metadata") or {}),
            "name": str((standing or {}).get("metadata", {}).get("name") or "a")
            if not anew
            else f"n{random.randrange(10**6)}",
        }
        made["metadata"].pop("namespace", None)
        return odd.mutated(random, made) if random.random() < 0.3 else made

    def _put(self, random: Random, method: str, path: str, resource: Resource, standing: Obj | None) -> Request:
        if random.random() < (0.01 if resource.custom else 0.05):
            body = wire_messages.envelope(random, resource.api_version, resource.kind)
            return self._sent(random, method, path, body, "application/vnd.kubernetes.protobuf")
        obj = self._object(random, resource, standing, anew=method == "POST")
        if random.random() < 0.2:
            return self._sent(random, method, path, _yaml(random, obj), "application/yaml")
        return self._sent(
            random,
            method,
            path,
            _json(random, obj),
            random.choices((JSON, odd.text(random), "application/vnd.kubernetes.protobuf"), (30, 1, 1))[0],
        )

    def _patch(self, random: Random, path: str, resource: Resource, standing: Obj | None) -> Request:
        form = random.choice((JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH))
        obj = self._object(random, resource, standing)
        if form == JSON_PATCH:
            return self._sent(
                random,
                "PATCH",
                path,
                _json(random, [_operation(random, standing or obj) for _ in range(random.randrange(4))]),
                form,
            )
        if form == APPLY_PATCH:
            return self._sent(
                random,
                "PATCH",
                path,
                random.choice((_json, _yaml))(random, obj),
                form,
                (("fieldManager", "me"), ("force", "true")),
            )
        if isinstance(obj, dict) and random.random() < 0.5:
            obj = {key: item for key, item in obj.items() if random.random() < 0.6}
        if form == STRATEGIC_PATCH and isinstance(obj, dict):
            obj = _directed(random, obj)
        return self._sent(random, "PATCH", path, _json(random, obj), form)

    def _delete(self, random: Random, path: str) -> Request:
        options = odd.mutated(
            random,
            {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "gracePeriodSeconds": 0,
                "propagationPolicy": "Background",
                "preconditions": {"uid": "x", "resourceVersion": "1"},
                "dryRun": ["All"],
            },
        )
        return self._sent(random, "DELETE", path, _json(random, options) if random.random() < 0.5 else b"", JSON)

    def _sent(
        self, random: Random, method: str, path: str, body: bytes, form: str, query: tuple[tuple[str, str], ...] = ()
    ) -> Request:
        if random.random() < 0.06:
            body = odd.broken(random, body)
        more = [
            (name, random.choice(QUERIES[name]) if random.random() < 0.8 else odd.text(random))
            for name in random.sample(sorted(QUERIES), random.choice((0, 0, 1, 2, 3)))
        ]
        headers = {"user-agent": random.choice(("fuzz/1", "", "a b", odd.text(random)))}
        if random.random() < 0.03:
            headers[
                random.choice(("impersonate-user", "impersonate-group", "authorization", "impersonate-extra-a"))
            ] = odd.text(random)
        accept = JSON if random.random() < 0.7 else random.choice(ACCEPTS)
        return Request(method, path, (*query, *more), body, form, accept, headers)


def _collection(resource: Resource) -> str:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    return f"{root}/{'namespaces/default/' if resource.namespaced else ''}{resource.plural}"


def _json(random: Random, obj: Any) -> bytes:
    made = json.dumps(obj, indent=random.choice((None, None, 1))).encode()
    return made.replace(b'"name"', b'"name": "b", "name"', 1) if random.random() < 0.03 else made


def _yaml(random: Random, obj: Any) -> bytes:
    try:
        return yaml.safe_dump(obj).encode()
    except RecursionError:
        return _json(random, obj)


def _operation(random: Random, obj: Any) -> Any:
    path, here = "", obj
    while isinstance(here, dict | list) and here and random.random() < 0.8:
        key = random.choice(sorted(here)) if isinstance(here, dict) else random.randrange(len(here))
        path, here = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}", here[key]
    if random.random() < 0.2:
        path += random.choice(("/-", "/99", "/x", "~", "/~2", "/" + odd.LONG))
    operation = {
        "op": random.choice(("add", "remove", "replace", "move", "copy", "test")),
        "path": path,
        "value": odd.value(random),
        "from": random.choice((path, "", "/metadata")),
    }
    return odd.mutated(random, operation) if random.random() < 0.3 else operation


def _directed(random: Random, obj: Obj) -> Obj:
    """With directives of strategic merge somewhere."""
    found = dict(obj)
    for key, item in list(found.items()):
        if isinstance(item, dict) and random.random() < 0.4:
            found[key] = _directed(random, item)
        if random.random() < 0.15:
            found[
                random.choice(
                    (
                        f"$setElementOrder/{key}",
                        f"$deleteFromPrimitiveList/{key}",
                        "$patch",
                        "$retainKeys",
                        f"$patch/{key}",
                    )
                )
            ] = random.choice(
                ("delete", "replace", "merge", [], [key], [{"$patch": "delete", "name": "a"}], odd.value(random))
            )
    return found
