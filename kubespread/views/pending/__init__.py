"""What is stuck in a cluster, in each format."""
