"""Nodes that a pod fits, and what keeps it off the others."""
