"""A cluster through time: its nodes, pods and controllers, and what a change does to them."""
