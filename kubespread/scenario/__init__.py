"""Scenarios: what happens to a cluster, step by step, as a file says it."""
