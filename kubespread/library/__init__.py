"""One module a question: from a snapshot and what was given to the planner, and back as a report."""
