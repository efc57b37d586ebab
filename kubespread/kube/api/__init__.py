"""Kubernetes' object types, how they are read, and the table of kinds."""
