"""Bytes to plain data: gzip, JSON and YAML, documents and Lists. Knows nothing of scheduling."""
