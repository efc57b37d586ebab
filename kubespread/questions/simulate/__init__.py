"""Where replicas land, what stops them, and how evenly they are spread."""
