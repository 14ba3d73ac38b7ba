"""What runs inside the user's processes: standard library only, torch and NumPy where the program has loaded them."""
