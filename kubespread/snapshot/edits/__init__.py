"""Changes to a cluster before a question is asked about it: cordons, drains, failures, new nodes, ..."""
