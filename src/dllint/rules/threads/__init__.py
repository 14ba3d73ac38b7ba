"""Rules about threads in workers."""
