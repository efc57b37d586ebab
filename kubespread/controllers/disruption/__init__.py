"""Pods that have to go: drains, evictions, and the budgets that hold them up."""
