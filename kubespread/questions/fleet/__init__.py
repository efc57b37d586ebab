"""One question, asked of many clusters: not a question of its own."""
