"""Files of questions: scenarios, which change a cluster step by step, promises to keep, and groups of new nodes."""
