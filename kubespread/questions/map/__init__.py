"""The topology of a cluster."""
