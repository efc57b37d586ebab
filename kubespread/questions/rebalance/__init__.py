"""Pods to evict so that topology spread constraints hold again, and the order to evict them in."""
