"""A transport that counts writes by what they are, for benches that tell writes per pod."""

from __future__ import annotations

from collections import Counter

from gangline.client import Request, Response, Transport


class Counting:
    """Counts every request that is no GET under who sent it, its method and its kind."""

    def __init__(self, inner: Transport, counts: Counter[str], who: str) -> None:
        self._inner, self._counts, self._who = inner, counts, who

    async def send(self, request: Request) -> Response:
        if request.method != "GET":
            self._counts[f"{self._who} {request.method} {kind_of(request.path)}"] += 1
        return await self._inner.send(request)

    async def close(self) -> None:
        await self._inner.close()


def kind_of(path: str) -> str:
    """What a path is about: plural and subresource."""
    parts = path.split("/")
    inside = "namespaces" in parts and len(parts) > parts.index("namespaces") + 2
    at = parts.index("namespaces") + 2 if inside else (3 if parts[1] == "api" else 4)
    return "/".join(part for place, part in enumerate(parts[at:]) if place != 1)
