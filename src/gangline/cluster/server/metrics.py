"""What the server counts about itself, in the words of Prometheus.

Every request is counted, so counting is two additions; the words are made when somebody asks for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from gangline.cluster.server.store.store import Store

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
Key = tuple[str, str, str, int]
"""Verb, group, resource and code."""


class _Times:
    """How long the requests of one verb took."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BUCKETS) + 1)
        self.total = 0.0

    def buckets(self) -> Iterator[tuple[str, float]]:
        sum_so_far = 0
        for bound, count in zip((*map(float, _BUCKETS), float("inf")), self.counts, strict=True):
            sum_so_far += count
            yield "+Inf" if bound == float("inf") else str(bound), sum_so_far


class Metrics(Collector):
    def __init__(self) -> None:
        self._requests: dict[Key, int] = {}
        self._times: dict[str, _Times] = {}
        self._store: Store | None = None
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def note(self, verb: str, group: str, resource: str, code: int, seconds: float) -> None:
        key = (verb, group, resource, code)
        self._requests[key] = self._requests.get(key, 0) + 1
        if verb != "watch":
            times = self._times.get(verb)
            if times is None:
                times = self._times[verb] = _Times()
            times.counts[bisect_left(_BUCKETS, seconds)] += 1
            times.total += seconds

    def text(self, store: Store) -> bytes:
        self._store = store
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "apiserver_request", "Requests answered.", labels=("verb", "group", "resource", "code")
        )
        for (verb, group, resource, code), count in self._requests.items():
            requests.add_metric((verb, group, resource, str(code)), count)
        yield requests
        seconds = HistogramMetricFamily(
            "apiserver_request_duration_seconds", "How long requests took, watches aside.", labels=("verb",)
        )
        for verb, times in self._times.items():
            seconds.add_metric((verb,), list(times.buckets()), times.total)
        yield seconds
        if self._store is not None:
            objects = GaugeMetricFamily("apiserver_storage_objects", "Objects stored.", labels=("resource",))
            for shelf in self._store.shelves():
                objects.add_metric((".".join(part for part in reversed(shelf.key) if part),), len(shelf.records))
            yield objects
            yield GaugeMetricFamily("apiserver_storage_revision", "The present revision.", self._store.revision)
