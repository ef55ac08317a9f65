"""batch/v1 Jobs: as many pods as parallelism and completions ask for, counted as they end, tried again as often as
allowed.

job_plan.py compares a Job with its pods (job_tally.py) and says what to create, delete, count and tell; this controller
writes it. A pod carries a finalizer until its end is counted, so no result is lost when someone deletes it. No more
pods are made in one turn than replicas.py allows, however many are asked for."""

from __future__ import annotations

import asyncio

from gangline.api.core import Pod
from gangline.api.kinds import JOB, POD
from gangline.cluster.world.workloads.jobs.job_plan import CONTROLLER, plan
from gangline.cluster.world.workloads.jobs.job_tally import TRACKING, tracked
from gangline.cluster.world.workloads.owned_pods import create_pods, tell_held_back
from gangline.cluster.world.workloads.replicas import WAITING, crowd, waiting_to_begin
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner

# --- thinking ---------------------------------------------------------------------------------------------------------


# --- doing ------------------------------------------------------------------------------------------------------------


async def reconcile(ctx: Context, key: Key) -> Again | None:
    job = ctx.read.get(JOB, key.name, key.namespace)
    if job is None or job.metadata.deleting or job.spec.managed_by not in (None, CONTROLLER):
        return None
    now = ctx.clock.now()
    todo = plan(job, ctx.read.owned(POD, job.uid), now, crowd(ctx.read))
    if todo.remove:
        await ctx.client.delete(JOB, job.name, job.namespace, uid=job.uid, propagation="Foreground")
        return None
    if todo.status is not None:
        guard = {"resourceVersion": job.metadata.resource_version}
        await ctx.client.patch(
            JOB, job.name, job.namespace, {"metadata": guard, "status": todo.status}, subresource="status"
        )
    await asyncio.gather(*(ctx.writer.remove_finalizer(POD, pod, TRACKING) for pod in todo.release))
    await create_pods(ctx, JOB, job, todo.create)
    tell_held_back(ctx, JOB, job, todo.held_back)
    await asyncio.gather(*(_delete(ctx, pod) for pod in todo.delete))
    return None if todo.again is None else Again(max(todo.again - now, 0.001))


async def _delete(ctx: Context, pod: Pod) -> None:
    if tracked(pod):
        await ctx.writer.remove_finalizer(POD, pod, TRACKING)
    await ctx.writer.delete_unless_gone(POD, pod, propagation="Background")


async def release_orphan(ctx: Context, key: Key) -> Again | None:
    """A tracked pod whose Job is gone or gives it up is nobody's to count."""
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or TRACKING not in pod.metadata.finalizers:
        return None
    owning = pod.metadata.controller
    job = ctx.read.get(JOB, owning.name, pod.namespace) if owning is not None and owning.kind == "Job" else None
    if job is None or job.uid != (owning.uid if owning else "") or job.metadata.deleting:
        await ctx.writer.remove_finalizer(POD, pod, TRACKING)
    return None


def jobs() -> list[Controller]:
    return [
        Controller(
            "jobs",
            reconcile,
            watches=(Watch(JOB, itself), Watch(POD, owner(JOB))),
            indexes=((POD, WAITING, waiting_to_begin),),
        ),
        Controller(
            "job-orphans",
            release_orphan,
            watches=(
                Watch(
                    POD, itself, when=lambda before, after: after is not None and TRACKING in after.metadata.finalizers
                ),
                Watch(
                    JOB,
                    lambda job, read: [Key(pod.namespace, pod.name) for pod in read.owned(POD, job.uid)],
                    when=lambda before, after: after is None or after.metadata.deleting,
                ),
            ),
            workers=2,
        ),
    ]
