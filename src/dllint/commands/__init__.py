"""The implementation of each command, from settings to the exit code."""
