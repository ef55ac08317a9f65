"""Being taken for another: whom the `Impersonate-…` headers of a request name, and what it takes to be him.

Every part of the other needs a right of its own, as in Kubernetes: his name (`users`, or `serviceaccounts` in the
account's namespace), each group, his uid, and each value of each extra field. Pure; server.py asks whether the caller
holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from gangline.client.wire import Request, User
from gangline.cluster.server.access.identity import account_user
from gangline.cluster.server.access.rbac import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, Action
from gangline.cluster.server.status import bad_request

AUTHENTICATION = "authentication.k8s.io"
_EXTRA = "impersonate-extra-"
_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Whom somebody asks to be taken for, and everything that must be allowed to him first."""

    user: User
    needs: tuple[Action, ...]


def impersonated(request: Request) -> Impersonation | None:
    """None: the caller asks as himself."""
    headers = {key: value for key, value in request.headers.items() if key.startswith("impersonate-")}
    if not headers:
        return None
    name, uid = (headers.get(f"impersonate-{what}", "").partition("\n")[0] for what in ("user", "uid"))
    groups = tuple(group for group in headers.get("impersonate-group", "").split("\n") if group)
    extra = {
        unquote(key.removeprefix(_EXTRA)): tuple(value.split("\n"))
        for key, value in headers.items()
        if key.startswith(_EXTRA)
    }
    asked = User(name, groups, uid, extra)
    if not name:
        _check_nothing_asked(asked)
        return None
    return Impersonation(User(name, _groups(name, groups), uid, extra), tuple(_needs(asked)))


def _needs(asked: User) -> Iterator[Action]:
    account = _account(asked.name)
    if account is not None:
        yield Action("impersonate", "", "serviceaccounts", "", *account)
    else:
        yield Action("impersonate", "", "users", name=asked.name)
    for group in asked.groups:
        yield Action("impersonate", "", "groups", name=group)
    for key, values in asked.extra.items():
        for value in values:
            yield Action("impersonate", AUTHENTICATION, "userextras", key, name=value)
    if asked.uid:
        yield Action("impersonate", AUTHENTICATION, "uids", name=asked.uid)


def _account(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for."""
    namespace, _, account = name.removeprefix(_ACCOUNT).partition(":")
    return (namespace, account) if name.startswith(_ACCOUNT) and namespace and account and ":" not in account else None


def _groups(name: str, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Those asked for and those everybody has; a service account has its own unless others are asked for."""
    account = _account(name)
    groups = account_user(*account).groups[:2] if account and not asked else asked
    if name == ANONYMOUS.name:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    return groups if AUTHENTICATED in groups or UNAUTHENTICATED in groups else (*groups, AUTHENTICATED)


def _check_nothing_asked(asked: User) -> None:
    extras = [f"{{UID  {asked.uid}  {AUTHENTICATION}/v1  }}"] if asked.uid else []
    extras += [f"{{Group  {group}    }}" for group in asked.groups]
    extras += [
        f"{{UserExtra  {value}  {AUTHENTICATION}/v1  {key}}}" for key, values in asked.extra.items() for value in values
    ]
    if extras:
        raise bad_request(f"requested [{' '.join(extras)}] without impersonating a user")
