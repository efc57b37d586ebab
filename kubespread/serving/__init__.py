"""Questions over HTTP, for a browser on the same machine."""
