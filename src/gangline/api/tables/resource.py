"""Group resource.k8s.io v1: dynamic resource allocation.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
AllocatedDeviceStatus
  driver str!; pool str!; device str!; shareID str?; conditions [Condition]! opt map:type; data raw?;
  networkData NetworkDeviceData?
AllocationResult
  devices DeviceAllocationResult; nodeSelector NodeSelector?; allocationTimestamp time?
CELDeviceSelector
  expression str!
CapacityRequestPolicy
  default quantity?! opt; validValues [quantity] atomic; validRange CapacityRequestPolicyRange?
CapacityRequestPolicyRange
  min quantity? req; max quantity?; step quantity?
CapacityRequirements
  requests {quantity}
Counter
  value quantity!
CounterSet
  name str!; counters {Counter} req
Device
  name str!; attributes {DeviceAttribute}; capacity {DeviceCapacity};
  consumesCounters [DeviceCounterConsumption] atomic; nodeName str?; nodeSelector NodeSelector?; allNodes bool?;
  taints [DeviceTaint] atomic; bindsToNode bool?; bindingConditions [str] atomic;
  bindingFailureConditions [str] atomic; allowMultipleAllocations bool?
DeviceAllocationConfiguration
  source str!; requests [str] atomic; opaque OpaqueDeviceConfiguration?
DeviceAllocationResult
  results [DeviceRequestAllocationResult] atomic; config [DeviceAllocationConfiguration] atomic
DeviceAttribute
  int int64?; bool bool?; string str?; version str?
DeviceCapacity
  value quantity!; requestPolicy CapacityRequestPolicy?
DeviceClaim
  requests [DeviceRequest]! opt atomic; constraints [DeviceConstraint] atomic;
  config [DeviceClaimConfiguration] atomic
DeviceClaimConfiguration
  requests [str] atomic; opaque OpaqueDeviceConfiguration?
DeviceClass +meta
  spec DeviceClassSpec!
DeviceClassConfiguration
  opaque OpaqueDeviceConfiguration?
DeviceClassSpec
  selectors [DeviceSelector] atomic; config [DeviceClassConfiguration] atomic; extendedResourceName str?
DeviceConstraint
  requests [str] atomic; matchAttribute str?; distinctAttribute str?
DeviceCounterConsumption
  counterSet str!; counters {Counter} req
DeviceRequest
  name str!; exactly ExactDeviceRequest?; firstAvailable [DeviceSubRequest] atomic
DeviceRequestAllocationResult
  request str!; driver str!; pool str!; device str!; adminAccess bool?; tolerations [DeviceToleration] atomic;
  bindingConditions [str] atomic; bindingFailureConditions [str] atomic; shareID str?; consumedCapacity {quantity}
DeviceSelector
  cel CELDeviceSelector?
DeviceSubRequest
  name str!; deviceClassName str!; selectors [DeviceSelector] atomic; allocationMode str; count int64;
  tolerations [DeviceToleration] atomic; capacity CapacityRequirements?
DeviceTaint
  key str!; value str; effect str!; timeAdded time?
DeviceToleration
  key str; operator str ="Equal"; value str; effect str; tolerationSeconds int64?
ExactDeviceRequest
  deviceClassName str!; selectors [DeviceSelector] atomic; allocationMode str; count int64; adminAccess bool?;
  tolerations [DeviceToleration] atomic; capacity CapacityRequirements?
NetworkDeviceData
  interfaceName str; ips [str] atomic; hardwareAddress str
OpaqueDeviceConfiguration
  driver str!; parameters raw!
ResourceClaim +meta
  spec ResourceClaimSpec!; status ResourceClaimStatus
ResourceClaimConsumerReference
  apiGroup str; resource str!; name str!; uid str!
ResourceClaimSpec
  devices DeviceClaim! opt
ResourceClaimStatus
  allocation AllocationResult?; reservedFor [ResourceClaimConsumerReference] by:uid;
  devices [AllocatedDeviceStatus] map:driver,device,pool,shareID
ResourceClaimTemplate +meta
  spec ResourceClaimTemplateSpec!
ResourceClaimTemplateSpec
  metadata ObjectMeta; spec ResourceClaimSpec!
ResourcePool
  name str!; generation int64!; resourceSliceCount int64!
ResourceSlice +meta
  spec ResourceSliceSpec!
ResourceSliceSpec
  driver str!; pool ResourcePool!; nodeName str?; nodeSelector NodeSelector?; allNodes bool?; devices [Device] atomic;
  perDeviceNodeSelection bool?; sharedCounters [CounterSet] atomic
"""
