"""Changes to a cluster before a question is answered: cordons, drains, failures, new nodes, ..."""
