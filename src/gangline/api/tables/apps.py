"""Group apps v1: workloads that keep pods running.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
ControllerRevision +meta
  data raw; revision int64!
DaemonSet +meta
  spec DaemonSetSpec; status DaemonSetStatus
DaemonSetCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
DaemonSetSpec
  selector LabelSelector?!; template PodTemplateSpec!; updateStrategy DaemonSetUpdateStrategy; minReadySeconds int32;
  revisionHistoryLimit int32?
DaemonSetStatus
  currentNumberScheduled int32!; numberMisscheduled int32!; desiredNumberScheduled int32!; numberReady int32!;
  observedGeneration int64; updatedNumberScheduled int32; numberAvailable int32; numberUnavailable int32;
  collisionCount int32?; conditions [DaemonSetCondition] by:type
DaemonSetUpdateStrategy
  type str; rollingUpdate RollingUpdateDaemonSet?
Deployment +meta
  spec DeploymentSpec; status DeploymentStatus
DeploymentCondition
  type str!; status str!; lastUpdateTime time; lastTransitionTime time; reason str; message str
DeploymentSpec
  replicas int32?; selector LabelSelector?!; template PodTemplateSpec!; strategy DeploymentStrategy retainKeys;
  minReadySeconds int32; revisionHistoryLimit int32?; paused bool; progressDeadlineSeconds int32?
DeploymentStatus
  observedGeneration int64; replicas int32; updatedReplicas int32; readyReplicas int32; availableReplicas int32;
  unavailableReplicas int32; terminatingReplicas int32?; conditions [DeploymentCondition] by:type;
  collisionCount int32?
DeploymentStrategy
  type str; rollingUpdate RollingUpdateDeployment?
ReplicaSet +meta
  spec ReplicaSetSpec; status ReplicaSetStatus
ReplicaSetCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
ReplicaSetSpec
  replicas int32?; minReadySeconds int32; selector LabelSelector?!; template PodTemplateSpec
ReplicaSetStatus
  replicas int32!; fullyLabeledReplicas int32; readyReplicas int32; availableReplicas int32;
  terminatingReplicas int32?; observedGeneration int64; conditions [ReplicaSetCondition] by:type
RollingUpdateDaemonSet
  maxUnavailable intstr?; maxSurge intstr?
RollingUpdateDeployment
  maxUnavailable intstr?; maxSurge intstr?
RollingUpdateStatefulSetStrategy
  partition int32?; maxUnavailable intstr?
StatefulSet +meta
  spec StatefulSetSpec; status StatefulSetStatus
StatefulSetCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
StatefulSetOrdinals
  start int32! opt
StatefulSetPersistentVolumeClaimRetentionPolicy
  whenDeleted str; whenScaled str
StatefulSetSpec
  replicas int32?; selector LabelSelector?!; template PodTemplateSpec!;
  volumeClaimTemplates [PersistentVolumeClaim] atomic; serviceName str! opt; podManagementPolicy str;
  updateStrategy StatefulSetUpdateStrategy; revisionHistoryLimit int32?; minReadySeconds int32;
  persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy?; ordinals StatefulSetOrdinals?
StatefulSetStatus
  observedGeneration int64; replicas int32!; readyReplicas int32; currentReplicas int32; updatedReplicas int32;
  currentRevision str; updateRevision str; collisionCount int32?; conditions [StatefulSetCondition] by:type;
  availableReplicas int32! opt
StatefulSetUpdateStrategy
  type str; rollingUpdate RollingUpdateStatefulSetStrategy?
"""
