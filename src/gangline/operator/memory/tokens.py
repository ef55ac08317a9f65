"""The Secrets that hold the tokens of sets: looked at one by one, by name.

An account that may list Secrets may read them all. So the operator does not watch Secrets, as it watches everything
else that it makes. When a set has changed, it asks for the two Secrets that a set can have. Their content stays with
the API server; the operator remembers only whether the token has come."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET, SECRET
from gangline.errors import NotFound
from gangline.runtime.controller import Again, Context

LOOKS, LATER = 100, 1.0
"""How often a token that has just been asked for is looked for without rest, for an API server makes it at once; and
the seconds between two looks from then on."""
_MANY = 1000


@dataclass(frozen=True, slots=True)
class TokenSecret:
    name: str
    namespace: str
    uid: str
    filled: bool
    """Whether the token has come."""


@dataclass(frozen=True, slots=True)
class SetTokens:
    """The token Secrets of a set: under today's name, and under Grove's former one."""

    current: TokenSecret | None = None
    former: TokenSecret | None = None
    seen: str = ""
    """The version of the set they were looked at for."""
    looks: int = 0
    """How often the token was looked for and had not come."""

    @property
    def ready(self) -> bool:
        return self.current is not None and self.current.filled


class TokenSecrets:
    def __init__(self) -> None:
        self._known: dict[str, SetTokens] = {}

    def of(self, pcs: PodCliqueSet) -> SetTokens:
        return self._known.get(pcs.uid, SetTokens())

    async def look(self, ctx: Context, pcs: PodCliqueSet) -> PodCliqueSet:
        """Ask for the Secrets of a set, unless they were all right and the set is as it was; gives the set as it is
        now."""
        known, version = self.of(pcs), pcs.metadata.resource_version
        if known.seen == version and known.ready and known.former is None:
            return pcs
        named = (names.token_secret(pcs.name), names.legacy_token_secret(pcs.name))
        current, former = await asyncio.gather(*(_owned(ctx, pcs, name) for name in named))
        if len(self._known) > _MANY:
            living = {pod_clique_set.uid for pod_clique_set in ctx.read.list(POD_CLIQUE_SET)}
            self._known = {uid: tokens for uid, tokens in self._known.items() if uid in living}
        self._known[pcs.uid] = SetTokens(current, former, version, known.looks + 1 if not known.ready else 0)
        return ctx.read.get(POD_CLIQUE_SET, pcs.name, pcs.namespace) or pcs

    def next_look(self, pcs: PodCliqueSet) -> Again:
        """When a set that waits for its token has its next turn."""
        return Again(0.0, in_turn=True) if self.of(pcs).looks < LOOKS else Again(LATER)


async def _owned(ctx: Context, pcs: PodCliqueSet, name: str) -> TokenSecret | None:
    """A Secret of this name, if it is the set's and stays."""
    try:
        secret = await ctx.client.get(SECRET, name, pcs.namespace)
    except NotFound:
        return None
    if secret.metadata.deleting or all(owner.uid != pcs.uid for owner in secret.metadata.owner_references):
        return None
    return TokenSecret(name, pcs.namespace, secret.uid, bool(secret.data.get("token")))
