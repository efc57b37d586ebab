"""What nodes have left, for whom, and how much of it nobody can use."""
