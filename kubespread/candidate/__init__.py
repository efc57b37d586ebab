"""The pod in question: from a manifest, or from the cluster itself."""
