"""Where replicas land, in each format."""
