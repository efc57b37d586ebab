"""Pods of one or several workloads placed in one queue."""
