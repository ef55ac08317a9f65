"""What the server counts about itself, in the words of Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gangline.apiserver.store import Store

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("apiserver_request", "Requests answered.", ("verb", "group", "resource", "code"),
                                 registry=self._registry)
        self._seconds = Histogram("apiserver_request_duration_seconds", "How long requests took, watches aside.", ("verb",),
                                  buckets=_BUCKETS, registry=self._registry)
        self._known: dict[tuple[str, str, str, int], tuple[Counter, Histogram]] = {}
        self._objects = Gauge("apiserver_storage_objects", "Objects stored.", ("resource",), registry=self._registry)
        self._revision = Gauge("apiserver_storage_revision", "The present revision.", registry=self._registry)

    def note(self, verb: str, group: str, resource: str, code: int, seconds: float) -> None:
        key = (verb, group, resource, code)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (self._requests.labels(verb, group, resource, str(code)), self._seconds.labels(verb))
        known[0].inc()
        if verb != "watch":
            known[1].observe(seconds)

    def text(self, store: Store) -> bytes:
        for shelf in store.shelves():
            self._objects.labels(".".join(part for part in reversed(shelf.key) if part)).set(len(shelf.records))
        self._revision.set(store.revision)
        return generate_latest(self._registry)
