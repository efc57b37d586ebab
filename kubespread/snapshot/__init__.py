"""Where a cluster comes from: files, or a running one. The result is a Snapshot, with what it lacks named."""
