"""Store of a world, kept up with itself through every change."""
