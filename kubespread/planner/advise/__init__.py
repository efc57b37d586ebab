"""What is the least that has to change for a pod to fit, found by asking the engine again about each change."""
