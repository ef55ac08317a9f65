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
    """Native by default; a field's metadata says which compat switches it on."""

    one_gate: bool = field(default=False, metadata={"compat": GROVE})
    """Pods of every backend wait behind Grove's gate `grove.io/podgang-pending-creation`. By default, each backend
    has its own gate."""
    group_named_like_gang: bool = field(default=False, metadata={"compat": GROVE})
    """The KAI PodGroup of a PodGang has the name of the PodGang. By default, its name is `pg-<podgang>-<uid>`."""
    queue_mandatory: bool = field(default=False, metadata={"compat": GROVE})
    """A set for KAI without a queue is refused. By default, it goes to `default-queue`."""
    keeps_non_preemptible_status: bool = field(default=False, metadata={"compat": KAI})
    """A PodGroup that becomes preemptible keeps its last `allocatedNonPreemptible`. By default, the value is
    removed."""
    fraction_counts_one_device: bool = field(default=False, metadata={"compat": KAI})
    """If a pod holds parts of several shared GPUs, only one of them is counted. By default, all are counted."""
    gpu_memory_unasked: bool = field(default=False, metadata={"compat": KAI})
    """If a pod requests a GPU by memory, the GPU is not counted as requested. By default, it is counted once the pod
    holds it."""
    tells_every_bind: bool = field(default=False, metadata={"compat": KAI})
    """The binder writes the condition `PodBound` and an event for every bind that succeeded. By default, only if an
    earlier try of the same bind failed."""
    stamps_every_start: bool = field(default=False, metadata={"compat": KAI})
    """The start time of a gang is always written on its PodGroup. By default, only if a queue protects gangs by run
    time."""
    marks_every_pod: bool = field(default=False, metadata={"compat": KAI})
    """The grouper annotates each pod with its group at once. By default, the bind does this where the group is known
    without the annotation."""
    request_per_pod: bool = field(default=False, metadata={"compat": KAI})
    """Each placed pod has a BindRequest, which stays as long as the pod, and an event `Scheduled`. By default, there
    is one of each per gang."""
    evictions_unmarked: bool = field(default=False, metadata={"compat": KAI})
    """An evicted pod gets the condition `DisruptionTarget` only with the flag `update-pod-eviction-condition`, and
    its PodGroup gets no note. By default, both are written."""
    gate_by_listing: bool = field(default=False, metadata={"compat": GROVE})
    """The gate of a pod is lifted as soon as its PodGang lists the pod. By default, when the gang is complete and
    translated."""
    count_terminating: bool = field(default=False, metadata={"compat": GROVE})
    """Pods that are being deleted count as ready and scheduled. By default, they do not count."""
    count_after_complete: bool = field(default=False, metadata={"compat": GROVE})
    """A new clique outside of scaling groups counts its pods only after its gang was complete once. By default, it
    always counts them."""
    failed_member_is_fine: bool = field(default=False, metadata={"compat": GROVE})
    """A clique that failed before it had any condition does not break the minimum of its scaling group. By default,
    such a clique does not count as healthy."""
    marks_unheard: bool = field(default=False, metadata={"compat": GROVE})
    """Changed labels and annotations of a set take effect with the next change of its spec or of its trigger. By
    default, at once."""
    groups_hear_updates: bool = field(default=False, metadata={"compat": GROVE})
    """A scaling group reacts to its set only while the set is updated, and its cliques react only to the group. By
    default, both react to every change."""
    errors_linger: bool = field(default=False, metadata={"compat": GROVE})
    """`lastErrors` of a scaling group, and of a clique outside of groups, stay after success until the next error.
    By default, they are cleared."""
    plain_conditions: bool = field(default=False, metadata={"compat": GROVE})
    """PodCliques have only the conditions of Grove. By default, they also have one that says why gates still hold."""
    keep_services: bool = field(default=False, metadata={"compat": GROVE})
    """Headless services of removed set replicas stay until the set is deleted. By default, they are deleted with
    their replica."""
    keep_compute_domains: bool = field(default=False, metadata={"compat": GROVE})
    """ComputeDomains stay when a set no longer needs them. By default, they are deleted."""
    token_first: bool = field(default=False, metadata={"compat": GROVE})
    """No PodClique is created before the token of the init container exists. By default, only cliques that wait for
    another clique need it."""
    priority_on_gang_only: bool = field(default=False, metadata={"compat": GROVE})
    """The `priorityClassName` of a set goes only to the PodGang. By default, the pods get it, too."""
    metadata_with_spec: bool = field(default=False, metadata={"compat": GROVE})
    """Changed labels of a gang reach the object of the scheduler only when the spec changes, and removed labels
    never. By default, at once."""
    skip_note_lingers: bool = field(default=False, metadata={"compat": GROVE})
    """If the last change of a gang for KAI only removed pods, its PodGang has the annotation
    `kai.scheduler/skip-podgrouper`, as with Grove. By default, it never has."""
    topology_for_kai_only: bool = field(default=False, metadata={"compat": GROVE})
    """The backends `volcano` and `passthrough` refuse every topology constraint, and `default` ignores it. By
    default, each backend passes on what its scheduler can do."""
    profiles_only: bool = field(default=False, metadata={"compat": GROVE})
    """A `schedulerName` without a profile is refused. By default, the backend that knows the name serves it."""
    queue_set_once: bool = field(default=False, metadata={"compat": GROVE})
    """If the queue of a set changes, existing PodGroups keep theirs. By default, they move to the new queue."""
    staleness_unset: bool = field(default=False, metadata={"compat": GROVE})
    """The KAI PodGroup of a PodGang has no staleness grace period. By default, it has the termination delay of the
    set, or a period that never ends where the operator may end a part of the gang."""
    backend_stays: bool = field(default=False, metadata={"compat": GROVE})
    """The backend of a set can never be changed, and pods do not have its name. By default, it can be changed while
    no pod of the set is bound."""
    gates_replaced: bool = field(default=False, metadata={"compat": GROVE})
    """Scheduling gates in a pod template are dropped. By default, they are kept beside those of the operator."""
    zero_minimum_refused: bool = field(default=False, metadata={"compat": GROVE})
    """A clique or scaling group with `minAvailable: 0` is refused. By default, it is allowed if the rest of the gang
    keeps a minimum."""
    lone_clique_unnamed_refused: bool = field(default=False, metadata={"compat": GROVE})
    """The only clique of a set must have a name. By default, it is called `main` if it has none."""
    unnamed_roles_collide: bool = field(default=False, metadata={"compat": GROVE})
    """Two cliques without a `roleName` are refused as duplicates. By default, they have no role."""
    failed_pods_stay: bool = field(default=False, metadata={"compat": GROVE})
    """A failed pod stays and counts as scheduled. By default, it is replaced, after pauses that grow."""
    translations_unmarked: bool = field(default=False, metadata={"compat": GROVE})
    """The object of a scheduler has only the labels of Grove. By default, labels also say who created it, for which
    set and with which backend."""
    unknown_priority_hides: bool = field(default=False, metadata={"compat": KAI})
    """If an owner names a priority class that does not exist, the priority class of the pod is ignored, too. By
    default, the one of the pod is used."""
    empty_queue_counts: bool = field(default=False, metadata={"compat": KAI})
    """An empty queue label means a queue with an empty name. By default, it counts as no label."""
    membership_copied: bool = field(default=False, metadata={"compat": KAI})
    """A group that is named after a pod copies the annotation `pod-group-name` of the pod. By default, it does not."""
    gang_ignores_set: bool = field(default=False, metadata={"compat": KAI})
    """The queue and the staleness grace period of a PodCliqueSet do not reach the group of its PodGang. By default,
    they do."""
    revision_only: bool = field(default=False, metadata={"compat": KAI})
    """The group of a Knative service takes only queue and priority, and only from its revision. By default, it takes
    all settings, from the revision and the service."""
    ray_suspended_only: bool = field(default=False, metadata={"compat": KAI})
    """Only `suspended` takes a worker group of a RayCluster out of the gang. By default, `suspend`, which is
    KubeRay's own field, does so, too."""
    launcher_by_role_only: bool = field(default=False, metadata={"compat": KAI})
    """An MPI launcher is recognized only by its label `job-role`. By default, by `replica-type`, too."""
    waiting_leader_refused: bool = field(default=False, metadata={"compat": KAI})
    """A segmented LeaderWorkerSet with the start policy LeaderReady never groups its first leader, so it does not
    start. By default, the leader starts alone."""
    lone_segment_needs_one_more: bool = field(default=False, metadata={"compat": KAI})
    """A LeaderWorkerSet with exactly one segment requires one pod more than it has. By default, it requires the pods
    that it has."""
    skipped_owner_unheard: bool = field(default=False, metadata={"compat": KAI})
    """Priority, preemptibility and delays of a skipped owner do not reach the workload below it. By default, they
    do."""
    below_skipped_exact: bool = field(default=False, metadata={"compat": KAI})
    """Below a skipped owner, a kind is recognized only in its exact version, and never by a Karta. By default, as
    anywhere else."""
    skipped_defaults_verbatim: bool = field(default=False, metadata={"compat": KAI})
    """The default preemptibility of a skipped kind is case-sensitive, so `Preemptible` is invalid. By default, case
    does not matter."""
    lost_owner_warns: bool = field(default=False, metadata={"compat": KAI})
    """A grouped pod whose owner was deleted gets a Warning event, and the grouper tries again. By default, it leaves
    the pod alone."""
    regroups_on_pod_events_only: bool = field(default=False, metadata={"compat": KAI})
    """A deleted PodGroup is created again at the next event of a pod. By default, at once."""
    fraction_needs_name: bool = field(default=False, metadata={"compat": KAI})
    """A pod that requests a part of a GPU and has only a `generateName` is refused. By default, the objects for the
    share are named after it."""
    blocked_source_kept: bool = field(default=False, metadata={"compat": KAI})
    """`valueFrom` of a hidden device variable stays, which makes the pod invalid. By default, the value `void`
    replaces it."""
    zero_gpu_limit_counts: bool = field(default=False, metadata={"compat": KAI})
    """A limit of 0 whole GPUs excludes a part of a GPU, as a limit above 0 does. By default, a limit of 0 does not."""
    queue_delete_unchecked: bool = field(default=False, metadata={"compat": KAI})
    """A queue that has queues below it may be deleted. By default, this is refused."""
    every_pod_event_counts: bool = field(default=False, metadata={"compat": KAI})
    """The grouper reacts to every event of a pod. By default, only to those that can change its group."""
    last_applied_copied: bool = field(default=False, metadata={"compat": KAI})
    """A group copies the annotation `last-applied-configuration` of its workload. By default, it does not."""
    foreign_groups_ignored: bool = field(default=False, metadata={"compat": KAI})
    """A pod that somebody put into a group that no grouper created is taken out of it, unless the pod asks to be
    left alone. By default, it stays."""
    queued_pods_left: bool = field(default=False, metadata={"compat": KAI})
    """A pod that names a queue and no scheduler never gets ours. By default, it does where its namespace or a
    setting says so."""
    group_conditions_unwritten: bool = field(default=False, metadata={"compat": KAI})
    """`status.conditions` of a PodGroup stay empty. By default, they say its phase and whether its minimum is
    scheduled."""
    conditions_of_several_lines: bool = field(default=False, metadata={"compat": KAI})
    """The scheduling condition of a PodGroup has one line per reason. By default, it is one line, which fits into a
    column of `kubectl get`."""
    decides_as_upstream: bool = field(default=False, metadata={"compat": KAI})
    """GPU pods go to the fullest node, no gang reserves a start time, and evictions cost nothing. By default, GPU
    pods go where they leave the fewest fragments, large gangs reserve a start time, and an eviction has a cost."""
    one_scheduler_name: bool = field(default=False, metadata={"compat": KAI})
    """The scheduler half serves only pods of `kai-scheduler`, unless other names are configured. By default, it also
    serves those of `grove-scheduler`."""


def manner(compat: Iterable[str] = ()) -> Manner:
    """The manner for the upstream systems that are to be imitated."""
    wanted = set(compat)
    unknown = sorted(wanted - {GROVE, KAI})
    if unknown:
        raise ConfigError(f"compat knows {GROVE} and {KAI}, not {', '.join(unknown)}")
    return replace(Manner(), **{item.name: True for item in fields(Manner) if item.metadata["compat"] in wanted})


NATIVE = Manner()
