"""Effects of controllers on pods, as pure functions on typed objects."""
