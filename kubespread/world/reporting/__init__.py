"""What reports say about a world."""
