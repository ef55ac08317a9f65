"""Group policy v1: disruption budgets and evictions.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Eviction +meta
  deleteOptions DeleteOptions?
PodDisruptionBudget +meta
  spec PodDisruptionBudgetSpec; status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec
  minAvailable intstr?; selector LabelSelector?; maxUnavailable intstr?; unhealthyPodEvictionPolicy str?
PodDisruptionBudgetStatus
  observedGeneration int64; disruptedPods {time}; disruptionsAllowed int32!; currentHealthy int32!;
  desiredHealthy int32!; expectedPods int32!; conditions [Condition] by:type
"""
