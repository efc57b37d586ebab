"""What would make a pod fit, in each format."""
