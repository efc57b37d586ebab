"""What nodes have left, in each format."""
