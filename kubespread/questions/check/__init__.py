"""What is wrong with manifests, or with the workloads of a cluster."""
