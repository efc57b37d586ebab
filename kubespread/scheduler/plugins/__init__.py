"""The in-tree plugins kubespread models; plugins that look at one kind of thing share a file."""
