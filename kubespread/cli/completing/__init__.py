"""Shell completion: the scripts for the shells, and the answers to them.

A script runs the program with the words typed so far as its arguments, the one being typed last, and
``_KUBESPREAD_COMPLETE`` set to the shell; the answer is lines of text that no shell evaluates.
"""
