"""A cluster through time: its nodes, pods and controllers, and what becomes of them when something is changed."""
