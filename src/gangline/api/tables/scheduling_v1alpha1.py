"""Group scheduling.k8s.io v1alpha1: the Workload API of kube-scheduler.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
BasicSchedulingPolicy
GangSchedulingPolicy
  minCount int32!
PodGroup
  name str!; policy PodGroupPolicy!
PodGroupPolicy
  basic BasicSchedulingPolicy?; gang GangSchedulingPolicy?
TypedLocalObjectReference
  apiGroup str; kind str!; name str!
Workload +meta
  spec WorkloadSpec!
WorkloadSpec
  controllerRef TypedLocalObjectReference?; podGroups [PodGroup]! map:name
"""
