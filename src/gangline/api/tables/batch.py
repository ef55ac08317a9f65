"""Group batch v1: jobs.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
CronJob +meta
  spec CronJobSpec; status CronJobStatus
CronJobSpec
  schedule str!; timeZone str?; startingDeadlineSeconds int64?; concurrencyPolicy str; suspend bool?;
  jobTemplate JobTemplateSpec!; successfulJobsHistoryLimit int32?; failedJobsHistoryLimit int32?
CronJobStatus
  active [ObjectReference] atomic; lastScheduleTime time?; lastSuccessfulTime time?
Job +meta
  spec JobSpec; status JobStatus
JobCondition
  type str!; status str!; lastProbeTime time; lastTransitionTime time; reason str; message str
JobSpec
  parallelism int32?; completions int32?; activeDeadlineSeconds int64?; podFailurePolicy PodFailurePolicy?;
  successPolicy SuccessPolicy?; backoffLimit int32?; backoffLimitPerIndex int32?; maxFailedIndexes int32?;
  selector LabelSelector?; manualSelector bool?; template PodTemplateSpec!; ttlSecondsAfterFinished int32?;
  completionMode str?; suspend bool?; podReplacementPolicy str?; managedBy str?
JobStatus
  conditions [JobCondition] atomic merge:type; startTime time?; completionTime time?; active int32; succeeded int32;
  failed int32; terminating int32?; completedIndexes str; failedIndexes str?;
  uncountedTerminatedPods UncountedTerminatedPods?; ready int32?
JobTemplateSpec
  metadata ObjectMeta; spec JobSpec
PodFailurePolicy
  rules [PodFailurePolicyRule]! atomic
PodFailurePolicyOnExitCodesRequirement
  containerName str?; operator str!; values [int32]! set
PodFailurePolicyOnPodConditionsPattern
  type str!; status str! opt
PodFailurePolicyRule
  action str!; onExitCodes PodFailurePolicyOnExitCodesRequirement?;
  onPodConditions [PodFailurePolicyOnPodConditionsPattern] atomic
SuccessPolicy
  rules [SuccessPolicyRule]! atomic
SuccessPolicyRule
  succeededIndexes str?; succeededCount int32?
UncountedTerminatedPods
  succeeded [str] set; failed [str] set
"""
