"""What is measured inside the user's processes; each module listens to `events` and writes records of its own kinds."""
