"""All workloads of a cluster on two sides, and those that are answered differently."""
