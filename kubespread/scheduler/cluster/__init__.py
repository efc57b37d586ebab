"""The cluster as columns: a value that changes cheaply."""
