"""What losing domains does, in each format."""
