"""Node groups that may grow: read from a file, or from the autoscaler configuration in the cluster."""
