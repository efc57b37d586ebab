"""A cluster through time: its nodes, pods and controllers, and the effects of changes."""
