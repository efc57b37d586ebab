"""Command-line settings from files and the environment: only strings.

No key runs a program or holds a credential, and the library never reads any of it.
"""
