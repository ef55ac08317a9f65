"""Group autoscaling v2.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
ContainerResourceMetricSource
  name str!; target MetricTarget!; container str!
ContainerResourceMetricStatus
  name str!; current MetricValueStatus!; container str!
CrossVersionObjectReference
  kind str!; name str!; apiVersion str
ExternalMetricSource
  metric MetricIdentifier!; target MetricTarget!
ExternalMetricStatus
  metric MetricIdentifier!; current MetricValueStatus!
HPAScalingPolicy
  type str!; value int32!; periodSeconds int32!
HPAScalingRules
  stabilizationWindowSeconds int32?; selectPolicy str?; policies [HPAScalingPolicy] atomic; tolerance quantity?
HorizontalPodAutoscaler +meta
  spec HorizontalPodAutoscalerSpec; status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior
  scaleUp HPAScalingRules?; scaleDown HPAScalingRules?
HorizontalPodAutoscalerCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
HorizontalPodAutoscalerSpec
  scaleTargetRef CrossVersionObjectReference!; minReplicas int32?; maxReplicas int32!; metrics [MetricSpec] atomic;
  behavior HorizontalPodAutoscalerBehavior?
HorizontalPodAutoscalerStatus
  observedGeneration int64?; lastScaleTime time?; currentReplicas int32; desiredReplicas int32!;
  currentMetrics [MetricStatus]! opt atomic; conditions [HorizontalPodAutoscalerCondition] by:type
MetricIdentifier
  name str!; selector LabelSelector?
MetricSpec
  type str!; object ObjectMetricSource?; pods PodsMetricSource?; resource ResourceMetricSource?;
  containerResource ContainerResourceMetricSource?; external ExternalMetricSource?
MetricStatus
  type str!; object ObjectMetricStatus?; pods PodsMetricStatus?; resource ResourceMetricStatus?;
  containerResource ContainerResourceMetricStatus?; external ExternalMetricStatus?
MetricTarget
  type str!; value quantity?; averageValue quantity?; averageUtilization int32?
MetricValueStatus
  value quantity?; averageValue quantity?; averageUtilization int32?
ObjectMetricSource
  describedObject CrossVersionObjectReference!; target MetricTarget!; metric MetricIdentifier!
ObjectMetricStatus
  metric MetricIdentifier!; current MetricValueStatus!; describedObject CrossVersionObjectReference!
PodsMetricSource
  metric MetricIdentifier!; target MetricTarget!
PodsMetricStatus
  metric MetricIdentifier!; current MetricValueStatus!
ResourceMetricSource
  name str!; target MetricTarget!
ResourceMetricStatus
  name str!; current MetricValueStatus!
"""
