"""The nodes of a pool replaced by new ones."""
