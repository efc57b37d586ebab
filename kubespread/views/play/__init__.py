"""Scenarios, written."""
