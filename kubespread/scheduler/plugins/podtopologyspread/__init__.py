"""PodTopologySpread: spreading pods over the domains of a topology key, the heart of kubespread."""
