"""From a question to its answer: read the cluster, let the core come to rest, change what is asked, and let it come to
rest again.

The cluster itself is only read. Objects of files become pods and groups on a small stage (stage.py); everything else
is a change of the model. Acts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import ApiError, NotFound
from gangline.whatif import changes as asked
from gangline.whatif.changes import WhatifChanges
from gangline.whatif.compare import WhatifAnswer, compare
from gangline.whatif.looks import PoolLook
from gangline.whatif.model import WhatifModel
from gangline.whatif.read import MAKERS, READ, read_cluster
from gangline.whatif.shards import compat_of, of_pool, schedulers_of
from gangline.whatif.staged import GROUND, WORKLOADS, ground, key_of, not_judged, with_owned

if TYPE_CHECKING:
    from gangline.whatif.stage import WorkloadStage

ROUNDS = 12
"""How often pods that got a node may let others go on: base gangs, then scaled ones."""
Tell = Callable[[str], None]
Apply = Callable[[Client], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WhatifQuestion:
    """`given`: objects of files; `namespace`: theirs where they name none; `apply`: applies them to a server."""

    changes: WhatifChanges = field(default_factory=WhatifChanges)
    given: Sequence[Raw] = ()
    namespace: str = "default"
    apply: Apply | None = None


async def ask(
    client: Client, question: WhatifQuestion, now: float, tell: Tell = lambda text: None
) -> tuple[Counter[str], WhatifAnswer]:
    """How many objects were read by kind, and what would become of the gangs."""
    if not question.given:
        return await _answer(await read_cluster(client, tell=tell), question, now, tell)
    from gangline.whatif.stage import WorkloadStage

    reading = asyncio.create_task(_read(client, question, tell))
    try:
        async with WorkloadStage(await _compat(client)) as stage:
            return await _answer(await reading, question, now, tell, stage)
    finally:
        reading.cancel()


async def _answer(
    objects: list[Raw], question: WhatifQuestion, now: float, tell: Tell, stage: WorkloadStage | None = None
) -> tuple[Counter[str], WhatifAnswer]:
    tell("asking the scheduler")
    models = [WhatifModel(of_pool(objects, options), options, now) for options in schedulers_of(objects)]
    before = [_settled(model) for model in models]
    _change(models, objects, question)
    played = await _play(models, objects, question, stage, tell) if stage is not None else []
    for model in models:
        model.rest()
    answers = [compare(look, model.look(), model.whys) for look, model in zip(before, models, strict=True)]
    counts = Counter(str(obj["kind"]) for obj in objects)
    return counts, WhatifAnswer(
        [outcome for answer in answers for outcome in answer.new],
        [outcome for answer in answers for outcome in answer.others],
        played,
    )


async def _read(client: Client, question: WhatifQuestion, tell: Tell) -> list[Raw]:
    exists = [await _exists(client, obj, question.namespace) for obj in question.given]
    foreign = [obj for obj in question.given if kinds.known(str(obj["apiVersion"]), str(obj["kind"])) is None]
    more: tuple[Kind[Any], ...] = (*GROUND, *(WORKLOADS if any(exists) else ()), *((kinds.CRD,) if foreign else ()))
    return await read_cluster(client, more, tell)


async def _exists(client: Client, obj: Raw, namespace: str) -> bool:
    kind = kinds.known(str(obj["apiVersion"]), str(obj["kind"]))
    name = obj["metadata"].get("name")
    if kind is None or kind not in WORKLOADS or not name:
        return False
    try:
        await client.get_raw(kind, name, obj["metadata"].get("namespace") or namespace)
        return True
    except NotFound:
        return False
    except ApiError:
        return True


def _settled(model: WhatifModel) -> PoolLook:
    """The cluster as it will be without the question."""
    model.rest()
    model.disturbed.clear()
    return model.look()


def _change(models: Sequence[WhatifModel], objects: Sequence[Raw], question: WhatifQuestion) -> None:
    changes = question.changes
    nodes = [obj for obj in question.given if obj["kind"] == kinds.NODE.kind]
    cordoned = asked.drained(objects, changes.drain)
    changed = [*cordoned, *asked.added(objects, changes.add_nodes), *asked.requoted(objects, changes.quota), *nodes]
    titles = {gang: title for model in models for gang, title in model.titles.items()}
    gone = asked.gangs_without(titles, changes.without)
    for model in models:
        model.take(of_pool(changed, model.options))
        for gang in gone:
            model.drop_gang(gang)
        for node in cordoned:
            model.drain(str(node["metadata"]["name"]))


async def _play(
    models: Sequence[WhatifModel], objects: Sequence[Raw], question: WhatifQuestion, stage: WorkloadStage, tell: Tell
) -> list[str]:
    """The files on the stage, round by round; gives what is not the scheduler's to say."""
    tell("making the pods of the files")
    roots = [key_of(obj, question.namespace) for obj in question.given]
    there = with_owned(objects, roots)
    groups = {str(obj["apiVersion"]).rpartition("/")[0] for obj in question.given}
    await stage.set_up(ground(objects, groups, there))
    if question.apply is not None:
        await question.apply(stage.client)
    known = {str(obj["metadata"].get("uid")) for obj in there if obj["kind"] == kinds.POD.kind}
    pods: list[Raw] = []
    for _ in range(ROUNDS):
        await stage.settles()
        seen = await stage.look(_kinds(question.given))
        pods = [obj for obj in seen if obj["kind"] == kinds.POD.kind]
        news = [obj for obj in seen if obj["kind"] in SELF_MADE or key_of(obj) in roots]
        here = {str(pod["metadata"]["uid"]) for pod in pods}
        placed = _round(models, news, known - here)
        known = here
        waiting = [pod for pod in pods if not pod["spec"].get("nodeName") and pod["metadata"]["uid"] in placed]
        if not waiting:
            break
        stage.play(waiting, placed)
    return not_judged(pods, [name for model in models for name in model.options.scheduler_names])


async def _compat(client: Client) -> tuple[str, ...]:
    """What the cluster's components imitate; where its Config cannot be read, reading the cluster says why."""
    try:
        return compat_of(await client.list_raw(kinds.CONFIG))
    except ApiError:
        return ()


SELF_MADE = frozenset(
    {kinds.POD.kind, kinds.POD_GANG.kind, kinds.POD_GROUP.kind, kinds.RESOURCE_CLAIM.kind, kinds.PVC.kind}
)


def _kinds(given: Sequence[Raw]) -> list[Kind[Any]]:
    named = {str(obj["kind"]) for obj in given}
    made = (kinds.POD_GANG,) if kinds.POD_CLIQUE_SET.kind in named else ()
    return [*(kind for kind in (*READ, *MAKERS) if kind.kind in named and kind is not kinds.NODE), *made]


def _round(models: Sequence[WhatifModel], news: Sequence[Raw], gone: set[str]) -> dict[str, str]:
    """Take in what is new, and let the core come to rest: pod → node."""
    placed: dict[str, str] = {}
    for model in models:
        model.drop_pods(gone)
        model.take(of_pool(news, model.options))
        model.rest()
        placed |= model.nodes()
    return placed
