"""Findings with stable codes about manifests and workloads, each proven by the engine where a cluster is at hand."""
