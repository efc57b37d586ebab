"""Workloads as they are: what their constraints count, and what made them what they are."""
