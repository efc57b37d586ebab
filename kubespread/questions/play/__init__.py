"""A scenario, step by step, and its effects on the cluster."""
