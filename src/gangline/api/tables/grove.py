"""Groups grove.io and scheduler.grove.io v1alpha1: what a user writes, and the gangs made from it.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, checks.
"""

TABLE = """
PodCliqueSet +meta
  ! {"x-kubernetes-validations": [{"fieldPath": ".spec.template.topologyConstraint.packDomain", "message":
    "packDomain is deprecated and cannot be used on new workloads; use pack.required", "optionalOldSelf": true,
    "reason": "FieldValueForbidden", "rule": "oldSelf.hasValue() || !has(self.spec.template.topologyConstraint) ||
    !has(self.spec.template.topologyConstraint.packDomain)"}, {"fieldPath": ".spec.template.cliques", "message":
    "packDomain is deprecated and cannot be used on new workloads; use pack.required", "optionalOldSelf": true,
    "reason": "FieldValueForbidden", "rule": "oldSelf.hasValue() || !has(self.spec.template.cliques) ||
    self.spec.template.cliques.all(c, !has(c.topologyConstraint) || !has(c.topologyConstraint.packDomain))"},
    {"fieldPath": ".spec.template.podCliqueScalingGroups", "message": "packDomain is deprecated and cannot be used on
    new workloads; use pack.required", "optionalOldSelf": true, "reason": "FieldValueForbidden", "rule":
    "oldSelf.hasValue() || !has(self.spec.template.podCliqueScalingGroups) ||
    self.spec.template.podCliqueScalingGroups.all(g, !has(g.topologyConstraint) ||
    !has(g.topologyConstraint.packDomain))"}]}
  spec PodCliqueSetSpec!; status PodCliqueSetStatus
PodClique +meta
  spec PodCliqueSpec!; status PodCliqueStatus
PodCliqueScalingGroup +meta
  spec PodCliqueScalingGroupSpec!; status PodCliqueScalingGroupStatus
ClusterTopologyBinding +meta
  spec ClusterTopologyBindingSpec!; status ClusterTopologyBindingStatus
PodGang +meta
  spec PodGangSpec!; status PodGangStatus
ResourceSharing
  name str!; namespace str;
  scope str! {"enum": ["AllReplicas", "PerReplica"]}
AutoScalingConfig
  maxReplicas int32!; metrics [autoscaling.MetricSpec] atomic; minReplicas int32
PodCliqueSpec
  autoScalingConfig AutoScalingConfig; minAvailable int32; podSpec PodSpec!; replicas int32!; roleName str!;
  startsAfter [str]
Pack
  ! {"x-kubernetes-validations": [{"message": "pack must specify at least one of required or preferred", "reason":
    "FieldValueRequired", "rule": "has(self.required) || has(self.preferred)"}]}
  preferred str {"maxLength": 63, "minLength": 1, "pattern": "^[a-z][a-z0-9-]*$"}
  required str {"maxLength": 63, "minLength": 1, "pattern": "^[a-z][a-z0-9-]*$"}
TopologyConstraint
  ! {"x-kubernetes-validations": [{"fieldPath": ".pack", "message": "topologyConstraint must specify pack or
    deprecated packDomain", "reason": "FieldValueRequired", "rule": "has(self.pack) || has(self.packDomain)"},
    {"fieldPath": ".pack.required", "message": "must not set both pack.required and deprecated packDomain", "rule":
    "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))"}]}
  pack Pack;
  packDomain str {"maxLength": 63, "minLength": 1, "pattern": "^[a-z][a-z0-9-]*$"}
  topologyName str
PodCliqueTemplateSpec
  annotations {str}; labels {str}; name str!; resourceSharing [ResourceSharing]; spec PodCliqueSpec!;
  topologyConstraint TopologyConstraint
HeadlessServiceConfig
  publishNotReadyAddresses bool! =true
CliqueFilter
  childCliqueNames [str]
GroupResourceSharing
  filter CliqueFilter; name str!; namespace str;
  scope str! {"enum": ["AllReplicas", "PerReplica"]}
PodCliqueScalingGroupConfig
  annotations {str}; cliqueNames [str]!; minAvailable int32 =1; name str!; replicas int32 =1;
  resourceSharing [GroupResourceSharing]; scaleConfig AutoScalingConfig; topologyConstraint TopologyConstraint
ResourceClaimTemplate
  name str!; templateSpec resource.ResourceClaimTemplateSpec!
ChildFilter
  childCliqueNames [str]; childScalingGroupNames [str]
SetResourceSharing
  filter ChildFilter; name str!; namespace str;
  scope str! {"enum": ["AllReplicas", "PerReplica"]}
PodCliqueSetTemplateSpec
  cliqueStartupType str ="CliqueStartupTypeAnyOrder" {"enum": ["CliqueStartupTypeAnyOrder",
    "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"]}
  cliques [PodCliqueTemplateSpec]! map:name; headlessServiceConfig HeadlessServiceConfig;
  podCliqueScalingGroups [PodCliqueScalingGroupConfig]; priorityClassName str;
  resourceClaimTemplates [ResourceClaimTemplate]; resourceSharing [SetResourceSharing]; terminationDelay str;
  topologyConstraint TopologyConstraint
UpdateStrategy
  type str ="RollingRecreate" {"enum": ["RollingRecreate", "OnDelete"]}
PodCliqueSetSpec
  replicas int32 =0; template PodCliqueSetTemplateSpec!; updateStrategy UpdateStrategy
Condition
  lastTransitionTime time!;
  message str! {"maxLength": 32768}
  observedGeneration int64 {"minimum": 0}
  reason str! {"maxLength": 1024, "minLength": 1, "pattern": "@reason"}
  status str! {"enum": ["True", "False", "Unknown"]}
  type str! {"maxLength": 316, "pattern": "@qualified-name"}
LastError
  code str!; description str!; observedAt time!
PodGangShort
  conditions [Condition]; name str!;
  phase str! {"enum": ["Pending", "Starting", "Running", "Failed", "Succeeded"]}
ReplicaUpdate
  replicaIndex int32!; updateEndedAt time; updateStartedAt time
PodCliqueSetUpdateProgress
  currentlyUpdating [ReplicaUpdate]; totalPodCliqueScalingGroupsCount int32 =0; totalPodCliquesCount int32 =0;
  updateEndedAt time; updateStartedAt time; updatedPodCliqueScalingGroupsCount int32 =0;
  updatedPodCliquesCount int32 =0
PodCliqueSetStatus
  availableReplicas int32! =0; conditions [Condition]; currentGenerationHash str; hpaPodSelector str;
  lastErrors [LastError]; observedGeneration int64; podGangStatuses [PodGangShort]; replicas int32;
  updateProgress PodCliqueSetUpdateProgress; updatedReplicas int32! =0
ReadyPodsSelectedToUpdate
  completed [str]; current str!
PodCliqueUpdateProgress
  podCliqueSetGenerationHash str!; podTemplateHash str!; readyPodsSelectedToUpdate ReadyPodsSelectedToUpdate;
  updateEndedAt time; updateStartedAt time
PodCliqueStatus
  conditions [Condition]; currentPodCliqueSetGenerationHash str; currentPodTemplateHash str; hpaPodSelector str;
  lastErrors [LastError]; observedGeneration int64; readyReplicas int32! =0; replicas int32;
  scheduleGatedReplicas int32! =0; scheduledReplicas int32! =0; updateProgress PodCliqueUpdateProgress;
  updatedReplicas int32! =0
PodCliqueScalingGroupSpec
  cliqueNames [str]!; minAvailable int32 =1; replicas int32! =1
ReadyReplicaIndicesSelectedToUpdate
  completed [int32]; current int32!
ScalingGroupUpdateProgress
  podCliqueSetGenerationHash str!; readyReplicaIndicesSelectedToUpdate ReadyReplicaIndicesSelectedToUpdate;
  totalPodCliquesCount int32 =0; updateEndedAt time; updateStartedAt time!; updatedPodCliquesCount int32 =0
PodCliqueScalingGroupStatus
  availableReplicas int32! =0; conditions [Condition]; currentPodCliqueSetGenerationHash str; lastErrors [LastError];
  observedGeneration int64; replicas int32; scheduledReplicas int32! =0; selector str;
  updateProgress ScalingGroupUpdateProgress; updatedReplicas int32! =0
TopologyLevel
  domain str! {"maxLength": 63, "minLength": 1, "pattern": "^[a-z][a-z0-9-]*$"}
  key str! {"maxLength": 63, "minLength": 1, "pattern": "@label-key"}
SchedulerTopologyBinding
  schedulerName str!; topologyReference str!
ClusterTopologyBindingSpec
  levels [TopologyLevel]! {"minItems": 1}
  schedulerTopologyBindings [SchedulerTopologyBinding]
SchedulerTopologyState
  inSync bool!; message str; schedulerBackendTopologyObservedGeneration int64; schedulerName str!;
  topologyReference str!
ClusterTopologyBindingStatus
  conditions [Condition]; observedGeneration int64; schedulerTopologyStatuses [SchedulerTopologyState]
NamespacedName
  name str!; namespace str!
PackConstraint
  preferred str; required str
GangTopologyConstraint
  packConstraint PackConstraint
GangGroup
  minReplicas int32!; name str!; podReferences [NamespacedName]!; topologyConstraint GangTopologyConstraint
TopologyConstraintGroupConfig
  name str!; podGroupNames [str]!; topologyConstraint GangTopologyConstraint
PodGangSpec
  podgroups [GangGroup]!; priorityClassName str; reuseReservationRef NamespacedName;
  topologyConstraint GangTopologyConstraint; topologyConstraintGroupConfigs [TopologyConstraintGroupConfig]
StartStatus
  expected time; latest time; reason str; waitsFor str
PodGangStatus
  conditions [Condition]; phase str!; placementScore float; start StartStatus
"""
