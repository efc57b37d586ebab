"""Sentences on why pods fit nowhere, and on what is not modeled."""
