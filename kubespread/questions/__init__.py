"""What may be asked of a cluster: a folder a question, and what all questions share."""
