"""Reasons why pods fit nowhere, and features that are not modeled."""
