"""Store of a world, consistent after every change."""
