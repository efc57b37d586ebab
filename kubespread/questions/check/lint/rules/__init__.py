"""One rule a file; the module's docstring is the rule's documentation."""
