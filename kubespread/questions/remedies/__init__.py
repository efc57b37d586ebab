"""The smallest changes that help, each proven by running the engine again."""
