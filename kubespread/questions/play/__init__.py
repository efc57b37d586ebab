"""A scenario, step by step, and what becomes of the cluster."""
