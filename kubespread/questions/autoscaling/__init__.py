"""Nodes that an autoscaler would add for pending pods, and the pods that kube-scheduler then places on them."""
