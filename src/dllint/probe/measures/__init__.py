"""Measurements inside the user's processes: each module subscribes to `events` and writes records.

All modules here are imported, in the order of their names, and none may rely on what another one does at an event.
"""
