"""Which rules belong to which built-in kind: one line per kind."""

from __future__ import annotations

from gangline.api import notation
from gangline.cluster.kinds.admin import config, definitions, events, limits, policies, rbac, webhooks
from gangline.cluster.kinds.networking import endpoints, network, services
from gangline.cluster.kinds.pods import pods
from gangline.cluster.kinds.rules import KindRules, StatusRules
from gangline.cluster.kinds.scheduling import devices, pod_groups, policy, resource_slices, workload_v1alpha1
from gangline.cluster.kinds.storage import storage, volumes
from gangline.cluster.kinds.workloads import autoscalers, cron_jobs, daemon_sets, jobs, stateful_sets, workloads

GROUPS: dict[tuple[str, str], str] = {
    ("", "v1"): "core",
    ("apps", "v1"): "apps",
    ("batch", "v1"): "batch",
    ("autoscaling", "v2"): "autoscaling",
    ("autoscaling", "v1"): "autoscaling_v1",
    ("policy", "v1"): "policy",
    ("rbac.authorization.k8s.io", "v1"): "rbac",
    ("coordination.k8s.io", "v1"): "coordination",
    ("events.k8s.io", "v1"): "events",
    ("scheduling.k8s.io", "v1"): "scheduling",
    ("scheduling.k8s.io", "v1alpha1"): "scheduling_v1alpha1",
    ("scheduling.k8s.io", "v1alpha2"): "scheduling_v1alpha2",
    ("scheduling.k8s.io", "v1beta1"): "scheduling_v1beta1",
    ("scheduling.k8s.io", "v1alpha3"): "scheduling_v1alpha3",
    ("resource.k8s.io", "v1"): "resource",
    ("storage.k8s.io", "v1"): "storage",
    ("networking.k8s.io", "v1"): "networking",
    ("admissionregistration.k8s.io", "v1"): "admissionregistration",
    ("apiextensions.k8s.io", "v1"): "apiextensions",
    ("apiregistration.k8s.io", "v1"): "apiregistration",
    ("authentication.k8s.io", "v1"): "authentication",
    ("authorization.k8s.io", "v1"): "authorization",
    ("discovery.k8s.io", "v1"): "discovery",
    ("node.k8s.io", "v1"): "node",
}

_RULES: dict[tuple[str, str], type[KindRules]] = {
    ("core", "Pod"): pods.PodRules,
    ("core", "PodTemplate"): workloads.PodTemplateRules,
    ("core", "ReplicationController"): workloads.ControllerRules,
    ("core", "Service"): services.ServiceRules,
    ("core", "Endpoints"): endpoints.EndpointsRules,
    ("core", "ConfigMap"): config.ConfigMapRules,
    ("core", "Secret"): config.SecretRules,
    ("core", "Namespace"): config.NamespaceRules,
    ("core", "Node"): config.NodeRules,
    ("core", "LimitRange"): limits.LimitRangeRules,
    ("core", "ResourceQuota"): limits.QuotaRules,
    ("core", "Event"): events.EventRules,
    ("events", "Event"): events.NewEventRules,
    ("core", "PersistentVolume"): volumes.VolumeRules,
    ("core", "PersistentVolumeClaim"): volumes.VolumeClaimRules,
    ("apps", "Deployment"): workloads.DeploymentRules,
    ("apps", "ReplicaSet"): workloads.ReplicaSetRules,
    ("apps", "StatefulSet"): stateful_sets.StatefulSetRules,
    ("apps", "DaemonSet"): daemon_sets.DaemonSetRules,
    ("apps", "ControllerRevision"): workloads.RevisionRules,
    ("batch", "Job"): jobs.JobRules,
    ("batch", "CronJob"): cron_jobs.CronJobRules,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscalers.AutoscalerRules,
    ("autoscaling_v1", "HorizontalPodAutoscaler"): autoscalers.OldAutoscalerRules,
    ("policy", "PodDisruptionBudget"): policy.BudgetRules,
    ("scheduling", "PriorityClass"): policy.PriorityClassRules,
    ("scheduling_v1alpha1", "Workload"): workload_v1alpha1.WorkloadApiRules,
    ("scheduling_v1alpha2", "Workload"): pod_groups.TemplatesRules,
    ("scheduling_v1alpha2", "PodGroup"): pod_groups.GroupRules,
    ("scheduling_v1beta1", "Workload"): pod_groups.TreeRules,
    ("scheduling_v1beta1", "PodGroup"): pod_groups.NewGroupRules,
    ("scheduling_v1alpha3", "Workload"): pod_groups.TreeRules,
    ("scheduling_v1alpha3", "PodGroup"): pod_groups.NewGroupRules,
    ("scheduling_v1alpha3", "CompositePodGroup"): pod_groups.CompositeRules,
    ("node", "RuntimeClass"): policy.RuntimeClassRules,
    ("coordination", "Lease"): policy.LeaseRules,
    ("rbac", "Role"): rbac.RoleRules,
    ("rbac", "ClusterRole"): rbac.RoleRules,
    ("rbac", "RoleBinding"): rbac.BindingRules,
    ("rbac", "ClusterRoleBinding"): rbac.BindingRules,
    ("resource", "ResourceClaim"): devices.ResourceClaimRules,
    ("resource", "ResourceClaimTemplate"): devices.TemplateRules,
    ("resource", "DeviceClass"): devices.ClassRules,
    ("resource", "ResourceSlice"): resource_slices.SliceRules,
    ("storage", "StorageClass"): storage.StorageClassRules,
    ("storage", "CSIStorageCapacity"): storage.CapacityRules,
    ("storage", "CSINode"): storage.CsiNodeRules,
    ("storage", "CSIDriver"): storage.CsiDriverRules,
    ("discovery", "EndpointSlice"): endpoints.EndpointSliceRules,
    ("storage", "VolumeAttributesClass"): storage.AttributesRules,
    ("storage", "VolumeAttachment"): storage.AttachmentRules,
    ("apiregistration", "APIService"): StatusRules,
    ("networking", "ServiceCIDR"): StatusRules,
    ("networking", "IngressClass"): network.IngressClassRules,
    ("networking", "NetworkPolicy"): network.NetworkPolicyRules,
    ("networking", "Ingress"): network.IngressRules,
    ("admissionregistration", "ValidatingWebhookConfiguration"): webhooks.WebhookRules,
    ("admissionregistration", "MutatingWebhookConfiguration"): webhooks.WebhookRules,
    ("admissionregistration", "ValidatingAdmissionPolicy"): policies.PolicyRules,
    ("admissionregistration", "ValidatingAdmissionPolicyBinding"): policies.PolicyBindingRules,
    ("apiextensions", "CustomResourceDefinition"): definitions.DefinitionRules,
}
_made: dict[tuple[str, str], KindRules] = {}


def lookup(group: str, version: str, kind: str) -> KindRules:
    table = GROUPS.get((group, version))
    if table is None or kind not in notation.names(table):
        raise LookupError(f"{kind} is not a built-in kind of {group or 'core'}/{version}")
    known = _made.get((table, kind))
    if known is None:
        known = _made[table, kind] = _RULES.get((table, kind), KindRules)(table, kind)
    return known
