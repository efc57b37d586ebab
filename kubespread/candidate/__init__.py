"""The pod that is asked about: from a manifest, or from the cluster itself."""
