"""Settings of the command line from files and the environment: texts, none of which runs a program or is a secret."""
