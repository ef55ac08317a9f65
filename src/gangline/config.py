"""Settings that several components share, each typed, with its default and its meaning in one line.

`Manner` holds every deliberate difference between gangline's own way (native) and upstream's (`compat: grove`, `compat:
kai`): one named setting each, listed in docs/compat.md and tested both ways. Settings of a single component stand in
that component's settings.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace

from gangline.errors import ConfigError

GROVE, KAI = "grove", "kai"


@dataclass(frozen=True, slots=True)
class Manner:
    """Native unless said otherwise; a field's metadata says which compat switches it on."""

    one_gate: bool = field(default=False, metadata={"compat": GROVE})
    """Every backend's pods wait behind Grove's gate `grove.io/podgang-pending-creation` instead of the backend's
    own."""
    group_named_like_gang: bool = field(default=False, metadata={"compat": GROVE})
    """The KAI PodGroup of a PodGang carries the PodGang's name instead of `pg-<podgang>-<uid>`."""
    queue_mandatory: bool = field(default=False, metadata={"compat": GROVE})
    """A set for KAI without a queue is refused instead of going to `default-queue`."""
    keeps_non_preemptible_status: bool = field(default=False, metadata={"compat": KAI})
    """A PodGroup that turns preemptible keeps its last `allocatedNonPreemptible` instead of losing it."""
    fraction_counts_one_device: bool = field(default=False, metadata={"compat": KAI})
    """What a pod on several shared GPUs holds is counted for one of them only."""
    tells_every_bind: bool = field(default=False, metadata={"compat": KAI})
    """The binder writes condition `PodBound` and an event for binds that went well, too."""
    stamps_every_start: bool = field(default=False, metadata={"compat": KAI})
    """When a gang started is written on its PodGroup always, instead of only where some queue protects by run time."""
    marks_every_pod: bool = field(default=False, metadata={"compat": KAI})
    """The grouper marks each pod as a member of its group at once, instead of leaving that to the bind where the group
    is known without."""
    request_per_pod: bool = field(default=False, metadata={"compat": KAI})
    """Each placed pod has a BindRequest that stays as long as the pod, and an event `Scheduled`, instead of one of each
    per gang."""
    evictions_unmarked: bool = field(default=False, metadata={"compat": KAI})
    """An evicted pod gets `DisruptionTarget` only with flag `update-pod-eviction-condition`, and its PodGroup no note,
    instead of both."""
    gate_by_listing: bool = field(default=False, metadata={"compat": GROVE})
    """A pod's gate is lifted as soon as its gang lists the pod, instead of when the gang is complete and translated."""
    count_terminating: bool = field(default=False, metadata={"compat": GROVE})
    """Pods on their way out still count as ready and scheduled, instead of being gone."""
    count_after_complete: bool = field(default=False, metadata={"compat": GROVE})
    """A new clique outside of groups counts its pods only once its gang was complete once, instead of always."""
    failed_member_is_fine: bool = field(default=False, metadata={"compat": GROVE})
    """A clique that failed before it had any condition breaks no minimum of its scaling group, instead of being in
    doubt."""
    marks_unheard: bool = field(default=False, metadata={"compat": GROVE})
    """Changed labels and annotations of a set count from the next change of its spec or trigger on, instead of at
    once."""
    groups_hear_updates: bool = field(default=False, metadata={"compat": GROVE})
    """A group looks again for its set only while that is updated, and its cliques only for the group, instead of at
    every change."""
    errors_linger: bool = field(default=False, metadata={"compat": GROVE})
    """lastErrors of a group, and of a clique outside of groups, stay after success until another error, instead of
    being cleared."""
    plain_conditions: bool = field(default=False, metadata={"compat": GROVE})
    """PodCliques carry upstream's conditions only, instead of also one that says why gates still hold."""
    keep_services: bool = field(default=False, metadata={"compat": GROVE})
    """Headless services of removed set replicas stay until the set is deleted, instead of going with their replica."""
    keep_compute_domains: bool = field(default=False, metadata={"compat": GROVE})
    """ComputeDomains stay when a set no longer needs any, instead of being removed."""
    token_first: bool = field(default=False, metadata={"compat": GROVE})
    """No PodClique before the init container's token exists, instead of only where a clique waits for another."""
    priority_on_gang_only: bool = field(default=False, metadata={"compat": GROVE})
    """priorityClassName of a set reaches only the PodGang, instead of the pods too."""
    metadata_with_spec: bool = field(default=False, metadata={"compat": GROVE})
    """Changed labels of a gang reach the scheduler's object only with a changed spec, and removed ones never, instead
    of at once."""
    skip_note_lingers: bool = field(default=False, metadata={"compat": GROVE})
    """A gang for KAI that only lost pods carries `kai.scheduler/skip-podgrouper` itself, as upstream leaves it, instead
    of never."""
    topology_for_kai_only: bool = field(default=False, metadata={"compat": GROVE})
    """Volcano and pass-through refuse every topology constraint and the default scheduler ignores it, instead of
    passing on what can be."""
    profiles_only: bool = field(default=False, metadata={"compat": GROVE})
    """A schedulerName without a profile is refused, instead of being served by the backend that knows the name."""
    queue_set_once: bool = field(default=False, metadata={"compat": GROVE})
    """A changed queue of a set reaches no PodGroup that is there, instead of moving it to that queue."""
    staleness_unset: bool = field(default=False, metadata={"compat": GROVE})
    """A PodGang's KAI PodGroup has no staleness grace, instead of the set's termination delay (never, where a part of
    the gang may end)."""
    backend_stays: bool = field(default=False, metadata={"compat": GROVE})
    """The backend of a set can never be changed, instead of while none of its pods is bound; pods do not carry its
    name."""
    gates_replaced: bool = field(default=False, metadata={"compat": GROVE})
    """Scheduling gates that a template names are dropped, instead of kept beside the operator's."""
    zero_minimum_refused: bool = field(default=False, metadata={"compat": GROVE})
    """A clique or scaling group with `minAvailable: 0` is refused, instead of allowed where the rest of the gang keeps
    a minimum."""
    lone_clique_unnamed_refused: bool = field(default=False, metadata={"compat": GROVE})
    """The only clique of a set must be given a name, instead of being called `main` without one."""
    unnamed_roles_collide: bool = field(default=False, metadata={"compat": GROVE})
    """Two cliques without a roleName are refused as duplicates, instead of simply having none."""
    failed_pods_stay: bool = field(default=False, metadata={"compat": GROVE})
    """A failed pod stays and still counts as scheduled, instead of being replaced, with longer and longer pauses."""
    translations_unmarked: bool = field(default=False, metadata={"compat": GROVE})
    """A scheduler's object carries upstream's labels only, instead of also who made it, for which set and by which
    backend."""
    unknown_priority_hides: bool = field(default=False, metadata={"compat": KAI})
    """A priority class on an owner that does not exist hides the pod's own, instead of being passed over."""
    empty_queue_counts: bool = field(default=False, metadata={"compat": KAI})
    """An empty queue label gives an empty queue, instead of counting as none."""
    membership_copied: bool = field(default=False, metadata={"compat": KAI})
    """A group named after a pod copies that pod's `pod-group-name` annotation, instead of leaving it out."""
    gang_ignores_set: bool = field(default=False, metadata={"compat": KAI})
    """Queue and staleness grace of a PodCliqueSet do not reach the group of its PodGang."""
    revision_only: bool = field(default=False, metadata={"compat": KAI})
    """A Knative group hears only queue and priority of its revision, instead of all it says and the service above
    it."""
    ray_suspended_only: bool = field(default=False, metadata={"compat": KAI})
    """Only `suspended` takes a Ray worker group out of the gang, instead of also KubeRay's own `suspend`."""
    launcher_by_role_only: bool = field(default=False, metadata={"compat": KAI})
    """An MPI launcher is known by its `job-role` label only, instead of also by `replica-type`."""
    waiting_leader_refused: bool = field(default=False, metadata={"compat": KAI})
    """A segmented LeaderWorkerSet with LeaderReady never groups its first leader, instead of starting it alone."""
    lone_segment_needs_one_more: bool = field(default=False, metadata={"compat": KAI})
    """A LeaderWorkerSet with exactly one segment asks for one pod more than it has."""
    skipped_owner_unheard: bool = field(default=False, metadata={"compat": KAI})
    """Priority, preemptibility and delays of a skipped owner do not reach the workload below it."""
    below_skipped_exact: bool = field(default=False, metadata={"compat": KAI})
    """Below a skipped owner a kind is known only by its exact version and never by a Karta."""
    skipped_defaults_verbatim: bool = field(default=False, metadata={"compat": KAI})
    """Default preemptibility of a skipped kind is taken letter by letter, so `Preemptible` is invalid."""
    lost_owner_warns: bool = field(default=False, metadata={"compat": KAI})
    """A grouped pod whose owner was deleted gets a Warning event and is tried again, instead of being left to go."""
    regroups_on_pod_events_only: bool = field(default=False, metadata={"compat": KAI})
    """A deleted PodGroup is made anew at the next event of a pod, instead of at once."""
    fraction_needs_name: bool = field(default=False, metadata={"compat": KAI})
    """A pod with a part of a GPU but only a generateName is refused, instead of being named after that."""
    blocked_source_kept: bool = field(default=False, metadata={"compat": KAI})
    """A `valueFrom` of a hidden device variable stays, which makes the pod invalid, instead of giving way to `void`."""
    zero_gpu_limit_counts: bool = field(default=False, metadata={"compat": KAI})
    """A limit of 0 whole GPUs excludes a part of a GPU, as a limit above 0 does."""
    queue_delete_unchecked: bool = field(default=False, metadata={"compat": KAI})
    """A queue with queues below it may be deleted."""
    every_pod_event_counts: bool = field(default=False, metadata={"compat": KAI})
    """Every event of a pod makes the grouper look again, instead of only those that may change its group."""
    last_applied_copied: bool = field(default=False, metadata={"compat": KAI})
    """A group copies what kubectl last applied to its workload, instead of leaving that out."""
    foreign_groups_ignored: bool = field(default=False, metadata={"compat": KAI})
    """A pod that somebody put into a group that no grouper made is taken out of it, unless it asks to be left alone."""
    queued_pods_left: bool = field(default=False, metadata={"compat": KAI})
    """A pod that names a queue and no scheduler is never given ours, instead of where its namespace or a setting says
    so."""
    group_conditions_unwritten: bool = field(default=False, metadata={"compat": KAI})
    """A PodGroup's `status.conditions` stay empty, instead of saying its phase and whether its minimum is scheduled."""
    conditions_of_several_lines: bool = field(default=False, metadata={"compat": KAI})
    """A PodGroup's scheduling condition has a line per reason, instead of one line that a column of `kubectl get` can
    show."""
    decides_as_upstream: bool = field(default=False, metadata={"compat": KAI})
    """GPU pods are packed on the fullest node, no gang reserves a start and evictions are free, instead of fewest
    fragments, reservations and a price."""
    one_scheduler_name: bool = field(default=False, metadata={"compat": KAI})
    """The scheduler half serves pods of `kai-scheduler` only, instead of those of `grove-scheduler` too, unless told
    other names."""


def manner(compat: Iterable[str] = ()) -> Manner:
    """The manner for the upstream systems that are to be imitated."""
    wanted = set(compat)
    unknown = sorted(wanted - {GROVE, KAI})
    if unknown:
        raise ConfigError(f"compat knows {GROVE} and {KAI}, not {', '.join(unknown)}")
    return replace(Manner(), **{item.name: True for item in fields(Manner) if item.metadata["compat"] in wanted})


NATIVE = Manner()
