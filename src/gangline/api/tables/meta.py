"""Types every other table leans on: object metadata, selectors, conditions, Status.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Condition
  type str!; status str!; observedGeneration int64; lastTransitionTime time!; reason str!; message str!
DeleteOptions +type
  gracePeriodSeconds int64?; preconditions Preconditions?; orphanDependents bool?; propagationPolicy str?;
  dryRun [str] atomic; ignoreStoreReadErrorWithClusterBreakingPotential bool?
FieldSelectorRequirement
  key str!; operator str!; values [str] atomic
LabelSelector atomic
  matchLabels {str}; matchExpressions [LabelSelectorRequirement] atomic
LabelSelectorRequirement
  key str!; operator str!; values [str] atomic
ListMeta
  selfLink str; resourceVersion str; continue str; remainingItemCount int64?
ManagedFieldsEntry
  manager str; operation str; apiVersion str; time time?; fieldsType str; fieldsV1 raw?; subresource str
ObjectMeta
  name str; generateName str; namespace str; selfLink str; uid str; resourceVersion str; generation int64;
  creationTimestamp time~; deletionTimestamp time?; deletionGracePeriodSeconds int64?; labels {str};
  annotations {str}; ownerReferences [OwnerReference] by:uid; finalizers [str] set merge;
  managedFields [ManagedFieldsEntry] atomic
OwnerReference atomic
  apiVersion str!; kind str!; name str!; uid str!; controller bool?; blockOwnerDeletion bool?
Preconditions
  uid str?; resourceVersion str?
Status +type
  metadata ListMeta; status str; message str; reason str; details StatusDetails?; code int32
StatusCause
  reason str; message str; field str
StatusDetails
  name str; group str; kind str; uid str; causes [StatusCause] atomic; retryAfterSeconds int32
"""
