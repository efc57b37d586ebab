"""API validation of a pod, with the API server's paths and texts."""
