"""The questions about a cluster, a folder each, and what they share."""
