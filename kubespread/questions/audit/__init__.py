"""How workloads are spread now: what their constraints count, and why they do not hold."""
