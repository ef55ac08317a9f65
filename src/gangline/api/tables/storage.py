"""Group storage.k8s.io v1.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
CSIDriver +meta
  spec CSIDriverSpec!
CSIDriverSpec
  attachRequired bool?; podInfoOnMount bool?; volumeLifecycleModes [str] set; storageCapacity bool?;
  fsGroupPolicy str?; tokenRequests [TokenRequest] atomic; requiresRepublish bool?; seLinuxMount bool?;
  nodeAllocatableUpdatePeriodSeconds int64?; serviceAccountTokenInSecrets bool?
CSINode +meta
  spec CSINodeSpec!
CSINodeDriver
  name str!; nodeID str!; topologyKeys [str]! opt atomic; allocatable VolumeNodeResources?
CSINodeSpec
  drivers [CSINodeDriver]! by:name
CSIStorageCapacity +meta
  nodeTopology LabelSelector?; storageClassName str!; capacity quantity?; maximumVolumeSize quantity?
StorageClass +meta
  provisioner str!; parameters {str}; reclaimPolicy str?; mountOptions [str] atomic; allowVolumeExpansion bool?;
  volumeBindingMode str?; allowedTopologies [TopologySelectorTerm] atomic
TokenRequest
  audience str!; expirationSeconds int64?
VolumeAttachment +meta
  spec VolumeAttachmentSpec!; status VolumeAttachmentStatus
VolumeAttachmentSource
  persistentVolumeName str?; inlineVolumeSpec PersistentVolumeSpec?
VolumeAttachmentSpec
  attacher str!; source VolumeAttachmentSource!; nodeName str!
VolumeAttachmentStatus
  attached bool!; attachmentMetadata {str}; attachError VolumeError?; detachError VolumeError?
VolumeAttributesClass +meta
  driverName str!; parameters {str}
VolumeError
  time time; message str; errorCode int32?
VolumeNodeResources
  count int32?
"""
