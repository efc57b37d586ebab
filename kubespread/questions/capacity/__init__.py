"""Room left on the nodes of a cluster."""
