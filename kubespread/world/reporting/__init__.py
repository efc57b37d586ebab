"""What is told of a world."""
