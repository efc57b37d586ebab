"""Nodes that an autoscaler would add for pending pods, and what kube-scheduler then does with them."""
