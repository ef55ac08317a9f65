"""Asking conversion webhooks: objects go out in one version and come back in another.

Objects are sent together, as long as a question stays shorter than a request may be. A webhook that cannot be reached,
is late or answers nonsense makes whatever needed the objects fail, in the words of a kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gangline.cluster.server.admit.webhook_calls import WebhookCaller
from gangline.cluster.server.admit.webhook_protocol import NoAnswer
from gangline.cluster.server.convert.conversion_plan import ConversionPlan, Obj
from gangline.cluster.server.convert.conversion_review import ConversionFailed, checked, question, read_answer
from gangline.cluster.server.convert.version_mark import version_of
from gangline.cluster.server.selectors import selectable_values
from gangline.cluster.server.status import internal
from gangline.cluster.server.store.shelf import Record

SECONDS = 30
"""How long a webhook may take, as a kube-apiserver gives it."""
MANY, MANY_BYTES = 100, 512 * 1024
"""What is asked in one question: objects, and their bytes."""


class WebhookConverter:
    def __init__(self, caller: WebhookCaller) -> None:
        self._caller = caller

    async def records(self, plan: ConversionPlan, records: list[Record], version: str) -> list[Record]:
        """Stored records as records of a version."""
        made: dict[int, Record] = {}
        for source, batch in _batches(plan, records):
            objects = [_read(plan, record, source) for record in batch]
            if source != version:
                objects = await self.objects(plan, objects, source, version)
            for record, obj in zip(batch, objects, strict=True):
                made[id(record)] = _written(plan, record, obj, version)
        return [made[id(record)] for record in records]

    async def objects(self, plan: ConversionPlan, objects: list[Obj], source: str, version: str) -> list[Obj]:
        """Objects with apiVersion and kind, all of one version, in another; what its schema does not know is
        dropped."""
        if source not in plan.versions:
            raise internal(f"request to convert CR from an invalid group/version: {plan.named(source)}")
        try:
            return await self._asked(plan, objects, source, version)
        except ConversionFailed as error:
            raise internal(str(error)) from None

    async def _asked(self, plan: ConversionPlan, objects: list[Obj], source: str, version: str) -> list[Obj]:
        webhook, named = f"conversion webhook for {plan.named(source)}, Kind={plan.kind}", plan.named(source)
        asked = question(plan, objects, version)
        try:
            content = await self._caller.post(plan.client, msgspec.json.encode(asked), SECONDS)
            converted = read_answer(asked, content)
        except (NoAnswer, ConversionFailed) as error:
            raise ConversionFailed(f"{webhook} failed: {error}") from None
        if len(converted) != len(objects):
            raise ConversionFailed(f"{webhook} returned {len(converted)} objects, expected {len(objects)}")
        known = plan.versions[version].custom.plain.schema
        return [
            known.admit(checked(plan, before, after, version, named))[0]
            for before, after in zip(objects, converted, strict=True)
        ]


def _batches(plan: ConversionPlan, records: list[Record]) -> Iterator[tuple[str, list[Record]]]:
    """Records that are stored in the same version, a few at a time."""
    sorted_out: dict[str, list[Record]] = {}
    for record in records:
        sorted_out.setdefault(version_of(record.body, plan.first), []).append(record)
    for source, alike in sorted_out.items():
        batch: list[Record] = []
        size = 0
        for record in alike:
            if batch and (len(batch) == MANY or size + len(record.body) > MANY_BYTES):
                yield source, batch
                batch, size = [], 0
            batch.append(record)
            size += len(record.body)
        yield source, batch


def _read(plan: ConversionPlan, record: Record, source: str) -> Obj:
    """A stored object, with the defaults of the version that it is stored in."""
    obj = record.object()
    if source in plan.versions:
        obj = plan.versions[source].custom.rules.schema.admit(obj)[0]
    return {**obj, "apiVersion": plan.named(source), "kind": plan.kind}


def _written(plan: ConversionPlan, record: Record, obj: Obj, version: str) -> Record:
    shown = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
    return Record(
        record.place,
        record.revision,
        record.uid,
        msgspec.json.encode(shown),
        obj["metadata"].get("labels") or {},
        selectable_values(plan.versions[version], obj),
    )
