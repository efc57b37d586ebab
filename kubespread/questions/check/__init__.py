"""Problems of manifests, or of the workloads of a cluster."""
