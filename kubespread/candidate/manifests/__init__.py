"""What a manifest holds, and the pod it yields."""
