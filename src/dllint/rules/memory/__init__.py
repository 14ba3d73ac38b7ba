"""Rules about memory and file descriptors."""
