"""How fast kubespread is, measured by `make bench`."""
