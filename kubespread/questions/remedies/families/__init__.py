"""The kinds of changes that are tried, one file each: what of it there is for a pod that fits nowhere."""
