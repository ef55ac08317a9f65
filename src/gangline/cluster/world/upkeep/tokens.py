"""Secrets that hold a service account's token: filled in when they are made, removed when their account is gone.

The token itself is asked of the server (TokenRequest, bound to the Secret), so it is valid wherever the account is.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.api.core import Secret, ServiceAccount
from gangline.api.kinds import SECRET, SERVICE_ACCOUNT
from gangline.api.meta import Raw
from gangline.cluster.world.settings import WorldSettings
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself

TYPE = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
LIFETIME = 10 * 365 * 24 * 3600
BY_ACCOUNT = "account"


def account_of(secret: Secret) -> str:
    return secret.annotations.get(NAME, "") if secret.type == TYPE else ""


def by_account(secret: Secret) -> list[str]:
    name = account_of(secret)
    return [f"{secret.namespace}/{name}"] if name else []


def complete(secret: Secret, account: ServiceAccount) -> bool:
    return secret.annotations.get(UID) == account.uid and bool(secret.data.get("token")) and "namespace" in secret.data


def token_request(secret: Secret) -> Raw:
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "audiences": [],
            "expirationSeconds": LIFETIME,
            "boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": secret.name, "uid": secret.uid},
        },
    }


@dataclass(frozen=True, slots=True)
class AccountTokens:
    root_ca: str

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        secret = ctx.read.get(SECRET, key.name, key.namespace)
        if secret is None or not account_of(secret) or secret.metadata.deleting:
            return None
        account = ctx.read.get(SERVICE_ACCOUNT, account_of(secret), key.namespace)
        if account is None or secret.annotations.get(UID) not in (None, account.uid):
            await ctx.writer.delete_unless_gone(SECRET, secret)
        elif not complete(secret, account):
            token = await _ask(ctx, account, token_request(secret))
            data = {"token": token, "namespace": key.namespace} | ({"ca.crt": self.root_ca} if self.root_ca else {})
            await ctx.client.patch(
                SECRET,
                key.name,
                key.namespace,
                {
                    "metadata": {"annotations": {UID: account.uid}},
                    "data": {name: base64.b64encode(value.encode()).decode() for name, value in data.items()},
                },
            )
        return None


async def _ask(ctx: Context, account: ServiceAccount, request: Raw) -> str:
    path = SERVICE_ACCOUNT.path(account.namespace, account.name, "token")
    answer: dict[str, Any] = msgspec.json.decode(
        (await ctx.client.send("POST", path, msgspec.json.encode(request))).body
    )
    return str(answer["status"]["token"])


def _secrets_of(account: ServiceAccount, read: Reader) -> list[Key]:
    return [
        Key(secret.namespace, secret.name)
        for secret in read.by(SECRET, BY_ACCOUNT, f"{account.namespace}/{account.name}")
    ]


def tokens(settings: WorldSettings) -> Controller:
    return Controller(
        "tokens",
        AccountTokens(settings.root_ca).reconcile,
        watches=(
            Watch(SECRET, itself, when=lambda before, after: after is not None and after.type == TYPE),
            Watch(SERVICE_ACCOUNT, _secrets_of),
        ),
        indexes=((SECRET, BY_ACCOUNT, by_account),),
        workers=2,
    )
