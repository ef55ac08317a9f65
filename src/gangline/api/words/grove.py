"""What the fields of groups grove.io and scheduler.grove.io mean. Read by api/descriptions.py, which explains the
form."""

TEXT = """
PodCliqueSet
  spec  What the workload should be.
  status  What has become of it; written by the operator.
PodCliqueSetSpec
  replicas  How many copies of the whole workload run, as a number of replicas; each has gangs of its own.
  template  What one replica consists of.
  updateStrategy  How replicas take on a changed template.
PodCliqueSetTemplateSpec
  cliqueStartupType  In which order the cliques of a replica start: AnyOrder (all at once), InOrder (as they are listed)
    or Explicit (as their startsAfter says).
  cliques  The roles of the workload, one clique each; names are unique.
  headlessServiceConfig  The headless Service through which the pods of a replica find each other.
  podCliqueScalingGroups  Cliques that grow and shrink together.
  priorityClassName  The PriorityClass of all gangs of the set.
  resourceClaimTemplates  Templates of device claims that cliques and groups may share.
  resourceSharing  Which claims the cliques and scaling groups of the set share.
  terminationDelay  How long a gang may stay below its minimum before it is ended and started anew, as a duration (4h,
    30m).
  topologyConstraint  How close together the pods of one replica must or should be.
PodCliqueTemplateSpec
  annotations  Annotations of the clique and its pods.
  labels  Labels of the clique and its pods.
  name  The clique's name within the set; part of the names of its pods.
  resourceSharing  Which claims the pods of the clique share.
  spec  The clique's pods, how many there are and how many must run.
  topologyConstraint  How close together the pods of this clique must or should be.
ResourceSharing
  name  The claim template that is shared: one of the set's own, or a ResourceClaimTemplate.
  namespace  Where the ResourceClaimTemplate is, if not in the set's namespace.
  scope  Who shares one claim: AllReplicas of the owner together, or each replica by itself (PerReplica).
PodCliqueSpec
  autoScalingConfig  Grows and shrinks the clique by metrics; absent means a fixed size.
  minAvailable  The fewest pods that must run, as a number of pods; fewer are never started. By default all replicas.
  podSpec  The pods of the clique, as in any workload.
  replicas  How many pods the clique has.
  roleName  The role that the pods play; for people and for lookups by label.
  startsAfter  Cliques that must be ready before these pods start their main containers; for start type Explicit.
AutoScalingConfig
  maxReplicas  The most replicas that autoscaling may make, as a number of replicas.
  metrics  What is measured and the value that is aimed at, as in a HorizontalPodAutoscaler.
  minReplicas  The fewest replicas that autoscaling leaves, as a number of replicas.
TopologyConstraint
  pack  Which levels of the topology keep the pods together.
  packDomain  Deprecated, kept for old objects: use pack.required.
  topologyName  The ClusterTopologyBinding whose levels are meant.
Pack
  preferred  The level within one domain of which the pods are placed if that is possible.
  required  The level within one domain of which all pods must be; otherwise they wait.
HeadlessServiceConfig
  publishNotReadyAddresses  Whether pods are found by name before they are ready.
PodCliqueScalingGroupConfig
  annotations  Annotations of the scaling group.
  cliqueNames  The cliques that are scaled together.
  minAvailable  How many replicas of the group belong to the base gang, as a number of replicas; the others are gangs of
    their own.
  name  The group's name within the set.
  replicas  How many copies of all its cliques run.
  resourceSharing  Which claims the cliques of the group share.
  scaleConfig  Grows and shrinks the group by metrics; absent means a fixed size.
  topologyConstraint  How close together the pods of one replica of the group must or should be.
GroupResourceSharing
  filter  Only these cliques of the group share; absent means all.
  name  The claim template that is shared: one of the set's own, or a ResourceClaimTemplate.
  namespace  Where the ResourceClaimTemplate is, if not in the set's namespace.
  scope  Who shares one claim: AllReplicas of the group together, or each replica by itself (PerReplica).
CliqueFilter
  childCliqueNames  Names of cliques.
ResourceClaimTemplate
  name  The name by which resourceSharing refers to the template.
  templateSpec  The claim that is made from it.
SetResourceSharing
  filter  Only these cliques and groups of the set share; absent means all.
  name  The claim template that is shared: one of the set's own, or a ResourceClaimTemplate.
  namespace  Where the ResourceClaimTemplate is, if not in the set's namespace.
  scope  Who shares one claim: AllReplicas of the set together, or each replica by itself (PerReplica).
ChildFilter
  childCliqueNames  Names of cliques.
  childScalingGroupNames  Names of scaling groups.
UpdateStrategy
  type  RollingRecreate replaces one replica after the other; OnDelete leaves old pods until somebody deletes them.
PodCliqueSetStatus
  availableReplicas  How many replicas of the set have every gang at its minimum.
  conditions  What is known of the set as a whole.
  currentGenerationHash  The hash of the template that replicas are brought to.
  hpaPodSelector  The label selector of the set's pods, for autoscaling.
  lastErrors  What could not be done at the last tries, newest last.
  observedGeneration  The generation of the spec that this status speaks of.
  podGangStatuses  How far each gang of the set has come.
  replicas  How many replicas there are now.
  updateProgress  How far an update has come; absent before the first one.
  updatedReplicas  How many replicas follow the current template.
Condition
  lastTransitionTime  When the status of the condition changed last.
  message  The reason in a sentence for people.
  observedGeneration  The generation of the spec that the condition speaks of.
  reason  The reason in one word for programs.
  status  True, False or Unknown.
  type  What the condition is about.
LastError
  code  The kind of error in one word for programs.
  description  What happened, in a sentence for people.
  observedAt  When it happened.
PodGangShort
  conditions  Conditions of the gang.
  name  The name of the PodGang.
  phase  Pending, Starting, Running, Failed or Succeeded.
PodCliqueSetUpdateProgress
  currentlyUpdating  Replicas that are being replaced now.
  totalPodCliqueScalingGroupsCount  How many scaling groups the update concerns.
  totalPodCliquesCount  How many cliques the update concerns.
  updateEndedAt  When the update ended; absent while it goes on.
  updateStartedAt  When the update began.
  updatedPodCliqueScalingGroupsCount  How many scaling groups are done.
  updatedPodCliquesCount  How many cliques are done.
ReplicaUpdate
  replicaIndex  The number of the replica, counted from 0.
  updateEndedAt  When its update ended; absent while it goes on.
  updateStartedAt  When its update began.
PodClique
  spec  The pods of one role, how many there are and how many must run.
  status  What has become of them; written by the operator.
PodCliqueStatus
  conditions  What is known of the clique as a whole.
  currentPodCliqueSetGenerationHash  The hash of the set's template that the clique follows.
  currentPodTemplateHash  The hash of the pod template that its pods are brought to.
  hpaPodSelector  The label selector of the clique's pods, for autoscaling.
  lastErrors  What could not be done at the last tries, newest last.
  observedGeneration  The generation of the spec that this status speaks of.
  readyReplicas  How many pods are ready.
  replicas  How many pods there are.
  scheduleGatedReplicas  How many pods are still behind a scheduling gate.
  scheduledReplicas  How many pods have a node.
  updateProgress  How far an update has come; absent before the first one.
  updatedReplicas  How many pods follow the current template.
PodCliqueUpdateProgress
  podCliqueSetGenerationHash  The hash of the set's template that the update leads to.
  podTemplateHash  The hash of the pod template that the update leads to.
  readyPodsSelectedToUpdate  Ready pods that are replaced one after the other.
  updateEndedAt  When the update ended; absent while it goes on.
  updateStartedAt  When the update began.
ReadyPodsSelectedToUpdate
  completed  Names of pods that were replaced.
  current  The name of the pod that is being replaced.
PodCliqueScalingGroup
  spec  Which cliques are scaled together, and how many copies of them run.
  status  What has become of the group; written by the operator.
PodCliqueScalingGroupSpec
  cliqueNames  The cliques that are scaled together.
  minAvailable  How many replicas of the group belong to the base gang, as a number of replicas; the others are gangs of
    their own.
  replicas  How many copies of all its cliques run.
PodCliqueScalingGroupStatus
  availableReplicas  How many replicas of the group have every clique at its minimum.
  conditions  What is known of the group as a whole.
  currentPodCliqueSetGenerationHash  The hash of the set's template that the group follows.
  lastErrors  What could not be done at the last tries, newest last.
  observedGeneration  The generation of the spec that this status speaks of.
  replicas  How many replicas there are now.
  scheduledReplicas  How many replicas have a node for every pod of their minimum.
  selector  The label selector of the group's pods, for autoscaling.
  updateProgress  How far an update has come; absent before the first one.
  updatedReplicas  How many replicas follow the current template.
ScalingGroupUpdateProgress
  podCliqueSetGenerationHash  The hash of the set's template that the update leads to.
  readyReplicaIndicesSelectedToUpdate  Ready replicas that are replaced one after the other.
  totalPodCliquesCount  How many cliques the update concerns.
  updateEndedAt  When the update ended; absent while it goes on.
  updateStartedAt  When the update began.
  updatedPodCliquesCount  How many cliques are done.
ReadyReplicaIndicesSelectedToUpdate
  completed  Numbers of replicas that were replaced, counted from 0.
  current  The number of the replica that is being replaced, counted from 0.
ClusterTopologyBinding
  spec  The levels of the cluster's topology, and what schedulers call them.
  status  Whether the schedulers' own topologies agree; written by the operator.
ClusterTopologyBindingSpec
  levels  The levels from wide to narrow.
  schedulerTopologyBindings  Topology objects of schedulers that are kept by somebody else; for the others one is made.
TopologyLevel
  domain  What people call the level, as in zone, rack or host.
  key  The node label whose values are the domains of the level.
SchedulerTopologyBinding
  schedulerName  The scheduler whose topology this is.
  topologyReference  The name of that scheduler's own topology object.
ClusterTopologyBindingStatus
  conditions  What is known of the binding as a whole.
  observedGeneration  The generation of the spec that this status speaks of.
  schedulerTopologyStatuses  Whether each scheduler's topology has the same levels.
SchedulerTopologyState
  inSync  Whether its levels are those of this binding.
  message  What differs, in a sentence for people.
  schedulerBackendTopologyObservedGeneration  The generation of the scheduler's topology that was looked at.
  schedulerName  The scheduler whose topology was looked at.
  topologyReference  The name of that scheduler's own topology object.
PodGang
  spec  Which pods start together, and how many of each group must.
  status  How far the gang has come; written by the operator.
PodGangSpec
  podgroups  The groups of the gang; the gang starts when each can have its minimum.
  priorityClassName  The PriorityClass of the gang.
  reuseReservationRef  A gang whose place this one takes over.
  topologyConstraint  How close together all pods of the gang must or should be.
  topologyConstraintGroupConfigs  How close together the pods of some groups must or should be.
GangGroup
  minReplicas  The fewest pods of the group that must start together, as a number of pods.
  name  The name of the group; that of its PodClique.
  podReferences  The pods of the group.
  topologyConstraint  How close together the pods of the group must or should be.
NamespacedName
  name  The object's name.
  namespace  The object's namespace.
GangTopologyConstraint
  packConstraint  Which node labels keep the pods together.
PackConstraint
  preferred  The node label within one value of which the pods are placed if that is possible.
  required  The node label within one value of which all pods must be; otherwise they wait.
TopologyConstraintGroupConfig
  name  The name of this constraint.
  podGroupNames  The groups of the gang that are kept together.
  topologyConstraint  How close together their pods must or should be.
PodGangStatus
  conditions  What is known of the gang; Scheduled says why it waits.
  phase  Pending, Starting, Running, Failed or Succeeded.
  placementScore  How well the gang is placed, from 0 to 1; 1 is within the narrowest preferred domains.
  start  When the waiting gang starts; absent where its scheduler promises none.
StartStatus
  expected  When the gang will probably start.
  latest  By when the gang starts at the latest, as it was promised; absent where too little is known of the runtimes of
    those before it.
  reason  Why the latest start is not the one that was promised first.
  waitsFor  The gang whose end makes room, by namespace and name of its PodGroup.
"""
