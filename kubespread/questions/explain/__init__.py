"""Which nodes a pod fits, and why not the others."""
