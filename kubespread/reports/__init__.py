"""Answers as plain values: results of the library, output of -o json, and content of every other format.

Field names are the JSON contract ``kubespread.dev/v1alpha2``, published in docs/schema; changes only ever add.
"""
