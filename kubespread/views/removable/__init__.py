"""Which nodes can go, in each format."""
