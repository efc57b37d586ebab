"""A cluster's topology, in each format."""
