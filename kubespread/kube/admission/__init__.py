"""What the API server does to a pod before it is stored."""
