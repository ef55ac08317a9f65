"""Group scheduling.k8s.io v1beta1: the Workload API of kube-scheduler 1.37; v1alpha3 has the same kinds and one more.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
BasicSchedulingPolicy
CompositePodGroup +meta
  spec CompositePodGroupSpec!; status CompositePodGroupStatus~
CompositePodGroupSchedulingPolicy
  basic BasicSchedulingPolicy?; gang CompositeGangSchedulingPolicy?
CompositeGangSchedulingPolicy
  minGroupCount int32!
CompositePodGroupSpec
  workloadRef WorkloadReference?; parentCompositePodGroupName str?; schedulingPolicy CompositePodGroupSchedulingPolicy!;
  schedulingConstraints PodGroupSchedulingConstraints?; disruptionMode DisruptionMode?; priorityClassName str;
  priority int32?;
  preemptionPolicy str?
CompositePodGroupStatus
  conditions [Condition] map:type
CompositePodGroupTemplate
  name str!; schedulingPolicy CompositePodGroupSchedulingPolicy!; schedulingConstraints PodGroupSchedulingConstraints?;
  disruptionMode DisruptionMode?; priorityClassName str; priority int32?; preemptionPolicy str?;
  podGroupTemplates [PodGroupTemplate] map:name; compositePodGroupTemplates [CompositePodGroupTemplate] map:name
DisruptionMode
  single DisruptionModeSingle?; all DisruptionModeAll?
DisruptionModeAll
DisruptionModeSingle
GangSchedulingPolicy
  minCount int32!
PodGroup +meta
  spec PodGroupSpec!; status PodGroupStatus~
PodGroupResourceClaim
  name str!; resourceClaimName str?; resourceClaimTemplateName str?
PodGroupResourceClaimStatus
  name str!; resourceClaimName str?
PodGroupSchedulingConstraints
  topology [TopologyConstraint] atomic
PodGroupSchedulingPolicy
  basic BasicSchedulingPolicy?; gang GangSchedulingPolicy?
PodGroupSpec
  workloadRef WorkloadReference?; parentCompositePodGroupName str?; schedulingPolicy PodGroupSchedulingPolicy!;
  schedulingConstraints PodGroupSchedulingConstraints?; resourceClaims [PodGroupResourceClaim] map:name;
  disruptionMode DisruptionMode?; priorityClassName str; priority int32?; preemptionPolicy str?
PodGroupStatus
  conditions [Condition] map:type; resourceClaimStatuses [PodGroupResourceClaimStatus] map:name
PodGroupTemplate
  name str!; schedulingPolicy PodGroupSchedulingPolicy!; schedulingConstraints PodGroupSchedulingConstraints?! opt;
  resourceClaims [PodGroupResourceClaim] map:name; disruptionMode DisruptionMode?; priorityClassName str;
  priority int32?;
  preemptionPolicy str?
TopologyConstraint
  key str!
TypedLocalObjectReference
  apiGroup str; kind str!; name str!
Workload +meta
  spec WorkloadSpec!
WorkloadReference
  workloadName str!; templateName str!
WorkloadSpec
  controllerRef TypedLocalObjectReference?; podGroupTemplates [PodGroupTemplate]! opt map:name;
  compositePodGroupTemplates [CompositePodGroupTemplate] map:name
"""
