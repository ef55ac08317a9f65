"""What the fields of queues, pod groups, bind requests and topologies mean. Read by api/descriptions.py, which explains
the form."""

TEXT = """
Queue
  spec  What the queue may use.
  status  What it uses; written by the queue controller.
QueueSpec
  displayName  What people call the queue.
  parentQueue  The queue that this one is a part of; empty at the top.
  preemptMinRuntime  For how long gangs of the queue run before a gang of higher priority in the same queue may take
    their place, as a duration (30m).
  priority  Queues with higher numbers get first what others do not claim; 100 by default.
  reclaimMinRuntime  For how long gangs of the queue run before another queue may take back what it borrowed, as a
    duration (30m).
  resources  Its part of each resource.
QueueResources
  cpu  Its part of CPUs, in thousandths of a core.
  gpu  Its part of GPUs, in GPUs; a half is 0.5.
  memory  Its part of memory, in megabytes (1,000,000 bytes).
QueueResource
  limit  The most that the queue may use, in the unit of the resource; -1 is without limit.
  overQuotaWeight  Its weight when what is left beyond all quotas is divided; 0 borrows nothing.
  quota  What the queue is entitled to, in the unit of the resource; -1 is as much as it asks for.
QueueStatus
  allocated  What its gangs hold, per resource, as quantities.
  allocatedNonPreemptible  What its gangs hold that nobody may take from them, per resource, as quantities.
  childQueues  The queues that are parts of this one.
  conditions  What is known of the queue as a whole.
  requested  What its gangs ask for, running or waiting, per resource, as quantities.
PodGroup
  spec  How many pods start together, for which queue, and where.
  status  What the group holds, and why it waits; written by the scheduler and the pod group controller.
PodGroupSpec
  markUnschedulable  Whether pods of the waiting group get the condition that makes autoscalers add nodes; true by
    default.
  minMember  The fewest pods that start together, as a number of pods; more than that are surplus.
  minSubGroup  How many direct sub-groups must start, as a number of sub-groups; takes the place of minMember.
  preemptibility  Whether others may take the group's place; by default its priority decides (100 and more: not
    preemptible).
  preemptionDelay  For how long the group waits before it makes others give way, as a duration (5m).
  priorityClassName  The PriorityClass of the group.
  queue  The queue whose quota the group uses.
  schedulingBackoff  How often the group is tried before it gives up on a node pool; -1 never gives up.
  stalenessGracePeriod  How long the group may stay below its minimum before all of it is evicted, as a duration; -1s is
    for ever.
  subGroups  Parts of the group that have minima of their own.
  topologyConstraint  How close together the pods of the group must or should be.
SubGroup
  minMember  The fewest pods of the sub-group that start together, as a number of pods.
  minSubGroup  How many of its own sub-groups must start, as a number of sub-groups.
  name  The name of the sub-group; pods name it by label.
  parent  The sub-group that this one is a part of; empty at the top.
  topologyConstraint  How close together the pods of the sub-group must or should be.
TopologyConstraint
  preferredTopologyLevel  The node label within one value of which the pods are placed if that is possible.
  requiredTopologyLevel  The node label within one value of which all pods must be; otherwise they wait.
  topology  The Topology whose levels are meant.
PodGroupStatus
  conditions  How far the group has come; Phase is Pending, Running, Succeeded or Failed.
  resourcesStatus  What the group asks for and holds.
  schedulingConditions  Why the group was not placed, one per node pool, newest last.
  start  When the waiting group starts; absent where no start is reserved for it.
StartStatus
  expected  When the gang will probably start.
  latest  By when the gang starts at the latest, as it was promised; absent where too little is known of the runtimes of
    those before it.
  reason  Why the latest start is not the one that was promised first.
  waitsFor  The gang whose end makes room, by namespace and name of its PodGroup.
PodGroupCondition
  lastTransitionTime  When the status of the condition changed last.
  message  The reason in a sentence for people.
  reason  The reason in one word for programs.
  status  True, False or Unknown.
  transitionID  The number of this change; a later one is higher.
  type  What the condition is about.
ResourcesStatus
  allocated  What its pods hold, per resource, as quantities.
  allocatedNonPreemptible  What its pods hold that nobody may take from them, per resource, as quantities.
  requested  What its pods ask for, running or waiting, per resource, as quantities.
SchedulingCondition
  lastTransitionTime  When the status of the condition changed last.
  message  Why the group waits, in a sentence for people.
  nodePool  The node pool whose scheduler says so.
  reason  The reason in one word for programs.
  reasons  Every reason that was found, with its figures.
  status  True, False or Unknown.
  transitionID  The number of this change; a later one is higher.
  type  What the condition is about.
Reason
  details  The figures behind the reason.
  message  The reason in a sentence for people.
  reason  The reason in one word for programs.
ReasonDetails
  queueDetails  The usage and limits of the queue that refused.
QueueDetails
  name  The name of the queue.
  podGroupRequestedNonPreemptibleResources  What the group asks for that nobody could take from it, per resource.
  podGroupRequestedResources  What the group asks for, per resource.
  queueAllocatedNonPreemptibleResources  What the queue holds that nobody may take from it, per resource.
  queueAllocatedResources  What the queue holds, per resource.
  queueDeservedResources  What the queue is entitled to, per resource.
  queueRequestedResources  What all gangs of the queue ask for, per resource.
  queueResourceLimits  The most that the queue may use, per resource.
BindRequest
  spec  Which pod is bound to which node, with what.
  status  How far the binder has come; written by the binder.
BindRequestSpec
  backoffLimit  How often the binder tries before it gives up, as a number of tries.
  extendedResourceClaimAllocation  The claim that is made for extended resources which the node has only as devices.
  gang  The gang whose pods are bound, by the name of its PodGroup; empty where the request is of one pod.
  nodeCount  How many nodes the pods are bound to.
  podCount  How many pods are bound.
  podName  The pod, in the namespace of this request; empty where the request is of a gang.
  pods  What is done with each pod of the gang; empty where the request is of one pod.
  predictedNUMAZones  What the pod is expected to get of each NUMA zone.
  receivedGPU  How many GPUs the pod gets, and what part of each.
  receivedResourceType  How the pod gets GPUs: Regular, Fraction or MigInstance.
  resourceClaimAllocations  Devices for the pod's claims.
  selectedGPUGroups  Names of the shared GPUs that the pod gets a part of.
  selectedNode  The node.
BindOrder
  annotations  Annotations that the pod gets when it is bound.
  extendedResourceClaimAllocation  The claim that is made for extended resources which the node has only as devices.
  podName  The pod, in the namespace of this request.
  podUID  The uid of the pod; another pod of the same name is left alone.
  predictedNUMAZones  What the pod is expected to get of each NUMA zone.
  receivedGPU  How many GPUs the pod gets, and what part of each.
  receivedResourceType  How the pod gets GPUs: Regular, Fraction or MigInstance.
  resourceClaimAllocations  Devices for the pod's claims.
  selectedGPUGroups  Names of the shared GPUs that the pod gets a part of.
  selectedNode  The node.
ExtendedResourceClaimAllocation
  allocation  The devices of the claim.
  containerMappings  Which container gets which of the devices.
  deviceRequests  What the claim asks for.
PredictedNUMAZone
  amount  What the pod gets of the zone, per resource, as quantities.
  zone  The name of the zone.
ReceivedGPU
  count  How many GPUs, as a number of devices.
  portion  The part of each GPU, as a decimal from 0 to 1.
ResourceClaimAllocation
  allocation  The devices that the claim gets.
  name  The name of the claim within the pod.
BindRequestStatus
  failedAttempts  How many tries have failed.
  phase  Pending, Succeeded or Failed.
  reason  Why the last try failed, in a sentence for people.
Topology
  spec  The levels of the topology.
TopologySpec
  levels  The levels from wide to narrow, at most 16; their node labels cannot be changed later.
TopologyLevel
  alias  Another name that workloads may use for the level.
  nodeLabel  The node label whose values are the domains of the level.
"""
