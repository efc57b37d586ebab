"""Everything that is about to change, at once: the cluster before and after, and the steps in between."""
