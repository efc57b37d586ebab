"""Nodes that are to go: what holds them, and which of them can go together."""
