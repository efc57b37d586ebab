"""A running cluster, read with GET and nothing else: from the kubeconfig to a snapshot."""
