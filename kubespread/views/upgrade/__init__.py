"""How nodes are replaced, in each format."""
