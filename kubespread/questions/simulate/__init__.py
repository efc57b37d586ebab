"""Replicas placed one after another: where they land, what stops them, and how evenly they are spread."""
