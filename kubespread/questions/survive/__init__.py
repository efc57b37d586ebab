"""What losing zones does to the workloads of a cluster."""
