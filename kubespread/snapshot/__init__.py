"""Sources of a cluster: files, or a running one. The result is a Snapshot, with what it lacks named."""
