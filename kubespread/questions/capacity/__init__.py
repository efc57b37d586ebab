"""What the nodes of a cluster have left."""
