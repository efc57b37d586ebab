"""Which pods to evict so that topology spread constraints hold again, and in which order."""
