"""The in-tree plugins kubespread models; those that look at one kind of thing share a file."""
