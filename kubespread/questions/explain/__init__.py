"""Explanation of a pod: the nodes that it fits, and the reasons the others fail."""
