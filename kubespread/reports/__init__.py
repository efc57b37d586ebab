"""Answers as plain values: what the library returns, what -o json prints, what the renderers draw.

Field names are the JSON contract ``kubespread.dev/v1alpha2``, published in docs/schema; changes only ever add.
"""
