"""Events in a world: controllers and kube-scheduler at work, drains, outages, edits, rollouts."""
