"""The questions about a cluster, a folder each, and their common parts."""
