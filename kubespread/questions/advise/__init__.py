"""What has to change for a pod, or for all replicas of a workload, to fit."""
