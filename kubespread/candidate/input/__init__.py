"""What was given to ask about: manifests, kustomizations, and workloads of the cluster by name."""
