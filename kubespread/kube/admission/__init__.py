"""Work of the API server on a pod before it is stored."""
