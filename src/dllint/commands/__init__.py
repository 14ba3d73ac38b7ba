"""What each command does, from settings to the exit code."""
