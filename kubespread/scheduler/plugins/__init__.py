"""The in-tree plugins kubespread models, in files and folders of one concern each."""
