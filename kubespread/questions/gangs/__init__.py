"""Gangs: pods that are scheduled together or not at all."""
