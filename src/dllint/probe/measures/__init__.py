"""Measurements inside the user's processes: each module subscribes to `events` and writes records.

All modules here are imported in alphabetical order, and none may depend on what another one does at an event.
"""
