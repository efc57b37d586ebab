"""Sources of a cluster: files, or a running one. The result is a Snapshot that names its gaps."""
