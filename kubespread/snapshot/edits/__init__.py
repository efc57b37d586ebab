"""What is changed in a cluster before a question is asked about it: cordons, drains, failures, new nodes, ..."""
