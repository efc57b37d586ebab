"""The in-tree plugins kubespread models, one file or folder each."""
