"""Every admission hook of the scheduler half, as data: the embedded server and the webhook ask the same list.

Only objects that are ours are matched, so nothing here can keep a foreign pod from starting.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

from gangline.admission.scheduling import podgroups, pods, queues, topologies
from gangline.admission.scheduling.pods import Chance
from gangline.admission.scheduling.queued import Labels, asked_where, condition, queued, with_scheduler
from gangline.admission.scheduling.queues import Find
from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api.kinds import POD, POD_GROUP, QUEUE, TOPOLOGY
from gangline.rules.hooks import Hook, HookReview

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Of generated names: no vowels, so that no words come out."""


def hooks(
    settings: AdmissionSettings | None = None,
    *,
    find_queue: Find = lambda name: None,
    labels: Labels = lambda namespace: {},
    chance: Chance | None = None,
) -> list[Hook]:
    """`find_queue` and `labels` (of a namespace) are what the hooks may look up."""
    given = settings or AdmissionSettings()
    letters = chance or partial(_letters, random.SystemRandom())

    def ours(review: HookReview) -> bool:
        return pods.ours(review, given)

    scheduled = f"object.spec.schedulerName in [{', '.join(repr(name) for name in given.scheduler_names)}]"
    deletes = () if given.manner.queue_delete_unchecked else ("DELETE",)
    naming = Hook(
        "schedule.pods.gangline.io",
        POD.group,
        POD.plural,
        operations=("CREATE",),
        condition=condition(given),
        exempt=given.exempt,
        where=asked_where(given),
        matches=lambda review: queued(review, given, labels),
        mutate=lambda review: pods.complete(replace(review, obj=with_scheduler(review.obj, given)), given, letters),
    )
    return [
        Hook(
            "complete.pods.gangline.io",
            POD.group,
            POD.plural,
            operations=("CREATE",),
            matches=ours,
            condition=scheduled,
            exempt=given.exempt,
            mutate=lambda review: pods.complete(review, given, letters),
        ),
        *(() if given.manner.queued_pods_left else (naming,)),
        Hook(
            "check.pods.gangline.io",
            POD.group,
            POD.plural,
            matches=ours,
            condition=scheduled,
            exempt=given.exempt,
            validate=lambda review: pods.problem(review, given),
        ),
        Hook(
            "check.podgroups.gangline.io",
            POD_GROUP.group,
            POD_GROUP.plural,
            validate=podgroups.problem,
            warn=podgroups.warnings,
        ),
        Hook(
            "check.queues.gangline.io",
            QUEUE.group,
            QUEUE.plural,
            operations=("CREATE", "UPDATE", *deletes),
            validate=lambda review: queues.problem(review, given, find_queue),
            warn=lambda review: queues.warnings(review, given, find_queue),
        ),
        Hook("check.topologies.gangline.io", TOPOLOGY.group, TOPOLOGY.plural, validate=topologies.problem),
    ]


def _letters(chance: random.Random) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(pods.RANDOM_LETTERS))
