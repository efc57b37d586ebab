"""Nodes of a cluster that can be removed."""
