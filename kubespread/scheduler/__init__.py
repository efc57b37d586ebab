"""kube-scheduler's decision for one pod over all nodes at once: columns, framework, profile and plugins."""
