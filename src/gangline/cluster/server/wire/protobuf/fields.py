"""Field numbers of the built-in kinds in protobuf, as one table of facts.

A line is a message: its name, then `number name type` for each field. Types: s text, b flag, i number, f float, y
bytes, q quantity, t time, u time with microseconds, d duration, x number or text, r raw JSON, `.Name` a message of the
same group, `group.version.Name` one of another. `*` before a type: a list of it; `%`: a map from texts to it; `@items`:
a message that is only a list of texts; `@schemas`, `@schema-or-flag`, `@schema-or-texts`: what a JSON schema has in
several forms. `?` behind a type: left out when it is empty. `=` instead of a name: the fields
of that message stand in this one."""

from __future__ import annotations

FIELDS = """\
[core.v1]
Volume: 1 name s, 2 = .VolumeSource
VolumeSource: 1 hostPath .HostPathVolumeSource, 2 emptyDir .EmptyDirVolumeSource, 3 gcePersistentDisk .GCEPersistentDiskVolumeSource, 4
  awsElasticBlockStore .AWSElasticBlockStoreVolumeSource, 5 gitRepo .GitRepoVolumeSource, 6 secret .SecretVolumeSource, 7 nfs
  .NFSVolumeSource, 8 iscsi .ISCSIVolumeSource, 9 glusterfs .GlusterfsVolumeSource, 10 persistentVolumeClaim
  .PersistentVolumeClaimVolumeSource, 11 rbd .RBDVolumeSource, 12 flexVolume .FlexVolumeSource, 13 cinder .CinderVolumeSource, 14 cephfs
  .CephFSVolumeSource, 15 flocker .FlockerVolumeSource, 16 downwardAPI .DownwardAPIVolumeSource, 17 fc .FCVolumeSource, 18 azureFile
  .AzureFileVolumeSource, 19 configMap .ConfigMapVolumeSource, 20 vsphereVolume .VsphereVirtualDiskVolumeSource, 21 quobyte
  .QuobyteVolumeSource, 22 azureDisk .AzureDiskVolumeSource, 23 photonPersistentDisk .PhotonPersistentDiskVolumeSource, 24
  portworxVolume .PortworxVolumeSource, 25 scaleIO .ScaleIOVolumeSource, 26 projected .ProjectedVolumeSource, 27 storageos
  .StorageOSVolumeSource, 28 csi .CSIVolumeSource, 29 ephemeral .EphemeralVolumeSource, 30 image .ImageVolumeSource
PersistentVolumeClaimVolumeSource: 1 claimName s, 2 readOnly b?
PersistentVolumeSource: 1 gcePersistentDisk .GCEPersistentDiskVolumeSource, 2 awsElasticBlockStore .AWSElasticBlockStoreVolumeSource, 3
  hostPath .HostPathVolumeSource, 4 glusterfs .GlusterfsPersistentVolumeSource, 5 nfs .NFSVolumeSource, 6 rbd
  .RBDPersistentVolumeSource, 7 iscsi .ISCSIPersistentVolumeSource, 8 cinder .CinderPersistentVolumeSource, 9 cephfs
  .CephFSPersistentVolumeSource, 10 fc .FCVolumeSource, 11 flocker .FlockerVolumeSource, 12 flexVolume .FlexPersistentVolumeSource, 13
  azureFile .AzureFilePersistentVolumeSource, 14 vsphereVolume .VsphereVirtualDiskVolumeSource, 15 quobyte .QuobyteVolumeSource, 16
  azureDisk .AzureDiskVolumeSource, 17 photonPersistentDisk .PhotonPersistentDiskVolumeSource, 18 portworxVolume .PortworxVolumeSource,
  19 scaleIO .ScaleIOPersistentVolumeSource, 20 local .LocalVolumeSource, 21 storageos .StorageOSPersistentVolumeSource, 22 csi
  .CSIPersistentVolumeSource
PersistentVolume: 1 metadata meta.ObjectMeta, 2 spec .PersistentVolumeSpec, 3 status .PersistentVolumeStatus
PersistentVolumeSpec: 1 capacity %q, 2 = .PersistentVolumeSource, 3 accessModes *s, 4 claimRef .ObjectReference, 5
  persistentVolumeReclaimPolicy s?, 6 storageClassName s?, 7 mountOptions *s, 8 volumeMode s, 9 nodeAffinity .VolumeNodeAffinity, 10
  volumeAttributesClassName s
VolumeNodeAffinity: 1 required .NodeSelector
PersistentVolumeStatus: 1 phase s?, 2 message s?, 3 reason s?, 4 lastPhaseTransitionTime t
PersistentVolumeClaim: 1 metadata meta.ObjectMeta, 2 spec .PersistentVolumeClaimSpec, 3 status .PersistentVolumeClaimStatus
PersistentVolumeClaimSpec: 1 accessModes *s, 2 resources .VolumeResourceRequirements, 3 volumeName s?, 4 selector meta.LabelSelector, 5
  storageClassName s, 6 volumeMode s, 7 dataSource .TypedLocalObjectReference, 8 dataSourceRef .TypedObjectReference, 9
  volumeAttributesClassName s
TypedObjectReference: 1 apiGroup s, 2 kind s, 3 name s, 4 namespace s
ModifyVolumeStatus: 1 targetVolumeAttributesClassName s?, 2 status s
PersistentVolumeClaimCondition: 1 type s, 2 status s, 3 lastProbeTime t, 4 lastTransitionTime t, 5 reason s?, 6 message s?
PersistentVolumeClaimStatus: 1 phase s?, 2 accessModes *s, 3 capacity %q, 4 conditions *.PersistentVolumeClaimCondition, 5
  allocatedResources %q, 7 allocatedResourceStatuses %s, 8 currentVolumeAttributesClassName s, 9 modifyVolumeStatus .ModifyVolumeStatus
HostPathVolumeSource: 1 path s, 2 type s
EmptyDirVolumeSource: 1 medium s?, 2 sizeLimit q
GlusterfsVolumeSource: 1 endpoints s, 2 path s, 3 readOnly b?
GlusterfsPersistentVolumeSource: 1 endpoints s, 2 path s, 3 readOnly b?, 4 endpointsNamespace s
RBDVolumeSource: 1 monitors *s, 2 image s, 3 fsType s?, 4 pool s?, 5 user s?, 6 keyring s?, 7 secretRef .LocalObjectReference, 8
  readOnly b?
RBDPersistentVolumeSource: 1 monitors *s, 2 image s, 3 fsType s?, 4 pool s?, 5 user s?, 6 keyring s?, 7 secretRef .SecretReference, 8
  readOnly b?
CinderVolumeSource: 1 volumeID s, 2 fsType s?, 3 readOnly b?, 4 secretRef .LocalObjectReference
CinderPersistentVolumeSource: 1 volumeID s, 2 fsType s?, 3 readOnly b?, 4 secretRef .SecretReference
CephFSVolumeSource: 1 monitors *s, 2 path s?, 3 user s?, 4 secretFile s?, 5 secretRef .LocalObjectReference, 6 readOnly b?
SecretReference: 1 name s?, 2 namespace s?
CephFSPersistentVolumeSource: 1 monitors *s, 2 path s?, 3 user s?, 4 secretFile s?, 5 secretRef .SecretReference, 6 readOnly b?
FlockerVolumeSource: 1 datasetName s?, 2 datasetUUID s?
GCEPersistentDiskVolumeSource: 1 pdName s, 2 fsType s?, 3 partition i?, 4 readOnly b?
QuobyteVolumeSource: 1 registry s, 2 volume s, 3 readOnly b?, 4 user s?, 5 group s?, 6 tenant s?
FlexPersistentVolumeSource: 1 driver s, 2 fsType s?, 3 secretRef .SecretReference, 4 readOnly b?, 5 options %s
FlexVolumeSource: 1 driver s, 2 fsType s?, 3 secretRef .LocalObjectReference, 4 readOnly b?, 5 options %s
AWSElasticBlockStoreVolumeSource: 1 volumeID s, 2 fsType s?, 3 partition i?, 4 readOnly b?
GitRepoVolumeSource: 1 repository s, 2 revision s?, 3 directory s?
SecretVolumeSource: 1 secretName s?, 2 items *.KeyToPath, 3 defaultMode i, 4 optional b
SecretProjection: 1 = .LocalObjectReference, 2 items *.KeyToPath, 4 optional b
NFSVolumeSource: 1 server s, 2 path s, 3 readOnly b?
ISCSIVolumeSource: 1 targetPortal s, 2 iqn s, 3 lun i, 4 iscsiInterface s?, 5 fsType s?, 6 readOnly b?, 7 portals *s, 8
  chapAuthDiscovery b?, 10 secretRef .LocalObjectReference, 11 chapAuthSession b?, 12 initiatorName s
ISCSIPersistentVolumeSource: 1 targetPortal s, 2 iqn s, 3 lun i, 4 iscsiInterface s?, 5 fsType s?, 6 readOnly b?, 7 portals *s, 8
  chapAuthDiscovery b?, 10 secretRef .SecretReference, 11 chapAuthSession b?, 12 initiatorName s
FCVolumeSource: 1 targetWWNs *s, 2 lun i, 3 fsType s?, 4 readOnly b?, 5 wwids *s
AzureFileVolumeSource: 1 secretName s, 2 shareName s, 3 readOnly b?
AzureFilePersistentVolumeSource: 1 secretName s, 2 shareName s, 3 readOnly b?, 4 secretNamespace s
VsphereVirtualDiskVolumeSource: 1 volumePath s, 2 fsType s?, 3 storagePolicyName s?, 4 storagePolicyID s?
PhotonPersistentDiskVolumeSource: 1 pdID s, 2 fsType s?
AzureDiskVolumeSource: 1 diskName s, 2 diskURI s, 3 cachingMode s, 4 fsType s, 5 readOnly b, 6 kind s
PortworxVolumeSource: 1 volumeID s, 2 fsType s?, 3 readOnly b?
ScaleIOVolumeSource: 1 gateway s, 2 system s, 3 secretRef .LocalObjectReference, 4 sslEnabled b?, 5 protectionDomain s?, 6 storagePool
  s?, 7 storageMode s?, 8 volumeName s?, 9 fsType s?, 10 readOnly b?
ScaleIOPersistentVolumeSource: 1 gateway s, 2 system s, 3 secretRef .SecretReference, 4 sslEnabled b?, 5 protectionDomain s?, 6
  storagePool s?, 7 storageMode s?, 8 volumeName s?, 9 fsType s?, 10 readOnly b?
StorageOSVolumeSource: 1 volumeName s?, 2 volumeNamespace s?, 3 fsType s?, 4 readOnly b?, 5 secretRef .LocalObjectReference
StorageOSPersistentVolumeSource: 1 volumeName s?, 2 volumeNamespace s?, 3 fsType s?, 4 readOnly b?, 5 secretRef .ObjectReference
ConfigMapVolumeSource: 1 = .LocalObjectReference, 2 items *.KeyToPath, 3 defaultMode i, 4 optional b
ConfigMapProjection: 1 = .LocalObjectReference, 2 items *.KeyToPath, 4 optional b
ServiceAccountTokenProjection: 1 audience s?, 2 expirationSeconds i, 3 path s
ClusterTrustBundleProjection: 1 name s, 2 signerName s, 3 labelSelector meta.LabelSelector, 4 path s, 5 optional b
PodCertificateProjection: 1 signerName s?, 2 keyType s?, 3 maxExpirationSeconds i, 4 credentialBundlePath s?, 5 keyPath s?, 6
  certificateChainPath s?, 7 userAnnotations %s
ProjectedVolumeSource: 1 sources *.VolumeProjection, 2 defaultMode i
VolumeProjection: 1 secret .SecretProjection, 2 downwardAPI .DownwardAPIProjection, 3 configMap .ConfigMapProjection, 4
  serviceAccountToken .ServiceAccountTokenProjection, 5 clusterTrustBundle .ClusterTrustBundleProjection, 6 podCertificate
  .PodCertificateProjection
KeyToPath: 1 key s, 2 path s, 3 mode i
LocalVolumeSource: 1 path s, 2 fsType s
CSIPersistentVolumeSource: 1 driver s, 2 volumeHandle s, 3 readOnly b?, 4 fsType s?, 5 volumeAttributes %s, 6 controllerPublishSecretRef
  .SecretReference, 7 nodeStageSecretRef .SecretReference, 8 nodePublishSecretRef .SecretReference, 9 controllerExpandSecretRef
  .SecretReference, 10 nodeExpandSecretRef .SecretReference
CSIVolumeSource: 1 driver s, 2 readOnly b, 3 fsType s, 4 volumeAttributes %s, 5 nodePublishSecretRef .LocalObjectReference
EphemeralVolumeSource: 1 volumeClaimTemplate .PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate: 1 metadata meta.ObjectMeta, 2 spec .PersistentVolumeClaimSpec
ContainerPort: 1 name s?, 2 hostPort i?, 3 containerPort i, 4 protocol s?, 5 hostIP s?
VolumeMount: 1 name s, 2 readOnly b?, 3 mountPath s, 4 subPath s?, 5 mountPropagation s, 6 subPathExpr s?, 7 recursiveReadOnly s
VolumeDevice: 1 name s, 2 devicePath s
EnvVar: 1 name s, 2 value s?, 3 valueFrom .EnvVarSource
EnvVarSource: 1 fieldRef .ObjectFieldSelector, 2 resourceFieldRef .ResourceFieldSelector, 3 configMapKeyRef .ConfigMapKeySelector, 4
  secretKeyRef .SecretKeySelector, 5 fileKeyRef .FileKeySelector
FileKeySelector: 1 volumeName s, 2 path s, 3 key s, 4 optional b
ObjectFieldSelector: 1 apiVersion s?, 2 fieldPath s
ResourceFieldSelector: 1 containerName s?, 2 resource s, 3 divisor q
ConfigMapKeySelector: 1 = .LocalObjectReference, 2 key s, 3 optional b
SecretKeySelector: 1 = .LocalObjectReference, 2 key s, 3 optional b
EnvFromSource: 1 prefix s?, 2 configMapRef .ConfigMapEnvSource, 3 secretRef .SecretEnvSource
ConfigMapEnvSource: 1 = .LocalObjectReference, 2 optional b
SecretEnvSource: 1 = .LocalObjectReference, 2 optional b
HTTPHeader: 1 name s, 2 value s
HTTPGetAction: 1 path s?, 2 port x, 3 host s?, 4 scheme s?, 5 httpHeaders *.HTTPHeader
TCPSocketAction: 1 port x, 2 host s?
GRPCAction: 1 port i, 2 service s
ExecAction: 1 command *s
SleepAction: 1 seconds i
Probe: 1 = .ProbeHandler, 2 initialDelaySeconds i?, 3 timeoutSeconds i?, 4 periodSeconds i?, 5 successThreshold i?, 6 failureThreshold
  i?, 7 terminationGracePeriodSeconds i
ContainerResizePolicy: 1 resourceName s, 2 restartPolicy s
Capabilities: 1 add *s, 2 drop *s
ResourceRequirements: 1 limits %q, 2 requests %q, 3 claims *.ResourceClaim
VolumeResourceRequirements: 1 limits %q, 2 requests %q
ResourceClaim: 1 name s, 2 request s?
Container: 1 name s, 2 image s?, 3 command *s, 4 args *s, 5 workingDir s?, 6 ports *.ContainerPort, 7 env *.EnvVar, 8 resources
  .ResourceRequirements, 9 volumeMounts *.VolumeMount, 10 livenessProbe .Probe, 11 readinessProbe .Probe, 12 lifecycle .Lifecycle, 13
  terminationMessagePath s?, 14 imagePullPolicy s?, 15 securityContext .SecurityContext, 16 stdin b?, 17 stdinOnce b?, 18 tty b?, 19
  envFrom *.EnvFromSource, 20 terminationMessagePolicy s?, 21 volumeDevices *.VolumeDevice, 22 startupProbe .Probe, 23 resizePolicy
  *.ContainerResizePolicy, 24 restartPolicy s, 25 restartPolicyRules *.ContainerRestartRule
ProbeHandler: 1 exec .ExecAction, 2 httpGet .HTTPGetAction, 3 tcpSocket .TCPSocketAction, 4 grpc .GRPCAction
LifecycleHandler: 1 exec .ExecAction, 2 httpGet .HTTPGetAction, 3 tcpSocket .TCPSocketAction, 4 sleep .SleepAction
Lifecycle: 1 postStart .LifecycleHandler, 2 preStop .LifecycleHandler, 3 stopSignal s
ContainerStateWaiting: 1 reason s?, 2 message s?
ContainerStateRunning: 1 startedAt t
ContainerStateTerminated: 1 exitCode i, 2 signal i?, 3 reason s?, 4 message s?, 5 startedAt t, 6 finishedAt t, 7 containerID s?
ContainerState: 1 waiting .ContainerStateWaiting, 2 running .ContainerStateRunning, 3 terminated .ContainerStateTerminated
ContainerStatus: 1 name s, 2 state .ContainerState, 3 lastState .ContainerState, 4 ready b, 5 restartCount i, 6 image s, 7 imageID s, 8
  containerID s?, 9 started b, 10 allocatedResources %q, 11 resources .ResourceRequirements, 12 volumeMounts *.VolumeMountStatus, 13
  user .ContainerUser, 14 allocatedResourcesStatus *.ResourceStatus, 15 stopSignal s
ResourceStatus: 1 name s, 2 resources *.ResourceHealth
ResourceHealth: 1 resourceID s, 2 health s?
ContainerUser: 1 linux .LinuxContainerUser
LinuxContainerUser: 1 uid i, 2 gid i, 3 supplementalGroups *i
PodCondition: 1 type s, 2 status s, 3 lastProbeTime t, 4 lastTransitionTime t, 5 reason s?, 6 message s?, 7 observedGeneration i?
VolumeMountStatus: 1 name s, 2 mountPath s, 3 readOnly b?, 4 recursiveReadOnly s
ContainerRestartRule: 1 action s?, 2 exitCodes .ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: 1 operator s?, 2 values *i
NodeSelector: 1 nodeSelectorTerms *.NodeSelectorTerm
NodeSelectorTerm: 1 matchExpressions *.NodeSelectorRequirement, 2 matchFields *.NodeSelectorRequirement
NodeSelectorRequirement: 1 key s, 2 operator s, 3 values *s
TopologySelectorTerm: 1 matchLabelExpressions *.TopologySelectorLabelRequirement
TopologySelectorLabelRequirement: 1 key s, 2 values *s
Affinity: 1 nodeAffinity .NodeAffinity, 2 podAffinity .PodAffinity, 3 podAntiAffinity .PodAntiAffinity
PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution *.PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution
  *.WeightedPodAffinityTerm
PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution *.PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution
  *.WeightedPodAffinityTerm
WeightedPodAffinityTerm: 1 weight i, 2 podAffinityTerm .PodAffinityTerm
PodAffinityTerm: 1 labelSelector meta.LabelSelector, 2 namespaces *s, 3 topologyKey s, 4 namespaceSelector meta.LabelSelector, 5
  matchLabelKeys *s, 6 mismatchLabelKeys *s
NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution .NodeSelector, 2 preferredDuringSchedulingIgnoredDuringExecution
  *.PreferredSchedulingTerm
PreferredSchedulingTerm: 1 weight i, 2 preference .NodeSelectorTerm
Taint: 1 key s, 2 value s?, 3 effect s, 4 timeAdded t
Toleration: 1 key s?, 2 operator s?, 3 value s?, 4 effect s?, 5 tolerationSeconds i
PodReadinessGate: 1 conditionType s
PodSchedulingGroup: 1 podGroupName s
PodSpec: 1 volumes *.Volume, 2 containers *.Container, 3 restartPolicy s?, 4 terminationGracePeriodSeconds i, 5 activeDeadlineSeconds i,
  6 dnsPolicy s?, 7 nodeSelector %s, 8 serviceAccountName s?, 9 serviceAccount s?, 10 nodeName s?, 11 hostNetwork b?, 12 hostPID b?, 13
  hostIPC b?, 14 securityContext .PodSecurityContext, 15 imagePullSecrets *.LocalObjectReference, 16 hostname s?, 17 subdomain s?, 18
  affinity .Affinity, 19 schedulerName s?, 20 initContainers *.Container, 21 automountServiceAccountToken b, 22 tolerations
  *.Toleration, 23 hostAliases *.HostAlias, 24 priorityClassName s?, 25 priority i, 26 dnsConfig .PodDNSConfig, 27 shareProcessNamespace
  b, 28 readinessGates *.PodReadinessGate, 29 runtimeClassName s, 30 enableServiceLinks b, 31 preemptionPolicy s, 32 overhead %q, 33
  topologySpreadConstraints *.TopologySpreadConstraint, 34 ephemeralContainers *.EphemeralContainer, 35 setHostnameAsFQDN b, 36 os
  .PodOS, 37 hostUsers b, 38 schedulingGates *.PodSchedulingGate, 39 resourceClaims *.PodResourceClaim, 40 resources
  .ResourceRequirements, 41 hostnameOverride s, 42 workloadRef .WorkloadReference, 43
  schedulingGroup .PodSchedulingGroup
PodResourceClaim: 1 name s, 3 resourceClaimName s, 4 resourceClaimTemplateName s
PodResourceClaimStatus: 1 name s, 2 resourceClaimName s
PodExtendedResourceClaimStatus: 1 requestMappings *.ContainerExtendedResourceRequest, 2 resourceClaimName s
ContainerExtendedResourceRequest: 1 containerName s, 2 resourceName s, 3 requestName s
PodOS: 1 name s
PodSchedulingGate: 1 name s
WorkloadReference: 1 name s, 2 podGroup s, 3 podGroupReplicaKey s?
TopologySpreadConstraint: 1 maxSkew i, 2 topologyKey s, 3 whenUnsatisfiable s, 4 labelSelector meta.LabelSelector, 5 minDomains i, 6
  nodeAffinityPolicy s, 7 nodeTaintsPolicy s, 8 matchLabelKeys *s
HostAlias: 1 ip s, 2 hostnames *s
PodSecurityContext: 1 seLinuxOptions .SELinuxOptions, 2 runAsUser i, 3 runAsNonRoot b, 4 supplementalGroups *i, 5 fsGroup i, 6
  runAsGroup i, 7 sysctls *.Sysctl, 8 windowsOptions .WindowsSecurityContextOptions, 9 fsGroupChangePolicy s, 10 seccompProfile
  .SeccompProfile, 11 appArmorProfile .AppArmorProfile, 12 supplementalGroupsPolicy s, 13 seLinuxChangePolicy s
SeccompProfile: 1 type s, 2 localhostProfile s
AppArmorProfile: 1 type s, 2 localhostProfile s
PodDNSConfig: 1 nameservers *s, 2 searches *s, 3 options *.PodDNSConfigOption
PodDNSConfigOption: 1 name s?, 2 value s
PodIP: 1 ip s
HostIP: 1 ip s
EphemeralContainerCommon: 1 name s, 2 image s?, 3 command *s, 4 args *s, 5 workingDir s?, 6 ports *.ContainerPort, 7 env *.EnvVar, 8
  resources .ResourceRequirements, 9 volumeMounts *.VolumeMount, 10 livenessProbe .Probe, 11 readinessProbe .Probe, 12 lifecycle
  .Lifecycle, 13 terminationMessagePath s?, 14 imagePullPolicy s?, 15 securityContext .SecurityContext, 16 stdin b?, 17 stdinOnce b?, 18
  tty b?, 19 envFrom *.EnvFromSource, 20 terminationMessagePolicy s?, 21 volumeDevices *.VolumeDevice, 22 startupProbe .Probe, 23
  resizePolicy *.ContainerResizePolicy, 24 restartPolicy s, 25 restartPolicyRules *.ContainerRestartRule
EphemeralContainer: 1 = .EphemeralContainerCommon, 2 targetContainerName s?
PodStatus: 1 phase s?, 2 conditions *.PodCondition, 3 message s?, 4 reason s?, 5 hostIP s?, 6 podIP s?, 7 startTime t, 8
  containerStatuses *.ContainerStatus, 9 qosClass s?, 10 initContainerStatuses *.ContainerStatus, 11 nominatedNodeName s?, 12 podIPs
  *.PodIP, 13 ephemeralContainerStatuses *.ContainerStatus, 14 resize s?, 15 resourceClaimStatuses *.PodResourceClaimStatus, 16 hostIPs
  *.HostIP, 17 observedGeneration i?, 18 extendedResourceClaimStatus .PodExtendedResourceClaimStatus, 19 allocatedResources %q, 20
  resources .ResourceRequirements
PodStatusResult: 1 metadata meta.ObjectMeta, 2 status .PodStatus
Pod: 1 metadata meta.ObjectMeta, 2 spec .PodSpec, 3 status .PodStatus
PodTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec .PodSpec
PodTemplate: 1 metadata meta.ObjectMeta, 2 template .PodTemplateSpec
ReplicationControllerSpec: 1 replicas i, 2 selector %s, 3 template .PodTemplateSpec, 4 minReadySeconds i?
ReplicationControllerStatus: 1 replicas i, 2 fullyLabeledReplicas i?, 3 observedGeneration i?, 4 readyReplicas i?, 5 availableReplicas
  i?, 6 conditions *.ReplicationControllerCondition
ReplicationControllerCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
ReplicationController: 1 metadata meta.ObjectMeta, 2 spec .ReplicationControllerSpec, 3 status .ReplicationControllerStatus
SessionAffinityConfig: 1 clientIP .ClientIPConfig
ClientIPConfig: 1 timeoutSeconds i
ServiceStatus: 1 loadBalancer .LoadBalancerStatus, 2 conditions *meta.Condition
LoadBalancerStatus: 1 ingress *.LoadBalancerIngress
LoadBalancerIngress: 1 ip s?, 2 hostname s?, 3 ipMode s, 4 ports *.PortStatus
ServiceSpec: 1 ports *.ServicePort, 2 selector %s, 3 clusterIP s?, 4 type s?, 5 externalIPs *s, 7 sessionAffinity s?, 8 loadBalancerIP
  s?, 9 loadBalancerSourceRanges *s, 10 externalName s?, 11 externalTrafficPolicy s?, 12 healthCheckNodePort i?, 13
  publishNotReadyAddresses b?, 14 sessionAffinityConfig .SessionAffinityConfig, 17 ipFamilyPolicy s, 18 clusterIPs *s, 19 ipFamilies *s,
  20 allocateLoadBalancerNodePorts b, 21 loadBalancerClass s, 22 internalTrafficPolicy s, 23 trafficDistribution s
ServicePort: 1 name s?, 2 protocol s?, 3 port i, 4 targetPort x, 5 nodePort i?, 6 appProtocol s
Service: 1 metadata meta.ObjectMeta, 2 spec .ServiceSpec, 3 status .ServiceStatus
ServiceAccount: 1 metadata meta.ObjectMeta, 2 secrets *.ObjectReference, 3 imagePullSecrets *.LocalObjectReference, 4
  automountServiceAccountToken b
Endpoints: 1 metadata meta.ObjectMeta, 2 subsets *.EndpointSubset
EndpointSubset: 1 addresses *.EndpointAddress, 2 notReadyAddresses *.EndpointAddress, 3 ports *.EndpointPort
EndpointAddress: 1 ip s, 2 targetRef .ObjectReference, 3 hostname s?, 4 nodeName s
EndpointPort: 1 name s?, 2 port i, 3 protocol s?, 4 appProtocol s
NodeSpec: 1 podCIDR s?, 2 externalID s?, 3 providerID s?, 4 unschedulable b?, 5 taints *.Taint, 6 configSource .NodeConfigSource, 7
  podCIDRs *s
NodeConfigSource: 2 configMap .ConfigMapNodeConfigSource
ConfigMapNodeConfigSource: 1 namespace s, 2 name s, 3 uid s?, 4 resourceVersion s?, 5 kubeletConfigKey s
DaemonEndpoint: 1 Port i
NodeDaemonEndpoints: 1 kubeletEndpoint .DaemonEndpoint
NodeRuntimeHandlerFeatures: 1 recursiveReadOnlyMounts b, 2 userNamespaces b
NodeRuntimeHandler: 1 name s, 2 features .NodeRuntimeHandlerFeatures
NodeFeatures: 1 supplementalGroupsPolicy b
NodeSystemInfo: 1 machineID s, 2 systemUUID s, 3 bootID s, 4 kernelVersion s, 5 osImage s, 6 containerRuntimeVersion s, 7 kubeletVersion
  s, 8 kubeProxyVersion s, 9 operatingSystem s, 10 architecture s, 11 swap .NodeSwapStatus
NodeSwapStatus: 1 capacity i
NodeConfigStatus: 1 assigned .NodeConfigSource, 2 active .NodeConfigSource, 3 lastKnownGood .NodeConfigSource, 4 error s?
NodeStatus: 1 capacity %q, 2 allocatable %q, 3 phase s?, 4 conditions *.NodeCondition, 5 addresses *.NodeAddress, 6 daemonEndpoints
  .NodeDaemonEndpoints, 7 nodeInfo .NodeSystemInfo, 8 images *.ContainerImage, 9 volumesInUse *s, 10 volumesAttached *.AttachedVolume,
  11 config .NodeConfigStatus, 12 runtimeHandlers *.NodeRuntimeHandler, 13 features .NodeFeatures, 14 declaredFeatures *s
AttachedVolume: 1 name s, 2 devicePath s
AvoidPods: 1 preferAvoidPods *.PreferAvoidPodsEntry
PreferAvoidPodsEntry: 1 podSignature .PodSignature, 2 evictionTime t, 3 reason s?, 4 message s?
PodSignature: 1 podController meta.OwnerReference
ContainerImage: 1 names *s, 2 sizeBytes i?
NodeCondition: 1 type s, 2 status s, 3 lastHeartbeatTime t, 4 lastTransitionTime t, 5 reason s?, 6 message s?
NodeAddress: 1 type s, 2 address s
Node: 1 metadata meta.ObjectMeta, 2 spec .NodeSpec, 3 status .NodeStatus
NamespaceSpec: 1 finalizers *s
NamespaceStatus: 1 phase s?, 2 conditions *.NamespaceCondition
NamespaceCondition: 1 type s, 2 status s, 4 lastTransitionTime t, 5 reason s?, 6 message s?
Namespace: 1 metadata meta.ObjectMeta, 2 spec .NamespaceSpec, 3 status .NamespaceStatus
Binding: 1 metadata meta.ObjectMeta, 2 target .ObjectReference
Preconditions: 1 uid s
PodLogOptions: 1 container s?, 2 follow b?, 3 previous b?, 4 sinceSeconds i, 5 sinceTime t, 6 timestamps b?, 7 tailLines i, 8 limitBytes
  i, 9 insecureSkipTLSVerifyBackend b?, 10 stream s
PodAttachOptions: 1 stdin b?, 2 stdout b?, 3 stderr b?, 4 tty b?, 5 container s?
PodExecOptions: 1 stdin b?, 2 stdout b?, 3 stderr b?, 4 tty b?, 5 container s?, 6 command *s
PodPortForwardOptions: 1 ports *i
PodProxyOptions: 1 path s?
NodeProxyOptions: 1 path s?
ServiceProxyOptions: 1 path s?
ObjectReference: 1 kind s?, 2 namespace s?, 3 name s?, 4 uid s?, 5 apiVersion s?, 6 resourceVersion s?, 7 fieldPath s?
LocalObjectReference: 1 name s?
TypedLocalObjectReference: 1 apiGroup s, 2 kind s, 3 name s
SerializedReference: 1 reference .ObjectReference
EventSource: 1 component s?, 2 host s?
Event: 1 metadata meta.ObjectMeta, 2 involvedObject .ObjectReference, 3 reason s?, 4 message s?, 5 source .EventSource, 6 firstTimestamp
  t, 7 lastTimestamp t, 8 count i?, 9 type s?, 10 eventTime u, 11 series .EventSeries, 12 action s?, 13 related .ObjectReference, 14
  reportingComponent s, 15 reportingInstance s
EventSeries: 1 count i?, 2 lastObservedTime u
LimitRangeItem: 1 type s, 2 max %q, 3 min %q, 4 default %q, 5 defaultRequest %q, 6 maxLimitRequestRatio %q
LimitRangeSpec: 1 limits *.LimitRangeItem
LimitRange: 1 metadata meta.ObjectMeta, 2 spec .LimitRangeSpec
ResourceQuotaSpec: 1 hard %q, 2 scopes *s, 3 scopeSelector .ScopeSelector
ScopeSelector: 1 matchExpressions *.ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: 1 scopeName s, 2 operator s, 3 values *s
ResourceQuotaStatus: 1 hard %q, 2 used %q
ResourceQuota: 1 metadata meta.ObjectMeta, 2 spec .ResourceQuotaSpec, 3 status .ResourceQuotaStatus
Secret: 1 metadata meta.ObjectMeta, 2 data %y, 3 type s?, 4 stringData %s, 5 immutable b
ConfigMap: 1 metadata meta.ObjectMeta, 2 data %s, 3 binaryData %y, 4 immutable b
ComponentCondition: 1 type s, 2 status s, 3 message s?, 4 error s?
ComponentStatus: 1 metadata meta.ObjectMeta, 2 conditions *.ComponentCondition
DownwardAPIVolumeSource: 1 items *.DownwardAPIVolumeFile, 2 defaultMode i
DownwardAPIVolumeFile: 1 path s, 2 fieldRef .ObjectFieldSelector, 3 resourceFieldRef .ResourceFieldSelector, 4 mode i
DownwardAPIProjection: 1 items *.DownwardAPIVolumeFile
SecurityContext: 1 capabilities .Capabilities, 2 privileged b, 3 seLinuxOptions .SELinuxOptions, 4 runAsUser i, 5 runAsNonRoot b, 6
  readOnlyRootFilesystem b, 7 allowPrivilegeEscalation b, 8 runAsGroup i, 9 procMount s, 10 windowsOptions
  .WindowsSecurityContextOptions, 11 seccompProfile .SeccompProfile, 12 appArmorProfile .AppArmorProfile
SELinuxOptions: 1 user s?, 2 role s?, 3 type s?, 4 level s?
WindowsSecurityContextOptions: 1 gmsaCredentialSpecName s, 2 gmsaCredentialSpec s, 3 runAsUserName s, 4 hostProcess b
RangeAllocation: 1 metadata meta.ObjectMeta, 2 range s, 3 data y
Sysctl: 1 name s, 2 value s
PortStatus: 1 port i, 2 protocol s, 3 error s
ImageVolumeSource: 1 reference s?, 2 pullPolicy s?
[apps.v1]
StatefulSet: 1 metadata meta.ObjectMeta, 2 spec .StatefulSetSpec, 3 status .StatefulSetStatus
StatefulSetUpdateStrategy: 1 type s?, 2 rollingUpdate .RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: 1 partition i, 2 maxUnavailable x
StatefulSetPersistentVolumeClaimRetentionPolicy: 1 whenDeleted s?, 2 whenScaled s?
StatefulSetOrdinals: 1 start i
StatefulSetSpec: 1 replicas i, 2 selector meta.LabelSelector, 3 template core.v1.PodTemplateSpec, 4 volumeClaimTemplates
  *core.v1.PersistentVolumeClaim, 5 serviceName s, 6 podManagementPolicy s?, 7 updateStrategy .StatefulSetUpdateStrategy, 8
  revisionHistoryLimit i, 9 minReadySeconds i?, 10 persistentVolumeClaimRetentionPolicy
  .StatefulSetPersistentVolumeClaimRetentionPolicy, 11 ordinals .StatefulSetOrdinals
StatefulSetStatus: 1 observedGeneration i?, 2 replicas i, 3 readyReplicas i?, 4 currentReplicas i?, 5 updatedReplicas i?, 6
  currentRevision s?, 7 updateRevision s?, 9 collisionCount i, 10 conditions *.StatefulSetCondition, 11 availableReplicas i
StatefulSetCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
Deployment: 1 metadata meta.ObjectMeta, 2 spec .DeploymentSpec, 3 status .DeploymentStatus
DeploymentSpec: 1 replicas i, 2 selector meta.LabelSelector, 3 template core.v1.PodTemplateSpec, 4 strategy .DeploymentStrategy, 5
  minReadySeconds i?, 6 revisionHistoryLimit i, 7 paused b?, 9 progressDeadlineSeconds i
DeploymentStrategy: 1 type s?, 2 rollingUpdate .RollingUpdateDeployment
RollingUpdateDeployment: 1 maxUnavailable x, 2 maxSurge x
DeploymentStatus: 1 observedGeneration i?, 2 replicas i?, 3 updatedReplicas i?, 4 availableReplicas i?, 5 unavailableReplicas i?, 6
  conditions *.DeploymentCondition, 7 readyReplicas i?, 8 collisionCount i, 9 terminatingReplicas i
DeploymentCondition: 1 type s, 2 status s, 4 reason s?, 5 message s?, 6 lastUpdateTime t, 7 lastTransitionTime t
DaemonSetUpdateStrategy: 1 type s?, 2 rollingUpdate .RollingUpdateDaemonSet
RollingUpdateDaemonSet: 1 maxUnavailable x, 2 maxSurge x
DaemonSetSpec: 1 selector meta.LabelSelector, 2 template core.v1.PodTemplateSpec, 3 updateStrategy .DaemonSetUpdateStrategy, 4
  minReadySeconds i?, 6 revisionHistoryLimit i
DaemonSetStatus: 1 currentNumberScheduled i, 2 numberMisscheduled i, 3 desiredNumberScheduled i, 4 numberReady i, 5 observedGeneration
  i?, 6 updatedNumberScheduled i?, 7 numberAvailable i?, 8 numberUnavailable i?, 9 collisionCount i, 10 conditions *.DaemonSetCondition
DaemonSetCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
DaemonSet: 1 metadata meta.ObjectMeta, 2 spec .DaemonSetSpec, 3 status .DaemonSetStatus
ReplicaSet: 1 metadata meta.ObjectMeta, 2 spec .ReplicaSetSpec, 3 status .ReplicaSetStatus
ReplicaSetSpec: 1 replicas i, 2 selector meta.LabelSelector, 3 template core.v1.PodTemplateSpec, 4 minReadySeconds i?
ReplicaSetStatus: 1 replicas i, 2 fullyLabeledReplicas i?, 3 observedGeneration i?, 4 readyReplicas i?, 5 availableReplicas i?, 6
  conditions *.ReplicaSetCondition, 7 terminatingReplicas i
ReplicaSetCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
ControllerRevision: 1 metadata meta.ObjectMeta, 2 data r, 3 revision i
[batch.v1]
Job: 1 metadata meta.ObjectMeta, 2 spec .JobSpec, 3 status .JobStatus
PodFailurePolicyOnExitCodesRequirement: 1 containerName s, 2 operator s, 3 values *i
PodFailurePolicyOnPodConditionsPattern: 1 type s, 2 status s
PodFailurePolicyRule: 1 action s, 2 onExitCodes .PodFailurePolicyOnExitCodesRequirement, 3 onPodConditions
  *.PodFailurePolicyOnPodConditionsPattern
PodFailurePolicy: 1 rules *.PodFailurePolicyRule
SuccessPolicy: 1 rules *.SuccessPolicyRule
SuccessPolicyRule: 1 succeededIndexes s, 2 succeededCount i
JobSpec: 1 parallelism i, 2 completions i, 3 activeDeadlineSeconds i, 4 selector meta.LabelSelector, 5 manualSelector b, 6 template
  core.v1.PodTemplateSpec, 7 backoffLimit i, 8 ttlSecondsAfterFinished i, 9 completionMode s, 10 suspend b, 11 podFailurePolicy
  .PodFailurePolicy, 12 backoffLimitPerIndex i, 13 maxFailedIndexes i, 14 podReplacementPolicy s, 15 managedBy s, 16 successPolicy
  .SuccessPolicy
JobStatus: 1 conditions *.JobCondition, 2 startTime t, 3 completionTime t, 4 active i?, 5 succeeded i?, 6 failed i?, 7 completedIndexes
  s?, 8 uncountedTerminatedPods .UncountedTerminatedPods, 9 ready i, 10 failedIndexes s, 11 terminating i
UncountedTerminatedPods: 1 succeeded *s, 2 failed *s
JobCondition: 1 type s, 2 status s, 3 lastProbeTime t, 4 lastTransitionTime t, 5 reason s?, 6 message s?
JobTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec .JobSpec
CronJob: 1 metadata meta.ObjectMeta, 2 spec .CronJobSpec, 3 status .CronJobStatus
CronJobSpec: 1 schedule s, 2 startingDeadlineSeconds i, 3 concurrencyPolicy s?, 4 suspend b, 5 jobTemplate .JobTemplateSpec, 6
  successfulJobsHistoryLimit i, 7 failedJobsHistoryLimit i, 8 timeZone s
CronJobStatus: 1 active *core.v1.ObjectReference, 4 lastScheduleTime t, 5 lastSuccessfulTime t
[autoscaling.v1]
CrossVersionObjectReference: 1 kind s, 2 name s, 3 apiVersion s?
HorizontalPodAutoscalerSpec: 1 scaleTargetRef .CrossVersionObjectReference, 2 minReplicas i, 3 maxReplicas i, 4
  targetCPUUtilizationPercentage i
HorizontalPodAutoscalerStatus: 1 observedGeneration i, 2 lastScaleTime t, 3 currentReplicas i, 4 desiredReplicas i, 5
  currentCPUUtilizationPercentage i
HorizontalPodAutoscaler: 1 metadata meta.ObjectMeta, 2 spec .HorizontalPodAutoscalerSpec, 3 status .HorizontalPodAutoscalerStatus
Scale: 1 metadata meta.ObjectMeta, 2 spec .ScaleSpec, 3 status .ScaleStatus
ScaleSpec: 1 replicas i?
ScaleStatus: 1 replicas i, 2 selector s?
MetricSpec: 1 type s, 2 object .ObjectMetricSource, 3 pods .PodsMetricSource, 4 resource .ResourceMetricSource, 5 external
  .ExternalMetricSource, 7 containerResource .ContainerResourceMetricSource
ObjectMetricSource: 1 target .CrossVersionObjectReference, 2 metricName s, 3 targetValue q, 4 selector meta.LabelSelector, 5
  averageValue q
PodsMetricSource: 1 metricName s, 2 targetAverageValue q, 3 selector meta.LabelSelector
ResourceMetricSource: 1 name s, 2 targetAverageUtilization i, 3 targetAverageValue q
ContainerResourceMetricSource: 1 name s, 2 targetAverageUtilization i, 3 targetAverageValue q, 5 container s
ExternalMetricSource: 1 metricName s, 2 metricSelector meta.LabelSelector, 3 targetValue q, 4 targetAverageValue q
MetricStatus: 1 type s, 2 object .ObjectMetricStatus, 3 pods .PodsMetricStatus, 4 resource .ResourceMetricStatus, 5 external
  .ExternalMetricStatus, 7 containerResource .ContainerResourceMetricStatus
HorizontalPodAutoscalerCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
ObjectMetricStatus: 1 target .CrossVersionObjectReference, 2 metricName s, 3 currentValue q, 4 selector meta.LabelSelector, 5
  averageValue q
PodsMetricStatus: 1 metricName s, 2 currentAverageValue q, 3 selector meta.LabelSelector
ResourceMetricStatus: 1 name s, 2 currentAverageUtilization i, 3 currentAverageValue q
ContainerResourceMetricStatus: 1 name s, 2 currentAverageUtilization i, 3 currentAverageValue q, 4 container s
ExternalMetricStatus: 1 metricName s, 2 metricSelector meta.LabelSelector, 3 currentValue q, 4 currentAverageValue q
[autoscaling.v2]
HorizontalPodAutoscaler: 1 metadata meta.ObjectMeta, 2 spec .HorizontalPodAutoscalerSpec, 3 status .HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: 1 scaleTargetRef .CrossVersionObjectReference, 2 minReplicas i, 3 maxReplicas i, 4 metrics *.MetricSpec, 5
  behavior .HorizontalPodAutoscalerBehavior
CrossVersionObjectReference: 1 kind s, 2 name s, 3 apiVersion s?
MetricSpec: 1 type s, 2 object .ObjectMetricSource, 3 pods .PodsMetricSource, 4 resource .ResourceMetricSource, 5 external
  .ExternalMetricSource, 7 containerResource .ContainerResourceMetricSource
HorizontalPodAutoscalerBehavior: 1 scaleUp .HPAScalingRules, 2 scaleDown .HPAScalingRules
HPAScalingRules: 1 selectPolicy s, 2 policies *.HPAScalingPolicy, 3 stabilizationWindowSeconds i, 4 tolerance q
HPAScalingPolicy: 1 type s, 2 value i, 3 periodSeconds i
ObjectMetricSource: 1 describedObject .CrossVersionObjectReference, 2 target .MetricTarget, 3 metric .MetricIdentifier
PodsMetricSource: 1 metric .MetricIdentifier, 2 target .MetricTarget
ResourceMetricSource: 1 name s, 2 target .MetricTarget
ContainerResourceMetricSource: 1 name s, 2 target .MetricTarget, 3 container s
ExternalMetricSource: 1 metric .MetricIdentifier, 2 target .MetricTarget
MetricIdentifier: 1 name s, 2 selector meta.LabelSelector
MetricTarget: 1 type s, 2 value q, 3 averageValue q, 4 averageUtilization i
HorizontalPodAutoscalerStatus: 1 observedGeneration i, 2 lastScaleTime t, 3 currentReplicas i?, 4 desiredReplicas i, 5 currentMetrics
  *.MetricStatus, 6 conditions *.HorizontalPodAutoscalerCondition
HorizontalPodAutoscalerCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
MetricStatus: 1 type s, 2 object .ObjectMetricStatus, 3 pods .PodsMetricStatus, 4 resource .ResourceMetricStatus, 5 external
  .ExternalMetricStatus, 7 containerResource .ContainerResourceMetricStatus
ObjectMetricStatus: 1 metric .MetricIdentifier, 2 current .MetricValueStatus, 3 describedObject .CrossVersionObjectReference
PodsMetricStatus: 1 metric .MetricIdentifier, 2 current .MetricValueStatus
ResourceMetricStatus: 1 name s, 2 current .MetricValueStatus
ContainerResourceMetricStatus: 1 name s, 2 current .MetricValueStatus, 3 container s
ExternalMetricStatus: 1 metric .MetricIdentifier, 2 current .MetricValueStatus
MetricValueStatus: 1 value q, 2 averageValue q, 3 averageUtilization i
[policy.v1]
PodDisruptionBudgetSpec: 1 minAvailable x, 2 selector meta.LabelSelector, 3 maxUnavailable x, 4 unhealthyPodEvictionPolicy s
PodDisruptionBudgetStatus: 1 observedGeneration i?, 2 disruptedPods %t, 3 disruptionsAllowed i, 4 currentHealthy i, 5 desiredHealthy i,
  6 expectedPods i, 7 conditions *meta.Condition
PodDisruptionBudget: 1 metadata meta.ObjectMeta, 2 spec .PodDisruptionBudgetSpec, 3 status .PodDisruptionBudgetStatus
Eviction: 1 metadata meta.ObjectMeta, 2 deleteOptions meta.DeleteOptions
[rbac.v1]
PolicyRule: 1 verbs *s, 2 apiGroups *s, 3 resources *s, 4 resourceNames *s, 5 nonResourceURLs *s
Subject: 1 kind s, 2 apiGroup s?, 3 name s, 4 namespace s?
RoleRef: 1 apiGroup s, 2 kind s, 3 name s
Role: 1 metadata meta.ObjectMeta, 2 rules *.PolicyRule
RoleBinding: 1 metadata meta.ObjectMeta, 2 subjects *.Subject, 3 roleRef .RoleRef
ClusterRole: 1 metadata meta.ObjectMeta, 2 rules *.PolicyRule, 3 aggregationRule .AggregationRule
AggregationRule: 1 clusterRoleSelectors *meta.LabelSelector
ClusterRoleBinding: 1 metadata meta.ObjectMeta, 2 subjects *.Subject, 3 roleRef .RoleRef
[coordination.v1]
Lease: 1 metadata meta.ObjectMeta, 2 spec .LeaseSpec
LeaseSpec: 1 holderIdentity s, 2 leaseDurationSeconds i, 3 acquireTime u, 4 renewTime u, 5 leaseTransitions i, 6 strategy s, 7
  preferredHolder s
[events.v1]
Event: 1 metadata meta.ObjectMeta, 2 eventTime u, 3 series .EventSeries, 4 reportingController s?, 5 reportingInstance s?, 6 action s?,
  7 reason s?, 8 regarding core.v1.ObjectReference, 9 related core.v1.ObjectReference, 10 note s?, 11 type s?, 12 deprecatedSource
  core.v1.EventSource, 13 deprecatedFirstTimestamp t, 14 deprecatedLastTimestamp t, 15 deprecatedCount i?
EventSeries: 1 count i, 2 lastObservedTime u
[scheduling.v1]
PriorityClass: 1 metadata meta.ObjectMeta, 2 value i, 3 globalDefault b?, 4 description s?, 5 preemptionPolicy s
[scheduling.v1alpha1]
PriorityClass: 1 metadata meta.ObjectMeta, 2 value i, 3 globalDefault b?, 4 description s?, 5 preemptionPolicy s
Workload: 1 metadata meta.ObjectMeta, 2 spec .WorkloadSpec
WorkloadSpec: 1 controllerRef .TypedLocalObjectReference, 2 podGroups *.PodGroup
TypedLocalObjectReference: 1 apiGroup s?, 2 kind s, 3 name s
PodGroup: 1 name s, 3 policy .PodGroupPolicy
PodGroupPolicy: 2 basic .BasicSchedulingPolicy, 3 gang .GangSchedulingPolicy
BasicSchedulingPolicy:
GangSchedulingPolicy: 1 minCount i
[networking.v1]
NetworkPolicy: 1 metadata meta.ObjectMeta, 2 spec .NetworkPolicySpec
NetworkPolicySpec: 1 podSelector meta.LabelSelector, 2 ingress *.NetworkPolicyIngressRule, 3 egress *.NetworkPolicyEgressRule, 4
  policyTypes *s
NetworkPolicyIngressRule: 1 ports *.NetworkPolicyPort, 2 from *.NetworkPolicyPeer
NetworkPolicyEgressRule: 1 ports *.NetworkPolicyPort, 2 to *.NetworkPolicyPeer
NetworkPolicyPort: 1 protocol s, 2 port x, 3 endPort i
IPBlock: 1 cidr s, 2 except *s
NetworkPolicyPeer: 1 podSelector meta.LabelSelector, 2 namespaceSelector meta.LabelSelector, 3 ipBlock .IPBlock
Ingress: 1 metadata meta.ObjectMeta, 2 spec .IngressSpec, 3 status .IngressStatus
IngressSpec: 1 defaultBackend .IngressBackend, 2 tls *.IngressTLS, 3 rules *.IngressRule, 4 ingressClassName s
IngressTLS: 1 hosts *s, 2 secretName s?
IngressStatus: 1 loadBalancer .IngressLoadBalancerStatus
IngressLoadBalancerStatus: 1 ingress *.IngressLoadBalancerIngress
IngressLoadBalancerIngress: 1 ip s?, 2 hostname s?, 4 ports *.IngressPortStatus
IngressPortStatus: 1 port i, 2 protocol s, 3 error s
IngressRule: 1 host s?, 2 = .IngressRuleValue
IngressRuleValue: 1 http .HTTPIngressRuleValue
HTTPIngressRuleValue: 1 paths *.HTTPIngressPath
HTTPIngressPath: 1 path s?, 2 backend .IngressBackend, 3 pathType s
IngressBackend: 3 resource core.v1.TypedLocalObjectReference, 4 service .IngressServiceBackend
IngressServiceBackend: 1 name s, 2 port .ServiceBackendPort
ServiceBackendPort: 1 name s?, 2 number i?
IngressClass: 1 metadata meta.ObjectMeta, 2 spec .IngressClassSpec
IngressClassSpec: 1 controller s?, 2 parameters .IngressClassParametersReference
IngressClassParametersReference: 1 apiGroup s, 2 kind s, 3 name s, 4 scope s, 5 namespace s
IPAddress: 1 metadata meta.ObjectMeta, 2 spec .IPAddressSpec
IPAddressSpec: 1 parentRef .ParentReference
ParentReference: 1 group s?, 2 resource s?, 3 namespace s?, 4 name s?
ServiceCIDR: 1 metadata meta.ObjectMeta, 2 spec .ServiceCIDRSpec, 3 status .ServiceCIDRStatus
ServiceCIDRSpec: 1 cidrs *s
ServiceCIDRStatus: 1 conditions *meta.Condition
[storage.v1]
StorageClass: 1 metadata meta.ObjectMeta, 2 provisioner s, 3 parameters %s, 4 reclaimPolicy s, 5 mountOptions *s, 6 allowVolumeExpansion
  b, 7 volumeBindingMode s, 8 allowedTopologies *core.v1.TopologySelectorTerm
VolumeAttachment: 1 metadata meta.ObjectMeta, 2 spec .VolumeAttachmentSpec, 3 status .VolumeAttachmentStatus
VolumeAttachmentSpec: 1 attacher s, 2 source .VolumeAttachmentSource, 3 nodeName s
VolumeAttachmentSource: 1 persistentVolumeName s, 2 inlineVolumeSpec core.v1.PersistentVolumeSpec
VolumeAttachmentStatus: 1 attached b, 2 attachmentMetadata %s, 3 attachError .VolumeError, 4 detachError .VolumeError
VolumeError: 1 time t, 2 message s?, 3 errorCode i
CSIDriver: 1 metadata meta.ObjectMeta, 2 spec .CSIDriverSpec
CSIDriverSpec: 1 attachRequired b, 2 podInfoOnMount b, 3 volumeLifecycleModes *s, 4 storageCapacity b, 5 fsGroupPolicy s, 6
  tokenRequests *.TokenRequest, 7 requiresRepublish b, 8 seLinuxMount b, 9 nodeAllocatableUpdatePeriodSeconds i, 10
  serviceAccountTokenInSecrets b
TokenRequest: 1 audience s, 2 expirationSeconds i
CSINode: 1 metadata meta.ObjectMeta, 2 spec .CSINodeSpec
CSINodeSpec: 1 drivers *.CSINodeDriver
CSINodeDriver: 1 name s, 2 nodeID s, 3 topologyKeys *s, 4 allocatable .VolumeNodeResources
VolumeNodeResources: 1 count i
CSIStorageCapacity: 1 metadata meta.ObjectMeta, 2 nodeTopology meta.LabelSelector, 3 storageClassName s, 4 capacity q, 5
  maximumVolumeSize q
VolumeAttributesClass: 1 metadata meta.ObjectMeta, 2 driverName s, 3 parameters %s
[authorization.v1]
SubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec .SubjectAccessReviewSpec, 3 status .SubjectAccessReviewStatus
SelfSubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec .SelfSubjectAccessReviewSpec, 3 status .SubjectAccessReviewStatus
LocalSubjectAccessReview: 1 metadata meta.ObjectMeta, 2 spec .SubjectAccessReviewSpec, 3 status .SubjectAccessReviewStatus
ResourceAttributes: 1 namespace s?, 2 verb s?, 3 group s?, 4 version s?, 5 resource s?, 6 subresource s?, 7 name s?, 8 fieldSelector
  .FieldSelectorAttributes, 9 labelSelector .LabelSelectorAttributes
LabelSelectorAttributes: 1 rawSelector s?, 2 requirements *meta.LabelSelectorRequirement
FieldSelectorAttributes: 1 rawSelector s?, 2 requirements *meta.FieldSelectorRequirement
NonResourceAttributes: 1 path s?, 2 verb s?
SubjectAccessReviewSpec: 1 resourceAttributes .ResourceAttributes, 2 nonResourceAttributes .NonResourceAttributes, 3 user s?, 4 groups
  *s, 5 extra %@items, 6 uid s?
SelfSubjectAccessReviewSpec: 1 resourceAttributes .ResourceAttributes, 2 nonResourceAttributes .NonResourceAttributes
SubjectAccessReviewStatus: 1 allowed b, 2 reason s?, 3 evaluationError s?, 4 denied b?
SelfSubjectRulesReview: 1 metadata meta.ObjectMeta, 2 spec .SelfSubjectRulesReviewSpec, 3 status .SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: 1 namespace s?
SubjectRulesReviewStatus: 1 resourceRules *.ResourceRule, 2 nonResourceRules *.NonResourceRule, 3 incomplete b, 4 evaluationError s?
ResourceRule: 1 verbs *s, 2 apiGroups *s, 3 resources *s, 4 resourceNames *s
NonResourceRule: 1 verbs *s, 2 nonResourceURLs *s
[authentication.v1]
TokenReview: 1 metadata meta.ObjectMeta, 2 spec .TokenReviewSpec, 3 status .TokenReviewStatus
TokenReviewSpec: 1 token s?, 2 audiences *s
TokenReviewStatus: 1 authenticated b?, 2 user .UserInfo, 3 error s?, 4 audiences *s
UserInfo: 1 username s?, 2 uid s?, 3 groups *s, 4 extra %@items
TokenRequest: 1 metadata meta.ObjectMeta, 2 spec .TokenRequestSpec, 3 status .TokenRequestStatus
TokenRequestSpec: 1 audiences *s, 3 boundObjectRef .BoundObjectReference, 4 expirationSeconds i
TokenRequestStatus: 1 token s, 2 expirationTimestamp t
BoundObjectReference: 1 kind s?, 2 apiVersion s?, 3 name s?, 4 uid s?
SelfSubjectReview: 1 metadata meta.ObjectMeta, 2 status .SelfSubjectReviewStatus
SelfSubjectReviewStatus: 1 userInfo .UserInfo
[discovery.v1]
EndpointSlice: 1 metadata meta.ObjectMeta, 2 endpoints *.Endpoint, 3 ports *.EndpointPort, 4 addressType s
Endpoint: 1 addresses *s, 2 conditions .EndpointConditions, 3 hostname s, 4 targetRef core.v1.ObjectReference, 5 deprecatedTopology %s,
  6 nodeName s, 7 zone s, 8 hints .EndpointHints
EndpointConditions: 1 ready b, 2 serving b, 3 terminating b
EndpointHints: 1 forZones *.ForZone, 2 forNodes *.ForNode
ForZone: 1 name s
ForNode: 1 name s
EndpointPort: 1 name s, 2 protocol s, 3 port i, 4 appProtocol s
[node.v1]
RuntimeClass: 1 metadata meta.ObjectMeta, 2 handler s, 3 overhead .Overhead, 4 scheduling .Scheduling
Overhead: 1 podFixed %q
Scheduling: 1 nodeSelector %s, 2 tolerations *core.v1.Toleration
[resource.v1]
ResourceSlice: 1 metadata meta.ObjectMeta, 2 spec .ResourceSliceSpec
ResourceSliceSpec: 1 driver s, 2 pool .ResourcePool, 3 nodeName s, 4 nodeSelector core.v1.NodeSelector, 5 allNodes b, 6 devices
  *.Device, 7 perDeviceNodeSelection b, 8 sharedCounters *.CounterSet
CounterSet: 1 name s, 2 counters %.Counter
ResourcePool: 1 name s, 2 generation i, 3 resourceSliceCount i
Device: 1 name s, 2 attributes %.DeviceAttribute, 3 capacity %.DeviceCapacity, 4 consumesCounters *.DeviceCounterConsumption, 5 nodeName
  s, 6 nodeSelector core.v1.NodeSelector, 7 allNodes b, 8 taints *.DeviceTaint, 9 bindsToNode b, 10 bindingConditions *s, 11
  bindingFailureConditions *s, 12 allowMultipleAllocations b
DeviceCounterConsumption: 1 counterSet s, 2 counters %.Counter
DeviceCapacity: 1 value q, 2 requestPolicy .CapacityRequestPolicy
Counter: 1 value q
CapacityRequestPolicy: 1 default q, 3 validValues *q, 4 validRange .CapacityRequestPolicyRange
CapacityRequestPolicyRange: 1 min q, 2 max q, 3 step q
DeviceAttribute: 2 int i, 3 bool b, 4 string s, 5 version s
DeviceTaint: 1 key s, 2 value s?, 3 effect s, 4 timeAdded t
ResourceClaim: 1 metadata meta.ObjectMeta, 2 spec .ResourceClaimSpec, 3 status .ResourceClaimStatus
ResourceClaimSpec: 1 devices .DeviceClaim
DeviceClaim: 1 requests *.DeviceRequest, 2 constraints *.DeviceConstraint, 3 config *.DeviceClaimConfiguration
DeviceRequest: 1 name s, 2 exactly .ExactDeviceRequest, 3 firstAvailable *.DeviceSubRequest
ExactDeviceRequest: 1 deviceClassName s, 2 selectors *.DeviceSelector, 3 allocationMode s?, 4 count i?, 5 adminAccess b, 6 tolerations
  *.DeviceToleration, 7 capacity .CapacityRequirements
DeviceSubRequest: 1 name s, 2 deviceClassName s, 3 selectors *.DeviceSelector, 4 allocationMode s?, 5 count i?, 6 tolerations
  *.DeviceToleration, 7 capacity .CapacityRequirements
CapacityRequirements: 1 requests %q
DeviceSelector: 1 cel .CELDeviceSelector
CELDeviceSelector: 1 expression s
DeviceConstraint: 1 requests *s, 2 matchAttribute s, 3 distinctAttribute s
DeviceClaimConfiguration: 1 requests *s, 2 = .DeviceConfiguration
DeviceConfiguration: 1 opaque .OpaqueDeviceConfiguration
OpaqueDeviceConfiguration: 1 driver s, 2 parameters r
DeviceToleration: 1 key s?, 2 operator s?, 3 value s?, 4 effect s?, 5 tolerationSeconds i
ResourceClaimStatus: 1 allocation .AllocationResult, 2 reservedFor *.ResourceClaimConsumerReference, 4 devices *.AllocatedDeviceStatus
ResourceClaimConsumerReference: 1 apiGroup s?, 3 resource s, 4 name s, 5 uid s
AllocationResult: 1 devices .DeviceAllocationResult, 3 nodeSelector core.v1.NodeSelector, 5 allocationTimestamp t
DeviceAllocationResult: 1 results *.DeviceRequestAllocationResult, 2 config *.DeviceAllocationConfiguration
DeviceRequestAllocationResult: 1 request s, 2 driver s, 3 pool s, 4 device s, 5 adminAccess b, 6 tolerations *.DeviceToleration, 7
  bindingConditions *s, 8 bindingFailureConditions *s, 9 shareID s, 10 consumedCapacity %q
DeviceAllocationConfiguration: 1 source s, 2 requests *s, 3 = .DeviceConfiguration
DeviceClass: 1 metadata meta.ObjectMeta, 2 spec .DeviceClassSpec
DeviceClassSpec: 1 selectors *.DeviceSelector, 2 config *.DeviceClassConfiguration, 4 extendedResourceName s
DeviceClassConfiguration: 1 = .DeviceConfiguration
ResourceClaimTemplate: 1 metadata meta.ObjectMeta, 2 spec .ResourceClaimTemplateSpec
ResourceClaimTemplateSpec: 1 metadata meta.ObjectMeta, 2 spec .ResourceClaimSpec
AllocatedDeviceStatus: 1 driver s, 2 pool s, 3 device s, 4 conditions *meta.Condition, 5 data r, 6 networkData .NetworkDeviceData, 7
  shareID s
NetworkDeviceData: 1 interfaceName s?, 2 ips *s, 3 hardwareAddress s?
[admissionregistration.v1]
Rule: 1 apiGroups *s, 2 apiVersions *s, 3 resources *s, 4 scope s
ValidatingAdmissionPolicy: 1 metadata meta.ObjectMeta, 2 spec .ValidatingAdmissionPolicySpec, 3 status .ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyStatus: 1 observedGeneration i?, 2 typeChecking .TypeChecking, 3 conditions *meta.Condition
TypeChecking: 1 expressionWarnings *.ExpressionWarning
ExpressionWarning: 2 fieldRef s, 3 warning s
ValidatingAdmissionPolicySpec: 1 paramKind .ParamKind, 2 matchConstraints .MatchResources, 3 validations *.Validation, 4 failurePolicy
  s, 5 auditAnnotations *.AuditAnnotation, 6 matchConditions *.MatchCondition, 7 variables *.Variable
ParamKind: 1 apiVersion s?, 2 kind s?
Validation: 1 expression s, 2 message s?, 3 reason s, 4 messageExpression s?
Variable: 1 name s, 2 expression s
AuditAnnotation: 1 key s, 2 valueExpression s
ValidatingAdmissionPolicyBinding: 1 metadata meta.ObjectMeta, 2 spec .ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec: 1 policyName s?, 2 paramRef .ParamRef, 3 matchResources .MatchResources, 4 validationActions *s
ParamRef: 1 name s?, 2 namespace s?, 3 selector meta.LabelSelector, 4 parameterNotFoundAction s
MatchResources: 1 namespaceSelector meta.LabelSelector, 2 objectSelector meta.LabelSelector, 3 resourceRules *.NamedRuleWithOperations,
  4 excludeResourceRules *.NamedRuleWithOperations, 7 matchPolicy s
NamedRuleWithOperations: 1 resourceNames *s, 2 = .RuleWithOperations
ValidatingWebhookConfiguration: 1 metadata meta.ObjectMeta, 2 webhooks *.ValidatingWebhook
MutatingWebhookConfiguration: 1 metadata meta.ObjectMeta, 2 webhooks *.MutatingWebhook
ValidatingWebhook: 1 name s, 2 clientConfig .WebhookClientConfig, 3 rules *.RuleWithOperations, 4 failurePolicy s, 5 namespaceSelector
  meta.LabelSelector, 6 sideEffects s, 7 timeoutSeconds i, 8 admissionReviewVersions *s, 9 matchPolicy s, 10 objectSelector
  meta.LabelSelector, 11 matchConditions *.MatchCondition
MutatingWebhook: 1 name s, 2 clientConfig .WebhookClientConfig, 3 rules *.RuleWithOperations, 4 failurePolicy s, 5 namespaceSelector
  meta.LabelSelector, 6 sideEffects s, 7 timeoutSeconds i, 8 admissionReviewVersions *s, 9 matchPolicy s, 10 reinvocationPolicy s, 11
  objectSelector meta.LabelSelector, 12 matchConditions *.MatchCondition
RuleWithOperations: 1 operations *s, 2 = .Rule
WebhookClientConfig: 1 service .ServiceReference, 2 caBundle y, 3 url s
ServiceReference: 1 namespace s, 2 name s, 3 path s, 4 port i
MatchCondition: 1 name s, 2 expression s
[certificates.v1]
CertificateSigningRequest: 1 metadata meta.ObjectMeta, 2 spec .CertificateSigningRequestSpec, 3 status .CertificateSigningRequestStatus
CertificateSigningRequestSpec: 1 request y, 2 username s?, 3 uid s?, 4 groups *s, 5 usages *s, 6 extra %@items, 7 signerName s, 8
  expirationSeconds i
CertificateSigningRequestStatus: 1 conditions *.CertificateSigningRequestCondition, 2 certificate y
CertificateSigningRequestCondition: 1 type s, 2 reason s?, 3 message s?, 4 lastUpdateTime t, 5 lastTransitionTime t, 6 status s
[apiextensions.v1]
ConversionRequest: 1 uid s, 2 desiredAPIVersion s, 3 objects *r
ConversionResponse: 1 uid s, 2 convertedObjects *r, 3 result meta.Status
ConversionReview: 1 request .ConversionRequest, 2 response .ConversionResponse
CustomResourceColumnDefinition: 1 name s, 2 type s, 3 format s?, 4 description s?, 5 priority i?, 6 jsonPath s
CustomResourceConversion: 1 strategy s, 2 webhook .WebhookConversion
CustomResourceDefinition: 1 metadata meta.ObjectMeta, 2 spec .CustomResourceDefinitionSpec, 3 status
  .CustomResourceDefinitionStatus
CustomResourceDefinitionCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?, 6
  observedGeneration i?
CustomResourceDefinitionNames: 1 plural s, 2 singular s?, 3 shortNames *s, 4 kind s, 5 listKind s?, 6 categories *s
CustomResourceDefinitionSpec: 1 group s, 3 names .CustomResourceDefinitionNames, 4 scope s, 7 versions
  *.CustomResourceDefinitionVersion, 9 conversion .CustomResourceConversion, 10 preserveUnknownFields b?
CustomResourceDefinitionStatus: 1 conditions *.CustomResourceDefinitionCondition, 2 acceptedNames
  .CustomResourceDefinitionNames, 3 storedVersions *s, 4 observedGeneration i?
CustomResourceDefinitionVersion: 1 name s, 2 served b, 3 storage b, 4 schema .CustomResourceValidation, 5 subresources
  .CustomResourceSubresources, 6 additionalPrinterColumns *.CustomResourceColumnDefinition, 7 deprecated b?, 8
  deprecationWarning s, 9 selectableFields *.SelectableField
CustomResourceSubresourceScale: 1 specReplicasPath s, 2 statusReplicasPath s, 3 labelSelectorPath s
CustomResourceSubresourceStatus:
CustomResourceSubresources: 1 status .CustomResourceSubresourceStatus, 2 scale .CustomResourceSubresourceScale
CustomResourceValidation: 1 openAPIV3Schema .JSONSchemaProps
ExternalDocumentation: 1 description s?, 2 url s?
JSONSchemaProps: 1 id s?, 2 $schema s?, 3 $ref s, 4 description s?, 5 type s?, 6 format s?, 7 title s?, 8 default r, 9
  maximum f, 10 exclusiveMaximum b?, 11 minimum f, 12 exclusiveMinimum b?, 13 maxLength i, 14 minLength i, 15 pattern
  s?, 16 maxItems i, 17 minItems i, 18 uniqueItems b?, 19 multipleOf f, 20 enum *r, 21 maxProperties i, 22
  minProperties i, 23 required *s, 24 items @schemas, 25 allOf *.JSONSchemaProps, 26 oneOf *.JSONSchemaProps, 27 anyOf
  *.JSONSchemaProps, 28 not .JSONSchemaProps, 29 properties %.JSONSchemaProps, 30 additionalProperties
  @schema-or-flag, 31 patternProperties %.JSONSchemaProps, 32 dependencies %@schema-or-texts, 33 additionalItems
  @schema-or-flag, 34 definitions %.JSONSchemaProps, 35 externalDocs .ExternalDocumentation, 36 example r, 37 nullable
  b?, 38 x-kubernetes-preserve-unknown-fields b, 39 x-kubernetes-embedded-resource b?, 40 x-kubernetes-int-or-string
  b?, 41 x-kubernetes-list-map-keys *s, 42 x-kubernetes-list-type s, 43 x-kubernetes-map-type s, 44
  x-kubernetes-validations *.ValidationRule
SelectableField: 1 jsonPath s
ServiceReference: 1 namespace s, 2 name s, 3 path s, 4 port i
ValidationRule: 1 rule s, 2 message s?, 3 messageExpression s?, 4 reason s, 5 fieldPath s?, 6 optionalOldSelf b
WebhookClientConfig: 1 service .ServiceReference, 2 caBundle y, 3 url s
WebhookConversion: 2 clientConfig .WebhookClientConfig, 3 conversionReviewVersions *s
[apiregistration.v1]
APIService: 1 metadata meta.ObjectMeta, 2 spec .APIServiceSpec, 3 status .APIServiceStatus
APIServiceCondition: 1 type s, 2 status s, 3 lastTransitionTime t, 4 reason s?, 5 message s?
APIServiceSpec: 1 service .ServiceReference, 2 group s?, 3 version s?, 4 insecureSkipTLSVerify b?, 5 caBundle y, 7
  groupPriorityMinimum i, 8 versionPriority i
APIServiceStatus: 1 conditions *.APIServiceCondition
ServiceReference: 1 namespace s?, 2 name s?, 3 port i
[flowcontrol.v1]
ExemptPriorityLevelConfiguration: 1 nominalConcurrencyShares i, 2 lendablePercent i
FlowDistinguisherMethod: 1 type s
FlowSchema: 1 metadata meta.ObjectMeta, 2 spec .FlowSchemaSpec, 3 status .FlowSchemaStatus
FlowSchemaCondition: 1 type s?, 2 status s?, 3 lastTransitionTime t, 4 reason s?, 5 message s?
FlowSchemaSpec: 1 priorityLevelConfiguration .PriorityLevelConfigurationReference, 2 matchingPrecedence i, 3
  distinguisherMethod .FlowDistinguisherMethod, 4 rules *.PolicyRulesWithSubjects
FlowSchemaStatus: 1 conditions *.FlowSchemaCondition
GroupSubject: 1 name s
LimitResponse: 1 type s, 2 queuing .QueuingConfiguration
LimitedPriorityLevelConfiguration: 1 nominalConcurrencyShares i, 2 limitResponse .LimitResponse, 3 lendablePercent i,
  4 borrowingLimitPercent i
NonResourcePolicyRule: 1 verbs *s, 6 nonResourceURLs *s
PolicyRulesWithSubjects: 1 subjects *.Subject, 2 resourceRules *.ResourcePolicyRule, 3 nonResourceRules
  *.NonResourcePolicyRule
PriorityLevelConfiguration: 1 metadata meta.ObjectMeta, 2 spec .PriorityLevelConfigurationSpec, 3 status
  .PriorityLevelConfigurationStatus
PriorityLevelConfigurationCondition: 1 type s?, 2 status s?, 3 lastTransitionTime t, 4 reason s?, 5 message s?
PriorityLevelConfigurationReference: 1 name s
PriorityLevelConfigurationSpec: 1 type s, 2 limited .LimitedPriorityLevelConfiguration, 3 exempt
  .ExemptPriorityLevelConfiguration
PriorityLevelConfigurationStatus: 1 conditions *.PriorityLevelConfigurationCondition
QueuingConfiguration: 1 queues i, 2 handSize i, 3 queueLengthLimit i
ResourcePolicyRule: 1 verbs *s, 2 apiGroups *s, 3 resources *s, 4 clusterScope b?, 5 namespaces *s
ServiceAccountSubject: 1 namespace s, 2 name s
Subject: 1 kind s, 2 user .UserSubject, 3 group .GroupSubject, 4 serviceAccount .ServiceAccountSubject
UserSubject: 1 name s
[scheduling.v1alpha2]
BasicSchedulingPolicy:
GangSchedulingPolicy: 1 minCount i
PodGroup: 1 metadata meta.ObjectMeta, 2 spec .PodGroupSpec, 3 status .PodGroupStatus
PodGroupResourceClaim: 1 name s, 2 resourceClaimName s, 3 resourceClaimTemplateName s
PodGroupResourceClaimStatus: 1 name s, 2 resourceClaimName s
PodGroupSchedulingConstraints: 1 topology *.TopologyConstraint
PodGroupSchedulingPolicy: 1 basic .BasicSchedulingPolicy, 2 gang .GangSchedulingPolicy
PodGroupSpec: 1 podGroupTemplateRef .PodGroupTemplateReference, 2 schedulingPolicy .PodGroupSchedulingPolicy, 3
  schedulingConstraints .PodGroupSchedulingConstraints, 4 resourceClaims *.PodGroupResourceClaim, 5 disruptionMode s,
  6 priorityClassName s?, 7 priority i
PodGroupStatus: 1 conditions *meta.Condition, 2 resourceClaimStatuses *.PodGroupResourceClaimStatus
PodGroupTemplate: 1 name s, 2 schedulingPolicy .PodGroupSchedulingPolicy, 3 schedulingConstraints
  .PodGroupSchedulingConstraints, 4 resourceClaims *.PodGroupResourceClaim, 5 disruptionMode s, 6 priorityClassName
  s?, 7 priority i
PodGroupTemplateReference: 1 workload .WorkloadPodGroupTemplateReference
TopologyConstraint: 1 key s
TypedLocalObjectReference: 1 apiGroup s?, 2 kind s, 3 name s
Workload: 1 metadata meta.ObjectMeta, 2 spec .WorkloadSpec
WorkloadPodGroupTemplateReference: 1 workloadName s, 2 podGroupTemplateName s
WorkloadSpec: 1 controllerRef .TypedLocalObjectReference, 2 podGroupTemplates *.PodGroupTemplate
[scheduling.v1alpha3]
AllCompositeDisruptionMode:
AllDisruptionMode:
BasicSchedulingPolicy:
CompositeBasicSchedulingPolicy:
CompositeDisruptionMode: 1 single .SingleCompositeDisruptionMode, 2 all .AllCompositeDisruptionMode
CompositeGangSchedulingPolicy: 1 minGroupCount i
CompositePodGroup: 1 metadata meta.ObjectMeta, 2 spec .CompositePodGroupSpec, 3 status .CompositePodGroupStatus
CompositePodGroupSchedulingConstraints: 1 topology *.TopologyConstraint
CompositePodGroupSchedulingPolicy: 1 basic .CompositeBasicSchedulingPolicy, 2 gang .CompositeGangSchedulingPolicy
CompositePodGroupSpec: 1 parentCompositePodGroupName s, 2 workloadRef .WorkloadReference, 3 schedulingPolicy
  .CompositePodGroupSchedulingPolicy, 4 schedulingConstraints .CompositePodGroupSchedulingConstraints, 5
  disruptionMode .CompositeDisruptionMode, 6 priorityClassName s?, 7 priority i, 8 preemptionPolicy s
CompositePodGroupStatus: 1 conditions *meta.Condition
CompositePodGroupTemplate: 1 name s, 2 schedulingPolicy .CompositePodGroupSchedulingPolicy, 3 schedulingConstraints
  .CompositePodGroupSchedulingConstraints, 4 disruptionMode .CompositeDisruptionMode, 5 priorityClassName s?, 6
  priority i, 7 preemptionPolicy s, 8 podGroupTemplates *.PodGroupTemplate, 9 compositePodGroupTemplates
  *.CompositePodGroupTemplate
DisruptionMode: 1 single .SingleDisruptionMode, 2 all .AllDisruptionMode
GangSchedulingPolicy: 1 minCount i
PodGroup: 1 metadata meta.ObjectMeta, 2 spec .PodGroupSpec, 3 status .PodGroupStatus
PodGroupResourceClaim: 1 name s, 2 resourceClaimName s, 3 resourceClaimTemplateName s
PodGroupResourceClaimStatus: 1 name s, 2 resourceClaimName s
PodGroupSchedulingConstraints: 1 topology *.TopologyConstraint
PodGroupSchedulingPolicy: 1 basic .BasicSchedulingPolicy, 2 gang .GangSchedulingPolicy
PodGroupSpec: 1 parentCompositePodGroupName s, 2 workloadRef .WorkloadReference, 3 schedulingPolicy
  .PodGroupSchedulingPolicy, 4 schedulingConstraints .PodGroupSchedulingConstraints, 5 resourceClaims
  *.PodGroupResourceClaim, 6 disruptionMode .DisruptionMode, 7 priorityClassName s?, 8 priority i, 9 preemptionPolicy
  s
PodGroupStatus: 1 conditions *meta.Condition, 2 resourceClaimStatuses *.PodGroupResourceClaimStatus
PodGroupTemplate: 1 name s, 2 schedulingPolicy .PodGroupSchedulingPolicy, 3 schedulingConstraints
  .PodGroupSchedulingConstraints, 4 resourceClaims *.PodGroupResourceClaim, 5 disruptionMode .DisruptionMode, 6
  priorityClassName s?, 7 priority i, 8 preemptionPolicy s
SingleCompositeDisruptionMode:
SingleDisruptionMode:
TopologyConstraint: 1 key s
TypedLocalObjectReference: 1 apiGroup s?, 2 kind s, 3 name s
Workload: 1 metadata meta.ObjectMeta, 2 spec .WorkloadSpec
WorkloadReference: 1 workloadName s, 2 templateName s
WorkloadSpec: 1 controllerRef .TypedLocalObjectReference, 2 podGroupTemplates *.PodGroupTemplate, 3
  compositePodGroupTemplates *.CompositePodGroupTemplate
[scheduling.v1beta1]
AllCompositeDisruptionMode:
AllDisruptionMode:
BasicSchedulingPolicy:
CompositeBasicSchedulingPolicy:
CompositeDisruptionMode: 1 single .SingleCompositeDisruptionMode, 2 all .AllCompositeDisruptionMode
CompositeGangSchedulingPolicy: 1 minGroupCount i
CompositePodGroupSchedulingConstraints: 1 topology *.TopologyConstraint
CompositePodGroupSchedulingPolicy: 1 basic .CompositeBasicSchedulingPolicy, 2 gang .CompositeGangSchedulingPolicy
CompositePodGroupTemplate: 1 name s, 2 schedulingPolicy .CompositePodGroupSchedulingPolicy, 3 schedulingConstraints
  .CompositePodGroupSchedulingConstraints, 4 disruptionMode .CompositeDisruptionMode, 5 priorityClassName s?, 6
  priority i, 7 preemptionPolicy s, 8 podGroupTemplates *.PodGroupTemplate, 9 compositePodGroupTemplates
  *.CompositePodGroupTemplate
DisruptionMode: 1 single .SingleDisruptionMode, 2 all .AllDisruptionMode
GangSchedulingPolicy: 1 minCount i
PodGroup: 1 metadata meta.ObjectMeta, 2 spec .PodGroupSpec, 3 status .PodGroupStatus
PodGroupResourceClaim: 1 name s, 2 resourceClaimName s, 3 resourceClaimTemplateName s
PodGroupResourceClaimStatus: 1 name s, 2 resourceClaimName s
PodGroupSchedulingConstraints: 1 topology *.TopologyConstraint
PodGroupSchedulingPolicy: 1 basic .BasicSchedulingPolicy, 2 gang .GangSchedulingPolicy
PodGroupSpec: 1 parentCompositePodGroupName s, 2 workloadRef .WorkloadReference, 3 schedulingPolicy
  .PodGroupSchedulingPolicy, 4 schedulingConstraints .PodGroupSchedulingConstraints, 5 resourceClaims
  *.PodGroupResourceClaim, 6 disruptionMode .DisruptionMode, 7 priorityClassName s?, 8 priority i, 9 preemptionPolicy
  s
PodGroupStatus: 1 conditions *meta.Condition, 2 resourceClaimStatuses *.PodGroupResourceClaimStatus
PodGroupTemplate: 1 name s, 2 schedulingPolicy .PodGroupSchedulingPolicy, 3 schedulingConstraints
  .PodGroupSchedulingConstraints, 4 resourceClaims *.PodGroupResourceClaim, 5 disruptionMode .DisruptionMode, 6
  priorityClassName s?, 7 priority i, 8 preemptionPolicy s
SingleCompositeDisruptionMode:
SingleDisruptionMode:
TopologyConstraint: 1 key s
TypedLocalObjectReference: 1 apiGroup s?, 2 kind s, 3 name s
Workload: 1 metadata meta.ObjectMeta, 2 spec .WorkloadSpec
WorkloadReference: 1 workloadName s, 2 templateName s
WorkloadSpec: 1 controllerRef .TypedLocalObjectReference, 2 podGroupTemplates *.PodGroupTemplate, 3
  compositePodGroupTemplates *.CompositePodGroupTemplate
[meta]
TypeMeta: 1 kind s?, 2 apiVersion s?
ListMeta: 1 selfLink s?, 2 resourceVersion s?, 3 continue s?, 4 remainingItemCount i
ObjectMeta: 1 name s?, 2 generateName s?, 3 namespace s?, 4 selfLink s?, 5 uid s?, 6 resourceVersion s?, 7 generation i?, 8
  creationTimestamp t, 9 deletionTimestamp t, 10 deletionGracePeriodSeconds i, 11 labels %s, 12 annotations %s, 13 ownerReferences
  *.OwnerReference, 14 finalizers *s, 17 managedFields *.ManagedFieldsEntry
OwnerReference: 1 kind s, 3 name s, 4 uid s, 5 apiVersion s, 6 controller b, 7 blockOwnerDeletion b
ListOptions: 1 labelSelector s?, 2 fieldSelector s?, 3 watch b?, 4 resourceVersion s?, 5 timeoutSeconds i, 7 limit i?, 8 continue s?, 9
  allowWatchBookmarks b?, 10 resourceVersionMatch s?, 11 sendInitialEvents b
GetOptions: 1 resourceVersion s?
DeleteOptions: 1 gracePeriodSeconds i, 2 preconditions .Preconditions, 3 orphanDependents b, 4 propagationPolicy s, 5 dryRun *s, 6
  ignoreStoreReadErrorWithClusterBreakingPotential b
CreateOptions: 1 dryRun *s, 3 fieldManager s?, 4 fieldValidation s?
PatchOptions: 1 dryRun *s, 2 force b, 3 fieldManager s?, 4 fieldValidation s?
ApplyOptions: 1 dryRun *s, 2 force b, 3 fieldManager s
UpdateOptions: 1 dryRun *s, 2 fieldManager s?, 3 fieldValidation s?
Preconditions: 1 uid s, 2 resourceVersion s
Status: 1 metadata .ListMeta, 2 status s?, 3 message s?, 4 reason s?, 5 details .StatusDetails, 6 code i?
StatusDetails: 1 name s?, 2 group s?, 3 kind s?, 4 causes *.StatusCause, 5 retryAfterSeconds i?, 6 uid s?
StatusCause: 1 reason s?, 2 message s?, 3 field s?
APIVersions: 1 versions *s, 2 serverAddressByClientCIDRs *.ServerAddressByClientCIDR
APIGroupList: 1 groups *.APIGroup
APIGroup: 1 name s, 2 versions *.GroupVersionForDiscovery, 3 preferredVersion .GroupVersionForDiscovery, 4 serverAddressByClientCIDRs
  *.ServerAddressByClientCIDR
ServerAddressByClientCIDR: 1 clientCIDR s, 2 serverAddress s
GroupVersionForDiscovery: 1 groupVersion s, 2 version s
APIResource: 1 name s, 2 namespaced b, 3 kind s, 4 verbs @items, 5 shortNames *s, 6 singularName s, 7 categories *s, 8 group s?, 9 version
  s?, 10 storageVersionHash s?
APIResourceList: 1 groupVersion s, 2 resources *.APIResource
RootPaths: 1 paths *s
LabelSelector: 1 matchLabels %s, 2 matchExpressions *.LabelSelectorRequirement
LabelSelectorRequirement: 1 key s, 2 operator s, 3 values *s
FieldSelectorRequirement: 1 key s, 2 operator s, 3 values *s
ManagedFieldsEntry: 1 manager s?, 2 operation s?, 3 apiVersion s?, 4 time t, 6 fieldsType s?, 7 fieldsV1 r, 8 subresource s?
FieldsV1: 1 - y
TableOptions: 1 includeObject s?
PartialObjectMetadata: 1 metadata .ObjectMeta
Condition: 1 type s, 2 status s, 3 observedGeneration i?, 4 lastTransitionTime t, 5 reason s, 6 message s
"""
