"""What is measured inside the user's processes; each module listens to `events` and writes records of its own kinds.

All modules here are imported, in the order of their names, and none may rely on what another one does at an event.
"""
