"""One question on two sides, and what differs between its answers."""
