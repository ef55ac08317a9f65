"""The workload half's own kinds: PodCliqueSet, PodClique, PodCliqueScalingGroup, ClusterTopologyBinding, and PodGang.

Wire-compatible with Grove. Pod specs stay plain data, so that a field we have never heard of reaches the pod.
"""

from __future__ import annotations

from gangline.api.kai import StartStatus
from gangline.api.meta import Condition, Model, Object, Raw


class Pack(Model, frozen=True):
    required: str | None = None
    preferred: str | None = None


class CliqueTopology(Model, frozen=True):
    """A topology constraint as a user writes it: level names of a ClusterTopologyBinding."""

    topology_name: str = ""
    pack: Pack | None = None
    pack_domain: str = ""


class ResourceSharing(Model, frozen=True):
    name: str = ""
    namespace: str = ""
    scope: str = ""
    filter: Raw | None = None


class AutoScaling(Model, frozen=True):
    max_replicas: int = 0
    min_replicas: int | None = None
    metrics: tuple[Raw, ...] = ()


class PodCliqueSpec(Model, frozen=True):
    role_name: str = ""
    pod_spec: Raw = {}
    replicas: int = 0
    min_available: int | None = None
    starts_after: tuple[str, ...] = ()
    auto_scaling_config: AutoScaling | None = None


class CliqueTemplate(Model, frozen=True):
    name: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    topology_constraint: CliqueTopology | None = None
    resource_sharing: tuple[ResourceSharing, ...] = ()
    spec: PodCliqueSpec = PodCliqueSpec()


class ScalingGroupConfig(Model, frozen=True):
    name: str = ""
    clique_names: tuple[str, ...] = ()
    annotations: dict[str, str] = {}
    replicas: int | None = None
    min_available: int | None = None
    scale_config: AutoScaling | None = None
    resource_sharing: tuple[ResourceSharing, ...] = ()
    topology_constraint: CliqueTopology | None = None


class HeadlessService(Model, frozen=True):
    publish_not_ready_addresses: bool = True


class SetTemplate(Model, frozen=True):
    cliques: tuple[CliqueTemplate, ...] = ()
    clique_startup_type: str = ""
    priority_class_name: str = ""
    headless_service_config: HeadlessService | None = None
    topology_constraint: CliqueTopology | None = None
    termination_delay: str | None = None
    resource_claim_templates: tuple[Raw, ...] = ()
    resource_sharing: tuple[ResourceSharing, ...] = ()
    pod_clique_scaling_groups: tuple[ScalingGroupConfig, ...] = ()


class UpdateStrategy(Model, frozen=True):
    type: str = ""


class SetSpec(Model, frozen=True):
    replicas: int = 0
    update_strategy: UpdateStrategy | None = None
    template: SetTemplate = SetTemplate()


class LastError(Model, frozen=True):
    code: str = ""
    description: str = ""
    observed_at: str | None = None


class SetStatus(Model, frozen=True):
    observed_generation: int | None = None
    conditions: tuple[Condition, ...] = ()
    last_errors: tuple[LastError, ...] = ()
    replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    hpa_pod_selector: str | None = None
    pod_gang_statuses: tuple[Raw, ...] = ()
    current_generation_hash: str | None = None
    update_progress: Raw | None = None


class PodCliqueSet(Object, frozen=True):
    spec: SetSpec = SetSpec()
    status: SetStatus = SetStatus()


class PodCliqueStatus(Model, frozen=True):
    observed_generation: int | None = None
    last_errors: tuple[LastError, ...] = ()
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    schedule_gated_replicas: int = 0
    scheduled_replicas: int = 0
    hpa_pod_selector: str | None = None
    conditions: tuple[Condition, ...] = ()
    current_pod_clique_set_generation_hash: str | None = None
    current_pod_template_hash: str | None = None
    update_progress: Raw | None = None


class PodClique(Object, frozen=True):
    spec: PodCliqueSpec = PodCliqueSpec()
    status: PodCliqueStatus = PodCliqueStatus()


class ScalingGroupSpec(Model, frozen=True):
    replicas: int = 0
    min_available: int | None = None
    clique_names: tuple[str, ...] = ()


class ScalingGroupStatus(Model, frozen=True):
    observed_generation: int | None = None
    last_errors: tuple[LastError, ...] = ()
    replicas: int = 0
    scheduled_replicas: int = 0
    available_replicas: int = 0
    updated_replicas: int = 0
    selector: str | None = None
    conditions: tuple[Condition, ...] = ()
    current_pod_clique_set_generation_hash: str | None = None
    update_progress: Raw | None = None


class PodCliqueScalingGroup(Object, frozen=True):
    spec: ScalingGroupSpec = ScalingGroupSpec()
    status: ScalingGroupStatus = ScalingGroupStatus()


class BindingLevel(Model, frozen=True):
    domain: str = ""
    key: str = ""


class BackendTopology(Model, frozen=True):
    scheduler_name: str = ""
    topology_reference: str = ""


class BindingSpec(Model, frozen=True):
    levels: tuple[BindingLevel, ...] = ()
    scheduler_topology_bindings: tuple[BackendTopology, ...] = ()


class BindingStatus(Model, frozen=True):
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()
    scheduler_topology_statuses: tuple[Raw, ...] = ()


class ClusterTopologyBinding(Object, frozen=True):
    spec: BindingSpec = BindingSpec()
    status: BindingStatus = BindingStatus()


class GangPack(Model, frozen=True):
    """Node label keys, already resolved from level names."""

    required: str | None = None
    preferred: str | None = None


class GangTopology(Model, frozen=True):
    pack_constraint: GangPack | None = None


class PodReference(Model, frozen=True):
    namespace: str
    name: str


class GangGroup(Model, frozen=True):
    name: str
    pod_references: tuple[PodReference, ...] = ()
    min_replicas: int = 0
    topology_constraint: GangTopology | None = None


class GroupOfGroups(Model, frozen=True):
    name: str = ""
    pod_group_names: tuple[str, ...] = ()
    topology_constraint: GangTopology | None = None


class GangSpec(Model, frozen=True):
    podgroups: tuple[GangGroup, ...] = ()
    topology_constraint: GangTopology | None = None
    topology_constraint_group_configs: tuple[GroupOfGroups, ...] = ()
    priority_class_name: str = ""
    reuse_reservation_ref: PodReference | None = None


class GangStatus(Model, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    placement_score: float | None = None
    start: StartStatus | None = None


class PodGang(Object, frozen=True):
    spec: GangSpec = GangSpec()
    status: GangStatus = GangStatus()
