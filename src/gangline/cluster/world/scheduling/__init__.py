"""The default scheduler for bystanders, with the Workload API and resource claims."""
