"""Our own history of usage: samples in sqlite, so that time-based fair share works with nothing else installed.

A sample per queue and resource says how much was held for how long; old ones are thrown away. Kept in a file, history
survives a restart. Called from a thread, never from the event loop.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping

from gangline.errors import ConfigError
from gangline.scheduler.usage.windows import RESOURCES, Figures, UsageSettings, decay, parts, window_start

TABLE = """CREATE TABLE IF NOT EXISTS samples (
    at REAL NOT NULL, seconds REAL NOT NULL, queue TEXT NOT NULL, gpu REAL NOT NULL, cpu REAL NOT NULL, memory REAL NOT
    NULL);
CREATE INDEX IF NOT EXISTS samples_at ON samples (at);"""
CLUSTER = ""
"""The queue name under which the capacity of the whole cluster is kept."""


class UsageStore:
    """`sample` adds what is held now, `usage` sums up a window."""

    def __init__(self, settings: UsageSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._last: float | None = None
        try:
            self._base = sqlite3.connect(settings.address or ":memory:", check_same_thread=False)
            self._base.executescript(TABLE)
        except sqlite3.Error as error:
            raise ConfigError(
                f"the usage store {settings.address} cannot be opened: {error}; name another file or remove it"
            ) from error

    def sample(self, now: float, held: Figures, capacity: Mapping[str, float]) -> None:
        """What every queue holds and the cluster has, since the last sample. Of a long gap only a few intervals
        count."""
        with self._lock:
            passed = 0.0 if self._last is None else min(max(now - self._last, 0.0), 3 * self._settings.fetch)
            self._last = now
            if not passed:
                return
            rows = [
                (now, passed, queue, *(amounts.get(name, 0.0) for name in RESOURCES))
                for queue, amounts in ({**held, CLUSTER: capacity}).items()
            ]
            with self._base:
                self._base.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?)", rows)
                self._base.execute(
                    "DELETE FROM samples WHERE at < ?", (window_start(self._settings, now) - self._settings.fetch,)
                )

    def usage(self, now: float) -> dict[str, dict[str, float]]:
        """Each queue's part of the cluster in the window, older use counting less when a half-life is set."""
        with self._lock:
            rows = self._base.execute(
                "SELECT at, seconds, queue, gpu, cpu, memory FROM samples WHERE at > ? AND at <= ?",
                (window_start(self._settings, now), now),
            ).fetchall()
        sums: dict[str, dict[str, float]] = {}
        for at, span, queue, *amounts in rows:
            total = sums.setdefault(queue, dict.fromkeys(RESOURCES, 0.0))
            for name, value in zip(RESOURCES, amounts, strict=True):
                total[name] += value * span * decay(self._settings, now - at)
        return parts(sums, sums.pop(CLUSTER, {}))

    def close(self) -> None:
        with self._lock:
            self._base.close()
