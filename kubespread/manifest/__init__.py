"""Bytes to plain data: gzip, JSON and YAML, documents and Lists, the pod a workload creates. Knows nothing of
scheduling.
"""
