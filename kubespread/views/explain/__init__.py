"""One pod against every node, in each format."""
