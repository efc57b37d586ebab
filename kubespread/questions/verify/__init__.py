"""Promises that a cluster keeps or breaks: each is a question that exists."""
