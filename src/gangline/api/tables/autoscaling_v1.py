"""Group autoscaling v1: the older autoscaler view, and Scale.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
CrossVersionObjectReference atomic
  kind str!; name str!; apiVersion str
HorizontalPodAutoscaler +meta
  spec HorizontalPodAutoscalerSpec; status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec
  scaleTargetRef CrossVersionObjectReference!; minReplicas int32?; maxReplicas int32!;
  targetCPUUtilizationPercentage int32?
HorizontalPodAutoscalerStatus
  observedGeneration int64?; lastScaleTime time?; currentReplicas int32!; desiredReplicas int32!;
  currentCPUUtilizationPercentage int32?
Scale +meta
  spec ScaleSpec; status ScaleStatus
ScaleSpec
  replicas int32
ScaleStatus
  replicas int32!; selector str
"""
