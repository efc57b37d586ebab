"""Pods that find no node: why, and the least that frees them."""
