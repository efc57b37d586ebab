"""The kinds of changes that are tried, one file each, with the candidates for a pod that fits nowhere."""
