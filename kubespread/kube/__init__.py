"""Kubernetes' own objects and rules: quantities, selectors, taints, defaulting, validation. No scheduling."""
