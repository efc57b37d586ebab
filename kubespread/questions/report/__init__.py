"""Everything that is wrong with a cluster, or would be, on one page: what the other questions answer."""
