"""What a manifest holds, and the pod that comes of it."""
