"""ResourceQuota admission: what would exceed a quota of its namespace is refused, and what is let in is booked at once.

A quota counts from the moment its status says what is limited. Its controller (cluster/world/upkeep/quotas.py) writes
that status and keeps it right when things go. What an object takes is rules/quotas.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangline.api.resources import nanos
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.status import forbidden
from gangline.errors import ApiError
from gangline.rules import quotas

Obj = dict[str, Any]
SHELF = ("", "resourcequotas")


class Quotas:
    """The last step of admission, so that nothing is booked for what others refuse."""

    def __init__(self, core: Core) -> None:
        self._core = core
        core.admission.last = self.book

    def book(self, review: WriteReview) -> None:
        shelf = self._core.store.shelf(SHELF)
        if not shelf.records or review.subresource or review.object is None or review.operation not in (CREATE, UPDATE):
            return
        quotas = [record.object() for record in shelf.listing(review.namespace)] if review.namespace else []
        charged = [(quota, use) for quota in quotas if (use := self._charge(review, quota))]
        if not review.dry_run and not self._is_there(review):
            for quota, use in charged:
                self._write(quota, use)

    def _is_there(self, review: WriteReview) -> bool:
        """It will be refused because its name is taken."""
        name = review.object["metadata"].get("name", "") if review.object else ""
        return (
            review.operation == CREATE
            and self._core.store.get(review.resource.shelf, (review.namespace, name)) is not None
        )

    def _charge(self, review: WriteReview, quota: Obj) -> Mapping[str, int]:
        """What the write adds to a quota; refuses what it may not add."""
        resource = _named(review)
        status, obj = quota.get("status") or {}, review.object or {}
        names = quotas.matching(resource, status.get("hard") or ())
        if not names or not quotas.covers(quota.get("spec") or {}, resource, obj):
            return {}
        more = quotas.usage(resource, obj)
        if review.operation == UPDATE:
            before = quotas.usage(resource, review.old or {})
            more = (
                {name: max(amount - before.get(name, 0), 0) for name, amount in more.items()}
                if resource != quotas.PODS
                else {}
            )
        else:
            _check_stated(review, quota, resource, names)
        _check_known(review, quota, names)
        more = {name: more[name] for name in names if more.get(name)}
        _check_room(review, quota, more)
        return more

    def _write(self, quota: Obj, more: Mapping[str, int]) -> None:
        resource = self._core.catalogue.find("", "v1", SHELF[1])
        place = (quota["metadata"]["namespace"], quota["metadata"]["name"])
        record = self._core.store.get(SHELF, place)
        if resource is None or record is None:
            return
        now = whole(resource, record)
        used, hard = now["status"]["used"], now["status"]["hard"]
        booked = {name: quotas.added(used[name], amount, hard[name]) for name, amount in more.items()}
        now["status"] = {**now["status"], "used": used | booked}
        self._core.write(resource, place, now)


def _named(review: WriteReview) -> str:
    group, plural = review.resource.shelf
    return f"{plural}.{group}" if group else plural


def _check_stated(review: WriteReview, quota: Obj, resource: str, names: Iterable[str]) -> None:
    missing = quotas.unstated(review.object or {}, names) if resource == quotas.PODS else {}
    if missing:
        unstated = "; ".join(f"{name} for: {','.join(containers)}" for name, containers in missing.items())
        raise _refusal(review, f"failed quota: {quota['metadata']['name']}: must specify {unstated}")


def _check_known(review: WriteReview, quota: Obj, names: Iterable[str]) -> None:
    if not all(name in (quota["status"].get("used") or {}) for name in names):
        raise _refusal(review, f"status unknown for quota: {quota['metadata']['name']}, resources: {','.join(names)}")


def _check_room(review: WriteReview, quota: Obj, more: Mapping[str, int]) -> None:
    used, hard = quota["status"].get("used") or {}, quota["status"]["hard"]
    over = sorted(name for name, amount in more.items() if nanos(used[name]) + amount > nanos(hard[name]))
    if over:
        asked = ",".join(f"{name}={quotas.added('0', more[name], hard[name])}" for name in over)
        raise _refusal(
            review,
            f"exceeded quota: {quota['metadata']['name']}, requested: {asked}, "
            f"used: {','.join(f'{name}={used[name]}' for name in over)}, "
            f"limited: {','.join(f'{name}={hard[name]}' for name in over)}",
        )


def _refusal(review: WriteReview, why: str) -> ApiError:
    return forbidden(review.resource.shelf[0], review.resource.plural, review.told_name, why)
