"""Files that ask: scenarios, what happens to a cluster step by step, and promises, what is to hold of it."""
