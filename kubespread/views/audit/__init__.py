"""How workloads are spread, in each format."""
