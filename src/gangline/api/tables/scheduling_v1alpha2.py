"""Group scheduling.k8s.io v1alpha2: the Workload API of kube-scheduler 1.36.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
BasicSchedulingPolicy
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
  podGroupTemplateRef PodGroupTemplateReference?! opt; schedulingPolicy PodGroupSchedulingPolicy!;
  schedulingConstraints PodGroupSchedulingConstraints?; resourceClaims [PodGroupResourceClaim] map:name;
  disruptionMode str?;
  priorityClassName str; priority int32?
PodGroupStatus
  conditions [Condition] map:type; resourceClaimStatuses [PodGroupResourceClaimStatus] map:name
PodGroupTemplate
  name str!; schedulingPolicy PodGroupSchedulingPolicy!; schedulingConstraints PodGroupSchedulingConstraints?! opt;
  resourceClaims [PodGroupResourceClaim] map:name; disruptionMode str?; priorityClassName str; priority int32?
PodGroupTemplateReference
  workload WorkloadPodGroupTemplateReference?! opt
TopologyConstraint
  key str!
TypedLocalObjectReference
  apiGroup str; kind str!; name str!
Workload +meta
  spec WorkloadSpec!
WorkloadPodGroupTemplateReference
  workloadName str!; podGroupTemplateName str!
WorkloadSpec
  controllerRef TypedLocalObjectReference?; podGroupTemplates [PodGroupTemplate]! map:name
"""
