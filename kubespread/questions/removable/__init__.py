"""Which nodes of a cluster can go."""
