"""What a world holds, kept up with itself through every change."""
