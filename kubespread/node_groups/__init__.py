"""Which groups of nodes may grow: from a file, or from what autoscalers are told in the cluster itself."""
