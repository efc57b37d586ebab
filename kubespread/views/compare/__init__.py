"""Two answers side by side, in each format."""
