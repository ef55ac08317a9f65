"""Asks the cluster who somebody is (TokenReview) and what they may list (SubjectAccessReview), and remembers the
answers for a minute.

Below gates.py. A cluster that does not answer lets nobody in. Tokens are remembered by their digest only."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Any, Generic, TypeVar

import msgspec

from gangline.api.kinds import NODE, POD, QUEUE, SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW, Kind
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.dashboard.login.scope import Viewer, ViewScope
from gangline.errors import ApiError
from gangline.runtime import Clock

FRESH = 60.0
"""Seconds for which an answer is good."""
MOST = 5000
"""Answers that are remembered, of each kind."""
MOST_NAMESPACES = 500
"""Namespaces that are asked about for one viewer; others are not shown."""
AT_ONCE = 16
LONGEST = 16384
"""Letters of a token."""
T = TypeVar("T")


class ShortMemory(Generic[T]):
    """Answers with their time; the oldest go first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, now: float) -> tuple[T] | None:
        kept = self._answers.get(key)
        return (kept[1],) if kept is not None and now - kept[0] < FRESH else None

    def keep(self, key: Hashable, now: float, answer: T) -> T:
        self._answers.pop(key, None)
        self._answers[key] = now, answer
        while len(self._answers) > MOST:
            self._answers.popitem(last=False)
        return answer


class AccessReviews:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._viewers: ShortMemory[Viewer | None] = ShortMemory()
        self._rights: ShortMemory[bool] = ShortMemory()
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def viewer(self, token: str) -> Viewer | None:
        """Whose token this is; None: nobody's."""
        if not token or len(token) > LONGEST or not is_text(token):
            return None
        key, now = hashlib.sha256(token.encode()).digest(), self._clock.now()
        if (kept := self._viewers.get(key, now)) is not None:
            return kept[0]
        status = await self._ask(TOKEN_REVIEW, {"token": token})
        if status is None:
            return None
        user = status.get("user") or {}
        known = bool(status.get("authenticated")) and bool(user.get("username"))
        return self._viewers.keep(key, now, _viewer(user) if known else None)

    async def scope(self, viewer: Viewer, namespaces: Iterable[str]) -> ViewScope:
        """What the viewer may see of a cluster with these namespaces."""
        everywhere, nodes, queues = await asyncio.gather(
            self._may_list(viewer, POD, ""), self._may_list(viewer, NODE, ""), self._may_list(viewer, QUEUE, "")
        )
        if everywhere:
            return ViewScope(None, nodes, queues, viewer.name)
        asked = sorted(namespaces)[:MOST_NAMESPACES]
        answers = await asyncio.gather(*(self._may_list(viewer, POD, namespace) for namespace in asked))
        seen = frozenset(namespace for namespace, may in zip(asked, answers, strict=True) if may)
        return ViewScope(seen, nodes, queues, viewer.name)

    async def _may_list(self, viewer: Viewer, kind: Kind[Any], namespace: str) -> bool:
        key, now = (viewer, kind.resource, namespace), self._clock.now()
        if (kept := self._rights.get(key, now)) is not None:
            return kept[0]
        place = {"namespace": namespace} if namespace else {}
        spec = {
            "user": viewer.name,
            "groups": list(viewer.groups),
            "uid": viewer.uid,
            "extra": {name: list(values) for name, values in viewer.extra},
            "resourceAttributes": {"verb": "list", "group": kind.group, "resource": kind.plural, **place},
        }
        status = await self._ask(SUBJECT_ACCESS_REVIEW, spec)
        if status is None:
            return False
        return self._rights.keep(key, now, bool(status.get("allowed")))

    async def _ask(self, kind: Kind[Any], spec: Raw) -> Raw | None:
        """None: it could not be asked now, which is not remembered."""
        body = msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec})
        async with self._turns:
            try:
                answer = await self._client.send("POST", kind.path(), body)
            except ApiError:
                return None
        status = msgspec.json.decode(answer.body).get("status")
        return status if isinstance(status, dict) else {}


def is_text(word: str) -> bool:
    """Bytes of a header that are no UTF-8 are read as halves of letters, which nobody can be asked about."""
    return not any("\ud800" <= letter <= "\udfff" for letter in word)


def _viewer(user: Raw) -> Viewer:
    extra = user.get("extra") or {}
    return Viewer(
        name=str(user["username"]),
        groups=tuple(str(group) for group in user.get("groups") or ()),
        uid=str(user.get("uid") or ""),
        extra=tuple(sorted((str(name), tuple(map(str, values))) for name, values in extra.items())),
    )
