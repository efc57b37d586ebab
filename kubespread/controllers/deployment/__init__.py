"""Deployments, their ReplicaSets and rollouts."""
