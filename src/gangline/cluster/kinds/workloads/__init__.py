"""Rules of the kinds that keep or run pods: Deployment, StatefulSet, Job, CronJob, HorizontalPodAutoscaler."""
