"""What the fields of Config and SchedulingShard mean. Read by api/descriptions.py, which explains the form."""

TEXT = """
Config
  spec  How the components of the scheduler half are deployed, and how they behave.
  status  Whether they run; written by the installer.
ConfigSpec
  admission  The webhooks that complete and check pods.
  binder  The component that binds pods.
  explainer  The component that writes on PodGroups why they wait and what would start them; not under compat kai.
  global  What holds for all components.
  namespace  The namespace in which the components run; kai-scheduler by default.
  nodeScaleAdjuster  The component that makes autoscalers see pods with parts of GPUs.
  numaPlacementExporter  The component that reports NUMA zones of nodes.
  podGroupController  The component that keeps the status of PodGroups.
  podGrouper  The component that puts pods into PodGroups.
  prometheus  The Prometheus that remembers what queues used.
  queueController  The component that keeps the status of queues.
  scheduler  The schedulers, one per SchedulingShard.
  workload  The operator of PodCliqueSets.
Admission
  blockNvidiaVisibleDevices  Whether containers that ask for no GPU are kept from seeing any.
  gpuFractionRuntimeClassName  The RuntimeClass given to pods with a part of a GPU; nvidia by default.
  gpuPodRuntimeClassName  The older name of gpuFractionRuntimeClassName.
  gpuSharing  Whether pods may ask for a part of a GPU.
  mutatingWebhookConfigurationName  The name of the webhook configuration that completes pods.
  queueLabelSelector  Whether only pods with a queue label are sent to the webhooks.
  replicas  How many copies run, as a number of pods.
  scheduleQueuedPods  Whether pods that name a queue and no scheduler are given ours.
  service  How the component is deployed.
  validatingWebhookConfigurationName  The name of the webhook configuration that checks pods.
  vpa  Lets a VerticalPodAutoscaler size the component.
  webhook  The ports of the webhook server.
Explainer
  replicas  How many copies run, as a number of pods; one of them writes.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
Service
  affinity  Where its pods may run.
  enabled  Whether the component is deployed.
  image  The image that it runs from.
  k8sClientConfig  How fast it may speak to the API server.
  podDisruptionBudget  How many of its pods may be away at once.
  resources  What its container asks for and may use.
Image
  name  The image's name without repository and tag.
  pullPolicy  Always, IfNotPresent or Never.
  repository  The registry and path before the name.
  tag  The version.
K8sClientConfig
  burst  How many requests may be sent at once.
  qps  How many requests may be sent per second.
PodDisruptionBudget
  enabled  Whether there is one.
  maxUnavailable  How many pods may be away at once.
Vpa
  enabled  Whether there is one.
  resourcePolicy  Within which bounds containers are sized.
  updatePolicy  When new sizes are applied.
ResourcePolicy
  containerPolicies  Bounds per container.
ContainerPolicy
  containerName  The container; * is all that are not named.
  controlledResources  Which resources are sized, as in cpu and memory.
  controlledValues  Whether requests alone are sized, or limits too.
  maxAllowed  The most that it is given, per resource, as quantities.
  minAllowed  The least that it is given, per resource, as quantities.
  mode  Auto sizes the container, Off leaves it alone.
UpdatePolicy
  evictionRequirements  What must hold before a pod is replaced.
  minReplicas  How many pods must be alive before one is replaced.
  updateMode  Off, Initial, Recreate, InPlaceOrRecreate or Auto.
EvictionRequirement
  changeRequirement  Whether the new size must be higher or lower than the old one.
  resources  The resources for which that must hold.
Webhook
  metricsPort  The port of the metrics.
  port  The port of the Service.
  probePort  The port of the health checks.
  targetPort  The port of the container.
Binder
  cdiEnabled  Whether devices are given by the Container Device Interface; by default as the GPU operator says.
  maxConcurrentReconciles  How many binds are carried out side by side.
  metricsPort  The port of the metrics.
  plugins  What is done around a bind, by name of the plugin.
  probePort  The port of the health checks.
  replicas  How many copies run, as a number of pods.
  resourceReservation  The pods that hold shared GPUs.
  service  How the component is deployed.
  volumeBindingTimeoutSeconds  How long a bind waits for its volumes, in seconds; 120 by default.
  vpa  Lets a VerticalPodAutoscaler size the component.
BinderPlugin
  arguments  Settings of the plugin, by name.
  enabled  Whether the plugin is used.
  priority  Its place in the order; higher numbers come first.
ResourceReservation
  allocationTimeout  How long a reservation pod may take to report its GPU, in seconds; 40 by default.
  appLabel  The label app of reservation pods.
  image  The image of reservation pods.
  namespace  The namespace of reservation pods.
  podResources  What a reservation pod asks for besides its GPU.
  reservationContainerSecurityContext  The security context of its container.
  reservationPodSecurityContext  The security context of the pod.
  runtimeClassName  The RuntimeClass of reservation pods.
  serviceAccountName  The account they run under.
Global
  additionalImagePullSecrets  More secrets with which images are pulled.
  affinity  Where the components' pods may run.
  compat  Upstream systems whose habits all components keep to: grove, kai.
  daemonsetsTolerations  Taints that pods on every node tolerate.
  imagesPullSecret  The secret with which images are pulled.
  jsonLog  Whether logs are written as JSON.
  namespaceLabelSelector  Only pods in namespaces with these labels are grouped.
  nodePoolLabelKey  The label that names the node pool of nodes, queues and groups.
  nodeSelector  Labels of the nodes that the components run on.
  openshift  Whether the cluster is an OpenShift one.
  podLabelSelector  Only pods with these labels are grouped.
  priorityClassName  The PriorityClass of the components' pods.
  queueLabelKey  The label of a pod that names its queue; kai.scheduler/queue by default.
  replicaCount  How many copies of each component run, as a number of pods, where a component does not say.
  requireDefaultPodAntiAffinityTerm  Whether copies of a component must be on different nodes, or only should.
  schedulerName  The schedulerName of the pods that are ours.
  securityContext  The security context of the components' containers.
  tolerations  Taints that the components' pods tolerate.
  vpa  Lets a VerticalPodAutoscaler size every component.
NodeScaleAdjuster
  args  Settings of the component.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
NodeScaleAdjusterArgs
  gpuMemoryToFractionRatio  What part of a GPU a pod that asks for GPU memory is taken to need, from 0 to 1.
  nodeScaleNamespace  The namespace of scaling pods.
  nodeScaleServiceAccount  The account they run under.
  scalingPodImage  The image of scaling pods.
NumaPlacementExporter
  driftResyncInterval  How often everything is reported anew, as a duration (5m).
  nodeSelector  Labels of the nodes that it runs on.
  podResourcesHostPath  The folder on the node that holds the kubelet's socket.
  podResourcesSocket  The kubelet's socket of pod resources.
  pollInterval  How often the kubelet is asked, as a duration (10s).
  service  How the component is deployed.
  sysfsHostPath  Where the node's sysfs is.
  tolerations  Taints that its pods tolerate.
PodGroupController
  controllerService  The ports of its Service.
  maxConcurrentReconciles  How many groups are looked at side by side.
  replicas  How many copies run, as a number of pods.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
  webhooks  Whether PodGroups are checked when they are written.
PodGroupControllerService
  webhook  The port of the webhook.
NamedPort
  name  The name of the port.
  port  The port of the Service.
  targetPort  The port of the container.
Webhooks
  enableValidation  Whether objects are checked when they are written.
  webhookConfigurationNamePrefix  What the names of the webhook configurations begin with.
PodGrouper
  args  Settings of the component.
  k8sClientConfig  How fast it may speak to the API server.
  maxConcurrentReconciles  How many pods are looked at side by side.
  replicas  How many copies run, as a number of pods.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
PodGrouperArgs
  defaultPrioritiesConfigMapName  The ConfigMap with default priority and preemptibility per kind.
  defaultPrioritiesConfigMapNamespace  The namespace of that ConfigMap.
  gangScheduleKnative  Whether the pods of a Knative revision are one group.
  genericKartaFallback  Whether kinds without a grouper may be described by a Karta object.
Prometheus
  accountingLabelKey  The label of objects whose metrics are kept; kai.scheduler/accounting by default.
  accountingLabelValue  The value of that label; true by default.
  enablePersistentStorage  Whether what it remembers outlives its pod.
  enabled  Whether a Prometheus is deployed.
  externalPrometheusHealthProbe  How a Prometheus of somebody else is checked.
  externalPrometheusUrl  The address of a Prometheus of somebody else.
  instanceName  The name of the Prometheus.
  retentionPeriod  For how long it remembers, as a duration (2w).
  sampleInterval  How often it samples, as a duration (1m).
  serviceMonitor  How components are scraped.
  storageClassName  The StorageClass of its volume.
  storageSize  The size of its volume, as a quantity (50Gi).
ExternalPrometheusHealthProbe
  interval  How long to wait between two checks, in seconds.
  maxRetries  After how many failed checks it counts as down.
  timeout  How long one check may take, in seconds.
ServiceMonitor
  bearerTokenFile  The file with the token with which it scrapes.
  enabled  Whether components are scraped.
  interval  How often they are scraped, as a duration (30s).
  scrapeTimeout  How long one scrape may take, as a duration (10s).
QueueController
  controllerService  The ports of its Service.
  metricsNamespace  What the names of its metrics begin with; kai by default.
  queueLabelToDefaultMetricValue  The value of a metric's label where a queue lacks its own, as in a=b,c=d.
  queueLabelToMetricLabel  Which labels of queues become labels of metrics, as in a=b,c=d.
  replicas  How many copies run, as a number of pods.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
  webhooks  Whether queues are checked when they are written.
QueueControllerService
  metrics  The port of the metrics.
  webhook  The port of the webhook.
Scheduler
  GOGC  Without effect here: there is no Go.
  replicas  How many copies of each shard's scheduler run, as a number of pods; one of them works.
  schedulerService  The ports of its Service.
  service  How the component is deployed.
  vpa  Lets a VerticalPodAutoscaler size the component.
SchedulerService
  port  The port of the Service.
  targetPort  The port of the container.
  type  The type of the Service.
Workload
  authorizer  Who may change what the operator made.
  backendServices  Backends that run as processes of their own, by name.
  controllers  How much the operator does side by side.
  logLevel  How much is logged: debug, info or error.
  network  What is set up for fast networks.
  replicas  How many copies run, as a number of pods; one of them works.
  scheduler  Which backends there are, and which one is meant where a set names none.
  service  How the component is deployed.
  topologyAwareScheduling  Whether sets may say how close together their pods are.
  vpa  Lets a VerticalPodAutoscaler size the component.
WorkloadAuthorizer
  enabled  Whether objects that the operator made are protected from others.
  exemptServiceAccountUserNames  Accounts that may change them all the same.
WorkloadBackend
  replicas  How many copies run, as a number of pods.
  service  How the backend is deployed.
  vpa  Lets a VerticalPodAutoscaler size the backend.
WorkloadControllers
  podClique  Of cliques.
  podCliqueScalingGroup  Of scaling groups.
  podCliqueSet  Of sets.
  podGang  Of gangs.
WorkloadWorkers
  concurrentSyncs  How many objects are looked at side by side.
WorkloadNetwork
  autoMNNVLEnabled  Whether sets on multi-node NVLink nodes get a ComputeDomain by themselves.
WorkloadScheduler
  backends  The backends that are switched on, by name.
  defaultProfileName  The profile that is meant where a set names no scheduler.
  outside  Backends that run as processes of their own; the operator leaves their gangs to them.
  profiles  Backends with settings of their own, by name.
WorkloadProfile
  backend  The backend that the profile is of.
  config  Settings of the backend.
  name  The name of the profile.
WorkloadSwitch
  enabled  Whether it is on.
ConfigStatus
  conditions  Whether everything is deployed, runs, and agrees with the spec.
StatusCondition
  lastTransitionTime  When the status of the condition changed last.
  message  The reason in a sentence for people.
  observedGeneration  The generation of the spec that the condition speaks of.
  reason  The reason in one word for programs.
  status  True, False or Unknown.
  type  What the condition is about.
SchedulingShard
  spec  Which nodes the scheduler serves, and how it decides.
  status  Whether it runs; written by the installer.
SchedulingShardSpec
  actions  Which actions a cycle has and in which order, by name of the action.
  args  Flags of the scheduler, by name.
  goMemLimit  Without effect here: there is no Go.
  goMemLimitRatio  Without effect here: there is no Go.
  kValue  How much past use counts against a queue when shares are divided; 0 forgets the past.
  minRuntime  For how long gangs run before others may take their place, where queues do not say.
  partitionLabelValue  The node pool that this scheduler serves; empty is all without one.
  placementStrategy  Whether pods are packed or spread.
  plugins  Which policies are used and in which order, by name of the plugin.
  queueDepthPerAction  How many gangs of a queue an action looks at, by name of the action; absent is all.
  scenarioSearchBudgets  How long the search for victims may take.
  usageDBConfig  Where past use is read from.
SchedulerAction
  enabled  Whether the action is part of a cycle.
  priority  Its place in the order; higher numbers come first.
MinRuntime
  preemptMinRuntime  Before a gang of higher priority in the same queue may take its place, as a duration (30m).
  reclaimMinRuntime  Before another queue may take back what was borrowed, as a duration (30m).
PlacementStrategy
  cpu  binpack or spread, for pods without GPUs.
  gpu  binpack, spread or fewest-fragments, for pods with GPUs.
ScenarioSearchBudgets
  maxActionSearchDuration  The most that one action may search in a cycle, by name of the action, as durations (5m).
  maxGeneratorSearchDuration  The most that one way to search may take, by its name, as durations (2m).
  maxJobSearchDuration  The most that may be searched for one gang, as a duration (4m).
  minJobSearchDuration  The least that is searched for one gang before the next one has its turn, as a duration.
UsageDBConfig
  clientType  The kind of store, as in prometheus.
  connectionString  The address of the store.
  connectionStringEnvVar  The environment variable that holds that address.
  usageParams  Which past counts, and how much.
UsageParams
  cronString  When a window begins anew, in the form of cron; for windowType cron.
  extraParams  More settings of the store, by name.
  fetchInterval  How often the store is asked, as a duration (1m).
  halfLifePeriod  After how long past use counts half, as a duration (24h).
  stalenessPeriod  After how long without an answer past use no longer counts, as a duration (5m).
  tumblingWindowStartTime  When the first window begins; for windowType tumbling.
  waitTimeout  How long one question may take, as a duration (1m).
  windowSize  How much of the past counts, as a duration (1w).
  windowType  sliding, tumbling or cron.
"""
