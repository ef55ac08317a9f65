"""Pages that were made a moment ago: many who look at the same at once cost one page.

Between service.py and replies.py. A page is kept only for as long as nobody could tell the difference, and only as many
as a bound of bytes allows. It also measures what a page costs, so that browsers are not told of changes more often than
pages can be made."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

from gangline.runtime.health import HttpPage

FRESH = 1.0
"""Seconds for which a page is good, if nothing has changed."""
MOST_BYTES = 32 * 1024 * 1024
RESTS = 8.0
"""So many times what the dearest page costs lies between two rounds of pages."""


class KeptPages:
    def __init__(self) -> None:
        self._pages: OrderedDict[Hashable, tuple[float, HttpPage]] = OrderedDict()
        self.held = 0
        """Bytes of all of them."""
        self.pace = 0.0
        """Seconds that should lie between two renewals of all pages."""

    def get(self, key: Hashable, now: float, make: Callable[[], HttpPage]) -> HttpPage:
        kept = self._pages.get(key)
        if kept is not None and now - kept[0] < FRESH:
            return kept[1]
        began = time.perf_counter()
        page = make()
        cost = time.perf_counter() - began
        self.pace = max(RESTS * cost, self.pace * 0.9)
        self._keep(key, now, page)
        return page

    def _keep(self, key: Hashable, now: float, page: HttpPage) -> None:
        if (before := self._pages.pop(key, None)) is not None:
            self.held -= len(before[1].body)
        self._pages[key] = now, page
        self.held += len(page.body)
        while self._pages and (self.held > MOST_BYTES or now - next(iter(self._pages.values()))[0] > FRESH):
            self.held -= len(self._pages.popitem(last=False)[1][1].body)
