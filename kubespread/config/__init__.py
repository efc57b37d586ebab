"""What the command line is told by files and by the environment, so that it need not be typed: strings, nothing else.

No key runs a program or holds a credential, and the library never reads any of it.
"""
