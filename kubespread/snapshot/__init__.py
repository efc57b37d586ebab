"""Where a cluster comes from: files and directories for now. The result is a Snapshot, with what it lacks named."""
