"""Findings with stable codes about manifests and workloads, proven by the engine if there is a cluster."""
