"""InterPodAffinity: pods that want to be near other pods, and pods that want to be away from them."""
