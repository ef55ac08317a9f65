"""Group "" v1: pods, nodes, services, volumes, and the rest of the core.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
AWSElasticBlockStoreVolumeSource
  volumeID str!; fsType str; partition int32; readOnly bool
Affinity
  nodeAffinity NodeAffinity?; podAffinity PodAffinity?; podAntiAffinity PodAntiAffinity?
AppArmorProfile
  type str!; localhostProfile str?
AttachedVolume
  name str!; devicePath str!
AzureDiskVolumeSource
  diskName str!; diskURI str!; cachingMode str?; fsType str? ="ext4"; readOnly bool? =false; kind str?
AzureFilePersistentVolumeSource
  secretName str!; shareName str!; readOnly bool; secretNamespace str?! opt
AzureFileVolumeSource
  secretName str!; shareName str!; readOnly bool
Binding +meta
  target ObjectReference!
CSIPersistentVolumeSource
  driver str!; volumeHandle str!; readOnly bool; fsType str; volumeAttributes {str};
  controllerPublishSecretRef SecretReference?; nodeStageSecretRef SecretReference?;
  nodePublishSecretRef SecretReference?; controllerExpandSecretRef SecretReference?;
  nodeExpandSecretRef SecretReference?
CSIVolumeSource
  driver str!; readOnly bool?; fsType str?; volumeAttributes {str}; nodePublishSecretRef LocalObjectReference?
Capabilities
  add [str] atomic; drop [str] atomic
CephFSPersistentVolumeSource
  monitors [str]! atomic; path str; user str; secretFile str; secretRef SecretReference?; readOnly bool
CephFSVolumeSource
  monitors [str]! atomic; path str; user str; secretFile str; secretRef LocalObjectReference?; readOnly bool
CinderPersistentVolumeSource
  volumeID str!; fsType str; readOnly bool; secretRef SecretReference?
CinderVolumeSource
  volumeID str!; fsType str; readOnly bool; secretRef LocalObjectReference?
ClientIPConfig
  timeoutSeconds int32?
ClusterTrustBundleProjection
  name str?; signerName str?; labelSelector LabelSelector?; optional bool?; path str!
ComponentCondition
  type str!; status str!; message str; error str
ComponentStatus +meta
  conditions [ComponentCondition] by:type
ConfigMap +meta
  immutable bool?; data {str}; binaryData {bytes}
ConfigMapEnvSource crd-atomic
  optional bool?; name str =""
ConfigMapKeySelector atomic
  key str!; optional bool?; name str =""
ConfigMapNodeConfigSource
  namespace str!; name str!; uid str; resourceVersion str; kubeletConfigKey str!
ConfigMapProjection crd-atomic
  items [KeyToPath] atomic; optional bool?; name str =""
ConfigMapVolumeSource crd-atomic
  items [KeyToPath] atomic; defaultMode int32?; optional bool?; name str =""
Container
  name str!; image str; command [str] atomic; args [str] atomic; workingDir str;
  ports [ContainerPort] map:containerPort,protocol merge:containerPort; envFrom [EnvFromSource] atomic;
  env [EnvVar] by:name; resources ResourceRequirements; resizePolicy [ContainerResizePolicy] atomic;
  restartPolicy str?; restartPolicyRules [ContainerRestartRule] atomic; volumeMounts [VolumeMount] by:mountPath;
  volumeDevices [VolumeDevice] by:devicePath; livenessProbe Probe?; readinessProbe Probe?; startupProbe Probe?;
  lifecycle Lifecycle?; terminationMessagePath str; terminationMessagePolicy str; imagePullPolicy str;
  securityContext SecurityContext?; stdin bool; stdinOnce bool; tty bool
ContainerExtendedResourceRequest
  containerName str!; resourceName str!; requestName str!
ContainerImage
  names [str]! opt atomic; sizeBytes int64
ContainerPort
  name str; hostPort int32; containerPort int32!; protocol str ="TCP"; hostIP str
ContainerResizePolicy
  resourceName str!; restartPolicy str!
ContainerRestartRule
  action str req; exitCodes ContainerRestartRuleOnExitCodes?
ContainerRestartRuleOnExitCodes
  operator str req; values [int32] set
ContainerState
  waiting ContainerStateWaiting?; running ContainerStateRunning?; terminated ContainerStateTerminated?
ContainerStateRunning
  startedAt time
ContainerStateTerminated
  exitCode int32!; signal int32; reason str; message str; startedAt time; finishedAt time; containerID str
ContainerStateWaiting
  reason str; message str
ContainerStatus
  name str!; state ContainerState; lastState ContainerState; ready bool!; restartCount int32!; image str!;
  imageID str!; containerID str; started bool?; allocatedResources {quantity}; resources ResourceRequirements?;
  volumeMounts [VolumeMountStatus] by:mountPath; user ContainerUser?;
  allocatedResourcesStatus [ResourceStatus] by:name; stopSignal str?
ContainerUser
  linux LinuxContainerUser?
DaemonEndpoint
  Port int32!
DownwardAPIProjection
  items [DownwardAPIVolumeFile] atomic
DownwardAPIVolumeFile
  path str!; fieldRef ObjectFieldSelector?; resourceFieldRef ResourceFieldSelector?; mode int32?
DownwardAPIVolumeSource
  items [DownwardAPIVolumeFile] atomic; defaultMode int32?
EmptyDirVolumeSource
  medium str; sizeLimit quantity?
EndpointAddress atomic
  ip str!; hostname str; nodeName str?; targetRef ObjectReference?
EndpointPort atomic
  name str; port int32!; protocol str; appProtocol str?
EndpointSubset
  addresses [EndpointAddress] atomic; notReadyAddresses [EndpointAddress] atomic; ports [EndpointPort] atomic
Endpoints +meta
  subsets [EndpointSubset] atomic
EnvFromSource
  prefix str; configMapRef ConfigMapEnvSource?; secretRef SecretEnvSource?
EnvVar
  name str!; value str; valueFrom EnvVarSource?
EnvVarSource
  fieldRef ObjectFieldSelector?; resourceFieldRef ResourceFieldSelector?; configMapKeyRef ConfigMapKeySelector?;
  secretKeyRef SecretKeySelector?; fileKeyRef FileKeySelector?
EphemeralContainer
  targetContainerName str; name str!; image str; command [str] atomic; args [str] atomic; workingDir str;
  ports [ContainerPort] map:containerPort,protocol merge:containerPort; envFrom [EnvFromSource] atomic;
  env [EnvVar] by:name; resources ResourceRequirements; resizePolicy [ContainerResizePolicy] atomic;
  restartPolicy str?; restartPolicyRules [ContainerRestartRule] atomic; volumeMounts [VolumeMount] by:mountPath;
  volumeDevices [VolumeDevice] by:devicePath; livenessProbe Probe?; readinessProbe Probe?; startupProbe Probe?;
  lifecycle Lifecycle?; terminationMessagePath str; terminationMessagePolicy str; imagePullPolicy str;
  securityContext SecurityContext?; stdin bool; stdinOnce bool; tty bool
EphemeralVolumeSource
  volumeClaimTemplate PersistentVolumeClaimTemplate?
Event +meta
  involvedObject ObjectReference!; reason str; message str; source EventSource; firstTimestamp time;
  lastTimestamp time; count int32; type str; eventTime microtime; series EventSeries?; action str;
  related ObjectReference?; reportingComponent str! opt; reportingInstance str! opt
EventSeries
  count int32; lastObservedTime microtime
EventSource
  component str; host str
ExecAction
  command [str] atomic
FCVolumeSource
  targetWWNs [str] atomic; lun int32?; fsType str; readOnly bool; wwids [str] atomic
FileKeySelector atomic
  volumeName str!; path str!; key str!; optional bool? =false
FlexPersistentVolumeSource
  driver str!; fsType str; secretRef SecretReference?; readOnly bool; options {str}
FlexVolumeSource
  driver str!; fsType str; secretRef LocalObjectReference?; readOnly bool; options {str}
FlockerVolumeSource
  datasetName str; datasetUUID str
GCEPersistentDiskVolumeSource
  pdName str!; fsType str; partition int32; readOnly bool
GRPCAction
  port int32!; service str?! opt =""
GitRepoVolumeSource
  repository str!; revision str; directory str
GlusterfsPersistentVolumeSource
  endpoints str!; path str!; readOnly bool; endpointsNamespace str?
GlusterfsVolumeSource
  endpoints str!; path str!; readOnly bool
HTTPGetAction
  path str; port intstr!; host str; scheme str; httpHeaders [HTTPHeader] atomic
HTTPHeader
  name str!; value str!
HostAlias
  ip str!; hostnames [str] atomic
HostIP
  ip str!
HostPathVolumeSource
  path str!; type str?
ISCSIPersistentVolumeSource
  targetPortal str!; iqn str!; lun int32!; iscsiInterface str ="default"; fsType str; readOnly bool;
  portals [str] atomic; chapAuthDiscovery bool; chapAuthSession bool; secretRef SecretReference?; initiatorName str?
ISCSIVolumeSource
  targetPortal str!; iqn str!; lun int32!; iscsiInterface str ="default"; fsType str; readOnly bool;
  portals [str] atomic; chapAuthDiscovery bool; chapAuthSession bool; secretRef LocalObjectReference?;
  initiatorName str?
ImageVolumeSource
  reference str; pullPolicy str
KeyToPath
  key str!; path str!; mode int32?
Lifecycle
  postStart LifecycleHandler?; preStop LifecycleHandler?; stopSignal str?
LifecycleHandler
  exec ExecAction?; httpGet HTTPGetAction?; tcpSocket TCPSocketAction?; sleep SleepAction?
LimitRange +meta
  spec LimitRangeSpec
LimitRangeItem
  type str!; max {quantity}; min {quantity}; default {quantity}; defaultRequest {quantity};
  maxLimitRequestRatio {quantity}
LimitRangeSpec
  limits [LimitRangeItem]! atomic
LinuxContainerUser
  uid int64!; gid int64!; supplementalGroups [int64] atomic
LoadBalancerIngress
  ip str; hostname str; ipMode str?; ports [PortStatus] atomic
LoadBalancerStatus
  ingress [LoadBalancerIngress] atomic
LocalObjectReference atomic
  name str =""
LocalVolumeSource
  path str!; fsType str?
ModifyVolumeStatus
  targetVolumeAttributesClassName str; status str!
NFSVolumeSource
  server str!; path str!; readOnly bool
Namespace +meta
  spec NamespaceSpec; status NamespaceStatus
NamespaceCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
NamespaceSpec
  finalizers [str] atomic
NamespaceStatus
  phase str; conditions [NamespaceCondition] by:type
Node +meta
  spec NodeSpec; status NodeStatus
NodeAddress
  type str!; address str!
NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector?;
  preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm] atomic
NodeCondition
  type str!; status str!; lastHeartbeatTime time; lastTransitionTime time; reason str; message str
NodeConfigSource
  configMap ConfigMapNodeConfigSource?
NodeConfigStatus
  assigned NodeConfigSource?; active NodeConfigSource?; lastKnownGood NodeConfigSource?; error str
NodeDaemonEndpoints
  kubeletEndpoint DaemonEndpoint
NodeFeatures
  supplementalGroupsPolicy bool?
NodeRuntimeHandler
  name str! opt; features NodeRuntimeHandlerFeatures?
NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts bool?; userNamespaces bool?
NodeSelector atomic
  nodeSelectorTerms [NodeSelectorTerm]! atomic
NodeSelectorRequirement
  key str!; operator str!; values [str] atomic
NodeSelectorTerm atomic
  matchExpressions [NodeSelectorRequirement] atomic; matchFields [NodeSelectorRequirement] atomic
NodeSpec
  podCIDR str; podCIDRs [str] set merge; providerID str; unschedulable bool; taints [Taint] atomic;
  configSource NodeConfigSource?; externalID str
NodeStatus
  capacity {quantity}; allocatable {quantity}; phase str; conditions [NodeCondition] by:type;
  addresses [NodeAddress] by:type; daemonEndpoints NodeDaemonEndpoints; nodeInfo NodeSystemInfo;
  images [ContainerImage] atomic; volumesInUse [str] atomic; volumesAttached [AttachedVolume] atomic;
  config NodeConfigStatus?; runtimeHandlers [NodeRuntimeHandler] atomic; features NodeFeatures?;
  declaredFeatures [str] atomic
NodeSwapStatus
  capacity int64?
NodeSystemInfo
  machineID str!; systemUUID str!; bootID str!; kernelVersion str!; osImage str!; containerRuntimeVersion str!;
  kubeletVersion str!; kubeProxyVersion str!; operatingSystem str!; architecture str!; swap NodeSwapStatus?
ObjectFieldSelector atomic
  apiVersion str; fieldPath str!
ObjectReference atomic
  kind str; namespace str; name str; uid str; apiVersion str; resourceVersion str; fieldPath str
PersistentVolume +meta
  spec PersistentVolumeSpec; status PersistentVolumeStatus
PersistentVolumeClaim +meta
  spec PersistentVolumeClaimSpec; status PersistentVolumeClaimStatus
PersistentVolumeClaimCondition
  type str!; status str!; lastProbeTime time; lastTransitionTime time; reason str; message str
PersistentVolumeClaimSpec
  accessModes [str] atomic; selector LabelSelector?; resources VolumeResourceRequirements; volumeName str;
  storageClassName str?; volumeMode str?; dataSource TypedLocalObjectReference?; dataSourceRef TypedObjectReference?;
  volumeAttributesClassName str?
PersistentVolumeClaimStatus
  phase str; accessModes [str] atomic; capacity {quantity}; conditions [PersistentVolumeClaimCondition] by:type;
  allocatedResources {quantity}; allocatedResourceStatuses {str}; currentVolumeAttributesClassName str?;
  modifyVolumeStatus ModifyVolumeStatus?
PersistentVolumeClaimTemplate
  metadata ObjectMeta; spec PersistentVolumeClaimSpec!
PersistentVolumeClaimVolumeSource
  claimName str!; readOnly bool
PersistentVolumeSpec
  capacity {quantity}; accessModes [str] atomic; claimRef ObjectReference?; persistentVolumeReclaimPolicy str;
  storageClassName str; mountOptions [str] atomic; volumeMode str?; nodeAffinity VolumeNodeAffinity?;
  volumeAttributesClassName str?; gcePersistentDisk GCEPersistentDiskVolumeSource?;
  awsElasticBlockStore AWSElasticBlockStoreVolumeSource?; hostPath HostPathVolumeSource?;
  glusterfs GlusterfsPersistentVolumeSource?; nfs NFSVolumeSource?; rbd RBDPersistentVolumeSource?;
  iscsi ISCSIPersistentVolumeSource?; cinder CinderPersistentVolumeSource?; cephfs CephFSPersistentVolumeSource?;
  fc FCVolumeSource?; flocker FlockerVolumeSource?; flexVolume FlexPersistentVolumeSource?;
  azureFile AzureFilePersistentVolumeSource?; vsphereVolume VsphereVirtualDiskVolumeSource?;
  quobyte QuobyteVolumeSource?; azureDisk AzureDiskVolumeSource?;
  photonPersistentDisk PhotonPersistentDiskVolumeSource?; portworxVolume PortworxVolumeSource?;
  scaleIO ScaleIOPersistentVolumeSource?; local LocalVolumeSource?; storageos StorageOSPersistentVolumeSource?;
  csi CSIPersistentVolumeSource?
PersistentVolumeStatus
  phase str; message str; reason str; lastPhaseTransitionTime time?
PhotonPersistentDiskVolumeSource
  pdID str!; fsType str
Pod +meta
  spec PodSpec; status PodStatus
PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm] atomic;
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm] atomic
PodAffinityTerm
  labelSelector LabelSelector?; namespaces [str] atomic; topologyKey str!; namespaceSelector LabelSelector?;
  matchLabelKeys [str] atomic; mismatchLabelKeys [str] atomic
PodAntiAffinity
  requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm] atomic;
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm] atomic
PodCertificateProjection
  signerName str req; keyType str req; maxExpirationSeconds int32?; credentialBundlePath str; keyPath str;
  certificateChainPath str; userAnnotations {str}
PodCondition
  type str!; observedGeneration int64; status str!; lastProbeTime time; lastTransitionTime time; reason str;
  message str
PodDNSConfig
  nameservers [str] atomic; searches [str] atomic; options [PodDNSConfigOption] atomic
PodDNSConfigOption
  name str; value str?
PodExtendedResourceClaimStatus
  requestMappings [ContainerExtendedResourceRequest]! atomic; resourceClaimName str!
PodIP
  ip str!
PodOS
  name str!
PodReadinessGate
  conditionType str!
PodResourceClaim
  name str!; resourceClaimName str?; resourceClaimTemplateName str?
PodResourceClaimStatus
  name str!; resourceClaimName str?
PodSchedulingGate
  name str!
PodSecurityContext
  seLinuxOptions SELinuxOptions?; windowsOptions WindowsSecurityContextOptions?; runAsUser int64?; runAsGroup int64?;
  runAsNonRoot bool?; supplementalGroups [int64] atomic; supplementalGroupsPolicy str?; fsGroup int64?;
  sysctls [Sysctl] atomic; fsGroupChangePolicy str?; seccompProfile SeccompProfile?; appArmorProfile AppArmorProfile?;
  seLinuxChangePolicy str?
PodSchedulingGroup
  podGroupName str?
PodSpec
  volumes [Volume] by:name retainKeys; initContainers [Container] by:name; containers [Container]! by:name;
  ephemeralContainers [EphemeralContainer] by:name; restartPolicy str; terminationGracePeriodSeconds int64?;
  activeDeadlineSeconds int64?; dnsPolicy str; nodeSelector {str} atomic; serviceAccountName str; serviceAccount str;
  automountServiceAccountToken bool?; nodeName str; hostNetwork bool; hostPID bool; hostIPC bool;
  shareProcessNamespace bool?; securityContext PodSecurityContext?; imagePullSecrets [LocalObjectReference] by:name;
  hostname str; subdomain str; affinity Affinity?; schedulerName str; tolerations [Toleration] atomic;
  hostAliases [HostAlias] by:ip; priorityClassName str; priority int32?; dnsConfig PodDNSConfig?;
  readinessGates [PodReadinessGate] atomic; runtimeClassName str?; enableServiceLinks bool?; preemptionPolicy str?;
  overhead {quantity};
  topologySpreadConstraints [TopologySpreadConstraint] map:topologyKey,whenUnsatisfiable merge:topologyKey;
  setHostnameAsFQDN bool?; os PodOS?; hostUsers bool?; schedulingGates [PodSchedulingGate] by:name;
  resourceClaims [PodResourceClaim] by:name retainKeys; resources ResourceRequirements?; hostnameOverride str?;
  workloadRef WorkloadReference?; schedulingGroup PodSchedulingGroup?
PodStatus
  observedGeneration int64; phase str; conditions [PodCondition] by:type; message str; reason str;
  nominatedNodeName str; hostIP str; hostIPs [HostIP] atomic merge:ip; podIP str; podIPs [PodIP] by:ip;
  startTime time?; initContainerStatuses [ContainerStatus] atomic; containerStatuses [ContainerStatus] atomic;
  qosClass str; ephemeralContainerStatuses [ContainerStatus] atomic; resize str;
  resourceClaimStatuses [PodResourceClaimStatus] by:name retainKeys;
  extendedResourceClaimStatus PodExtendedResourceClaimStatus?; allocatedResources {quantity};
  resources ResourceRequirements?
PodTemplate +meta
  template PodTemplateSpec
PodTemplateSpec
  metadata ObjectMeta; spec PodSpec
PortStatus
  port int32!; protocol str!; error str?
PortworxVolumeSource
  volumeID str!; fsType str; readOnly bool
PreferredSchedulingTerm
  weight int32!; preference NodeSelectorTerm!
Probe
  initialDelaySeconds int32; timeoutSeconds int32; periodSeconds int32; successThreshold int32;
  failureThreshold int32; terminationGracePeriodSeconds int64?; exec ExecAction?; httpGet HTTPGetAction?;
  tcpSocket TCPSocketAction?; grpc GRPCAction?
ProjectedVolumeSource
  sources [VolumeProjection]! opt atomic; defaultMode int32?
QuobyteVolumeSource
  registry str!; volume str!; readOnly bool; user str; group str; tenant str
RBDPersistentVolumeSource
  monitors [str]! atomic; image str!; fsType str; pool str ="rbd"; user str ="admin";
  keyring str ="/etc/ceph/keyring"; secretRef SecretReference?; readOnly bool
RBDVolumeSource
  monitors [str]! atomic; image str!; fsType str; pool str ="rbd"; user str ="admin";
  keyring str ="/etc/ceph/keyring"; secretRef LocalObjectReference?; readOnly bool
ReplicationController +meta
  spec ReplicationControllerSpec; status ReplicationControllerStatus
ReplicationControllerCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
ReplicationControllerSpec
  replicas int32? =1; minReadySeconds int32; selector {str} atomic; template PodTemplateSpec?
ReplicationControllerStatus
  replicas int32!; fullyLabeledReplicas int32; readyReplicas int32; availableReplicas int32; observedGeneration int64;
  conditions [ReplicationControllerCondition] by:type
ResourceClaim
  name str!; request str
ResourceFieldSelector atomic
  containerName str; resource str!; divisor quantity
ResourceHealth
  resourceID str!; health str
ResourceQuota +meta
  spec ResourceQuotaSpec; status ResourceQuotaStatus
ResourceQuotaSpec
  hard {quantity}; scopes [str] atomic; scopeSelector ScopeSelector?
ResourceQuotaStatus
  hard {quantity}; used {quantity}
ResourceRequirements
  limits {quantity}; requests {quantity}; claims [ResourceClaim] map:name
ResourceStatus
  name str!; resources [ResourceHealth] map:resourceID
SELinuxOptions
  user str; role str; type str; level str
ScaleIOPersistentVolumeSource
  gateway str!; system str!; secretRef SecretReference?!; sslEnabled bool; protectionDomain str; storagePool str;
  storageMode str ="ThinProvisioned"; volumeName str; fsType str ="xfs"; readOnly bool
ScaleIOVolumeSource
  gateway str!; system str!; secretRef LocalObjectReference?!; sslEnabled bool; protectionDomain str; storagePool str;
  storageMode str ="ThinProvisioned"; volumeName str; fsType str ="xfs"; readOnly bool
ScopeSelector atomic
  matchExpressions [ScopedResourceSelectorRequirement] atomic
ScopedResourceSelectorRequirement
  scopeName str!; operator str!; values [str] atomic
SeccompProfile
  type str!; localhostProfile str?
Secret +meta
  immutable bool?; data {bytes}; stringData {str}; type str
SecretEnvSource crd-atomic
  optional bool?; name str =""
SecretKeySelector atomic
  key str!; optional bool?; name str =""
SecretProjection crd-atomic
  items [KeyToPath] atomic; optional bool?; name str =""
SecretReference atomic
  name str; namespace str
SecretVolumeSource
  secretName str; items [KeyToPath] atomic; defaultMode int32?; optional bool?
SecurityContext
  capabilities Capabilities?; privileged bool?; seLinuxOptions SELinuxOptions?;
  windowsOptions WindowsSecurityContextOptions?; runAsUser int64?; runAsGroup int64?; runAsNonRoot bool?;
  readOnlyRootFilesystem bool?; allowPrivilegeEscalation bool?; procMount str?; seccompProfile SeccompProfile?;
  appArmorProfile AppArmorProfile?
Service +meta
  spec ServiceSpec; status ServiceStatus
ServiceAccount +meta
  secrets [ObjectReference] by:name; imagePullSecrets [LocalObjectReference] atomic;
  automountServiceAccountToken bool?
ServiceAccountTokenProjection
  audience str; expirationSeconds int64?; path str!
ServicePort
  name str; protocol str ="TCP"; appProtocol str?; port int32!; targetPort intstr; nodePort int32
ServiceSpec
  ports [ServicePort] map:port,protocol merge:port; selector {str} atomic; clusterIP str; clusterIPs [str] atomic;
  type str; externalIPs [str] atomic; sessionAffinity str; loadBalancerIP str; loadBalancerSourceRanges [str] atomic;
  externalName str; externalTrafficPolicy str; healthCheckNodePort int32; publishNotReadyAddresses bool;
  sessionAffinityConfig SessionAffinityConfig?; ipFamilies [str] atomic; ipFamilyPolicy str?;
  allocateLoadBalancerNodePorts bool?; loadBalancerClass str?; internalTrafficPolicy str?; trafficDistribution str?
ServiceStatus
  loadBalancer LoadBalancerStatus; conditions [Condition] by:type
SessionAffinityConfig
  clientIP ClientIPConfig?
SleepAction
  seconds int64!
StorageOSPersistentVolumeSource
  volumeName str; volumeNamespace str; fsType str; readOnly bool; secretRef ObjectReference?
StorageOSVolumeSource
  volumeName str; volumeNamespace str; fsType str; readOnly bool; secretRef LocalObjectReference?
Sysctl
  name str!; value str!
TCPSocketAction
  port intstr!; host str
Taint
  key str!; value str; effect str!; timeAdded time?
Toleration
  key str; operator str; value str; effect str; tolerationSeconds int64?
TopologySelectorLabelRequirement
  key str!; values [str]! atomic
TopologySelectorTerm atomic
  matchLabelExpressions [TopologySelectorLabelRequirement] atomic
TopologySpreadConstraint
  maxSkew int32!; topologyKey str!; whenUnsatisfiable str!; labelSelector LabelSelector?; minDomains int32?;
  nodeAffinityPolicy str?; nodeTaintsPolicy str?; matchLabelKeys [str] atomic
TypedLocalObjectReference atomic
  apiGroup str?! opt; kind str!; name str!
TypedObjectReference
  apiGroup str?! opt; kind str!; name str!; namespace str?
Volume
  name str!; hostPath HostPathVolumeSource?; emptyDir EmptyDirVolumeSource?;
  gcePersistentDisk GCEPersistentDiskVolumeSource?; awsElasticBlockStore AWSElasticBlockStoreVolumeSource?;
  gitRepo GitRepoVolumeSource?; secret SecretVolumeSource?; nfs NFSVolumeSource?; iscsi ISCSIVolumeSource?;
  glusterfs GlusterfsVolumeSource?; persistentVolumeClaim PersistentVolumeClaimVolumeSource?; rbd RBDVolumeSource?;
  flexVolume FlexVolumeSource?; cinder CinderVolumeSource?; cephfs CephFSVolumeSource?; flocker FlockerVolumeSource?;
  downwardAPI DownwardAPIVolumeSource?; fc FCVolumeSource?; azureFile AzureFileVolumeSource?;
  configMap ConfigMapVolumeSource?; vsphereVolume VsphereVirtualDiskVolumeSource?; quobyte QuobyteVolumeSource?;
  azureDisk AzureDiskVolumeSource?; photonPersistentDisk PhotonPersistentDiskVolumeSource?;
  projected ProjectedVolumeSource?; portworxVolume PortworxVolumeSource?; scaleIO ScaleIOVolumeSource?;
  storageos StorageOSVolumeSource?; csi CSIVolumeSource?; ephemeral EphemeralVolumeSource?; image ImageVolumeSource?
VolumeDevice
  name str!; devicePath str!
VolumeMount
  name str!; readOnly bool; recursiveReadOnly str?; mountPath str!; subPath str; mountPropagation str?;
  subPathExpr str
VolumeMountStatus
  name str!; mountPath str!; readOnly bool; recursiveReadOnly str?
VolumeNodeAffinity
  required NodeSelector?
VolumeProjection
  secret SecretProjection?; downwardAPI DownwardAPIProjection?; configMap ConfigMapProjection?;
  serviceAccountToken ServiceAccountTokenProjection?; clusterTrustBundle ClusterTrustBundleProjection?;
  podCertificate PodCertificateProjection?
VolumeResourceRequirements
  limits {quantity}; requests {quantity}
VsphereVirtualDiskVolumeSource
  volumePath str!; fsType str; storagePolicyName str; storagePolicyID str
WeightedPodAffinityTerm
  weight int32!; podAffinityTerm PodAffinityTerm!
WindowsSecurityContextOptions
  gmsaCredentialSpecName str?; gmsaCredentialSpec str?; runAsUserName str?; hostProcess bool?
WorkloadReference
  name str!; podGroup str!; podGroupReplicaKey str
"""
