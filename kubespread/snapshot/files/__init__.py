"""A cluster from files, directories and archives."""
