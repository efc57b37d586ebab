"""What is wrong with manifests, in each format."""
