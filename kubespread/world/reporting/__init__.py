"""Reports about a world."""
