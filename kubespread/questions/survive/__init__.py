"""Effects on the workloads of a cluster of losing zones."""
