"""What controllers do with pods, as pure functions on typed objects."""
