"""Groups scheduling.run.ai and kai.scheduler: queues, pod groups, bind requests, topologies and the installation.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, checks.
"""

TABLE = """
Queue +meta
  spec QueueSpec; status QueueStatus
PodGroup +meta
  spec PodGroupSpec; status PodGroupStatus
BindRequest +meta
  spec BindRequestSpec; status BindRequestStatus
Topology +meta
  spec TopologySpec!
Config +meta
  spec ConfigSpec; status ConfigStatus
SchedulingShard +meta
  spec SchedulingShardSpec; status ConfigStatus
QueueResource
  limit float; overQuotaWeight float; quota float
QueueResources
  cpu QueueResource; gpu QueueResource; memory QueueResource
QueueSpec
  displayName str; parentQueue str; preemptMinRuntime str; priority int; reclaimMinRuntime str;
  resources QueueResources
QueueStatus
  allocated {quantity}; allocatedNonPreemptible {quantity}; childQueues [str];
  conditions [PersistentVolumeClaimCondition]; requested {quantity}
TopologyConstraint
  preferredTopologyLevel str; requiredTopologyLevel str; topology str
SubGroup
  minMember int32 {"minimum": 0}
  minSubGroup int32 {"minimum": 0}
  name str! {"minLength": 1, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
  parent str {"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
  topologyConstraint TopologyConstraint
PodGroupSpec
  markUnschedulable bool;
  minMember int32 {"minimum": 0}
  minSubGroup int32 {"minimum": 0}
  preemptibility str {"enum": ["preemptible", "non-preemptible"]}
  preemptionDelay str; priorityClassName str; queue str; schedulingBackoff int32; stalenessGracePeriod str;
  subGroups [SubGroup]; topologyConstraint TopologyConstraint
PodGroupCondition
  lastTransitionTime time; message str; reason str; status str; transitionID str; type str
ResourcesStatus
  allocated {quantity}; allocatedNonPreemptible {quantity}; requested {quantity}
QueueDetails
  name str; podGroupRequestedNonPreemptibleResources {quantity}; podGroupRequestedResources {quantity};
  queueAllocatedNonPreemptibleResources {quantity}; queueAllocatedResources {quantity};
  queueDeservedResources {quantity}; queueRequestedResources {quantity}; queueResourceLimits {quantity}
ReasonDetails
  queueDetails QueueDetails
Reason
  details ReasonDetails; message str; reason str
SchedulingCondition
  lastTransitionTime time; message str; nodePool str; reason str; reasons [Reason]; status str; transitionID str;
  type str
StartStatus
  expected time; latest time; reason str; waitsFor str
PodGroupStatus
  conditions [PodGroupCondition]; resourcesStatus ResourcesStatus; schedulingConditions [SchedulingCondition];
  start StartStatus
ExtendedResourceClaimAllocation
  allocation resource.AllocationResult; containerMappings [ContainerExtendedResourceRequest];
  deviceRequests [resource.DeviceRequest]
PredictedNUMAZone
  amount {quantity}!; zone str!
ReceivedGPU
  count int; portion str
ResourceClaimAllocation
  allocation resource.AllocationResult; name str
BindOrder
  annotations {str}; extendedResourceClaimAllocation ExtendedResourceClaimAllocation; podName str!; podUID str;
  predictedNUMAZones [PredictedNUMAZone]; receivedGPU ReceivedGPU; receivedResourceType str;
  resourceClaimAllocations [ResourceClaimAllocation]; selectedGPUGroups [str]; selectedNode str!
BindRequestSpec
  backoffLimit int32; extendedResourceClaimAllocation ExtendedResourceClaimAllocation; gang str; nodeCount int32;
  podCount int32; podName str; pods [BindOrder];
  predictedNUMAZones [PredictedNUMAZone]; receivedGPU ReceivedGPU; receivedResourceType str;
  resourceClaimAllocations [ResourceClaimAllocation]; selectedGPUGroups [str]; selectedNode str
BindRequestStatus
  failedAttempts int32; phase str; reason str
TopologyLevel
  alias str {"maxLength": 316, "minLength": 1, "pattern": "@qualified-name"}
  nodeLabel str! {"maxLength": 316, "minLength": 1, "pattern": "@qualified-name"}
TopologySpec
  levels [TopologyLevel]! atomic {"maxItems": 16, "minItems": 1, "x-kubernetes-validations": [{"message": "nodeLabel
    structure is immutable; only aliases may be edited", "rule": "self.map(l, l.nodeLabel) == oldSelf.map(l,
    l.nodeLabel)"}, {"message": "nodeLabel must be unique", "rule": "size(self.filter(i, size(self.filter(j,
    j.nodeLabel == i.nodeLabel)) > 1)) == 0"}, {"message": "the kubernetes.io/hostname label can only be used at the
    lowest level of topology", "rule": "size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 ||
    self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'"}]}
Image
  name str; pullPolicy str; repository str; tag str
K8sClientConfig
  burst int; qps int
PodDisruptionBudget
  enabled bool; maxUnavailable int32
Service
  affinity Affinity; enabled bool; image Image; k8sClientConfig K8sClientConfig;
  podDisruptionBudget PodDisruptionBudget; resources ResourceRequirements
ContainerPolicy
  containerName str; controlledResources [str];
  controlledValues str {"enum": ["RequestsAndLimits", "RequestsOnly"]}
  maxAllowed {quantity}; minAllowed {quantity};
  mode str {"enum": ["Auto", "Off"]}
ResourcePolicy
  containerPolicies [ContainerPolicy]
EvictionRequirement
  changeRequirement str! {"enum": ["TargetHigherThanRequests", "TargetLowerThanRequests"]}
  resources [str]!
UpdatePolicy
  evictionRequirements [EvictionRequirement]; minReplicas int32;
  updateMode str {"enum": ["Off", "Initial", "Recreate", "InPlaceOrRecreate", "Auto"]}
Vpa
  enabled bool; resourcePolicy ResourcePolicy; updatePolicy UpdatePolicy
Webhook
  metricsPort int; port int; probePort int; targetPort int
Admission
  blockNvidiaVisibleDevices bool; gpuFractionRuntimeClassName str; gpuPodRuntimeClassName str; gpuSharing bool;
  mutatingWebhookConfigurationName str; queueLabelSelector bool; replicas int32; scheduleQueuedPods bool;
  service Service;
  validatingWebhookConfigurationName str; vpa Vpa; webhook Webhook
BinderPlugin
  arguments {str}; enabled bool; priority int
ResourceReservation
  allocationTimeout int; appLabel str; image Image; namespace str; podResources ResourceRequirements;
  reservationContainerSecurityContext SecurityContext; reservationPodSecurityContext PodSecurityContext;
  runtimeClassName str; serviceAccountName str
Binder
  cdiEnabled bool; maxConcurrentReconciles int; metricsPort int; plugins {BinderPlugin}; probePort int;
  replicas int32; resourceReservation ResourceReservation; service Service; volumeBindingTimeoutSeconds int; vpa Vpa
Global
  additionalImagePullSecrets [str]; affinity Affinity;
  compat [str] {"items": {"type": "string", "enum": ["grove", "kai"]}}
  daemonsetsTolerations [Toleration]; imagesPullSecret str;
  jsonLog bool; namespaceLabelSelector {str}; nodePoolLabelKey str; nodeSelector {str}; openshift bool;
  podLabelSelector {str}; priorityClassName str; queueLabelKey str; replicaCount int32;
  requireDefaultPodAntiAffinityTerm bool; schedulerName str; securityContext SecurityContext;
  tolerations [Toleration]; vpa Vpa
NodeScaleAdjusterArgs
  gpuMemoryToFractionRatio float; nodeScaleNamespace str; nodeScaleServiceAccount str; scalingPodImage Image
NodeScaleAdjuster
  args NodeScaleAdjusterArgs; service Service; vpa Vpa
NumaPlacementExporter
  driftResyncInterval str; nodeSelector {str}; podResourcesHostPath str; podResourcesSocket str; pollInterval str;
  service Service; sysfsHostPath str; tolerations [Toleration]
NamedPort
  name str; port int; targetPort int
PodGroupControllerService
  webhook NamedPort
Webhooks
  enableValidation bool; webhookConfigurationNamePrefix str
PodGroupController
  controllerService PodGroupControllerService; maxConcurrentReconciles int; replicas int32; service Service; vpa Vpa;
  webhooks Webhooks
PodGrouperArgs
  defaultPrioritiesConfigMapName str; defaultPrioritiesConfigMapNamespace str; gangScheduleKnative bool;
  genericKartaFallback bool
PodGrouper
  args PodGrouperArgs; k8sClientConfig K8sClientConfig; maxConcurrentReconciles int; replicas int32; service Service;
  vpa Vpa
ExternalPrometheusHealthProbe
  interval int; maxRetries int; timeout int
ServiceMonitor
  bearerTokenFile str; enabled bool; interval str; scrapeTimeout str
Prometheus
  accountingLabelKey str; accountingLabelValue str; enablePersistentStorage bool; enabled bool;
  externalPrometheusHealthProbe ExternalPrometheusHealthProbe; externalPrometheusUrl str; instanceName str;
  retentionPeriod str; sampleInterval str; serviceMonitor ServiceMonitor; storageClassName str; storageSize str
QueueControllerService
  metrics NamedPort; webhook NamedPort
QueueController
  controllerService QueueControllerService; metricsNamespace str; queueLabelToDefaultMetricValue str;
  queueLabelToMetricLabel str; replicas int32; service Service; vpa Vpa; webhooks Webhooks
SchedulerService
  port int; targetPort int; type str
Scheduler
  GOGC int; replicas int32; schedulerService SchedulerService; service Service; vpa Vpa
WorkloadProfile
  backend str; config raw; name str!
WorkloadScheduler
  backends [str]; defaultProfileName str; outside [str]; profiles [WorkloadProfile]
WorkloadSwitch
  enabled bool
WorkloadNetwork
  autoMNNVLEnabled bool
WorkloadAuthorizer
  enabled bool; exemptServiceAccountUserNames [str]
WorkloadWorkers
  concurrentSyncs int {"minimum": 1, "maximum": 1000}
WorkloadControllers
  podClique WorkloadWorkers; podCliqueScalingGroup WorkloadWorkers; podCliqueSet WorkloadWorkers;
  podGang WorkloadWorkers
WorkloadBackend
  replicas int32; service Service; vpa Vpa
Workload
  authorizer WorkloadAuthorizer; backendServices {WorkloadBackend}; controllers WorkloadControllers;
  logLevel str {"enum": ["debug", "info", "error"]}
  network WorkloadNetwork; replicas int32; scheduler WorkloadScheduler; service Service;
  topologyAwareScheduling WorkloadSwitch; vpa Vpa
Explainer
  replicas int32; service Service; vpa Vpa
ConfigSpec
  admission Admission; binder Binder; explainer Explainer; global Global; namespace str;
  nodeScaleAdjuster NodeScaleAdjuster;
  numaPlacementExporter NumaPlacementExporter; podGroupController PodGroupController; podGrouper PodGrouper;
  prometheus Prometheus; queueController QueueController; scheduler Scheduler; workload Workload
StatusCondition
  lastTransitionTime time!;
  message str! {"maxLength": 32768}
  observedGeneration int64 {"minimum": 0}
  reason str! {"maxLength": 1024, "minLength": 1, "pattern": "@reason"}
  status str! {"enum": ["True", "False", "Unknown"]}
  type str! {"maxLength": 316, "pattern": "@qualified-name"}
ConfigStatus
  conditions [StatusCondition]
SchedulerAction
  enabled bool; priority int
MinRuntime
  preemptMinRuntime str; reclaimMinRuntime str
PlacementStrategy
  cpu str; gpu str
ScenarioSearchBudgets
  maxActionSearchDuration {str}; maxGeneratorSearchDuration {str}; maxJobSearchDuration str; minJobSearchDuration str
UsageParams
  cronString str; extraParams {str}; fetchInterval str; halfLifePeriod str; stalenessPeriod str;
  tumblingWindowStartTime time; waitTimeout str;
  windowSize str {"pattern": "@duration"}
  windowType str
UsageDBConfig
  clientType str!; connectionString str; connectionStringEnvVar str; usageParams UsageParams
SchedulingShardSpec
  actions {SchedulerAction}; args {str}; goMemLimit quantity;
  goMemLimitRatio float {"exclusiveMinimum": true, "maximum": 1, "minimum": 0}
  kValue float; minRuntime MinRuntime; partitionLabelValue str; placementStrategy PlacementStrategy;
  plugins {BinderPlugin}; queueDepthPerAction {int}; scenarioSearchBudgets ScenarioSearchBudgets;
  usageDBConfig UsageDBConfig
"""
