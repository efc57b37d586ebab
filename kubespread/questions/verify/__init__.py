"""Whether a cluster keeps what was promised of it: each promise is a question that exists."""
