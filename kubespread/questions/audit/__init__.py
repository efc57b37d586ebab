"""Present spread of workloads: what their constraints count, and why they do not hold."""
