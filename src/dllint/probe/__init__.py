"""The code inside the user's processes: standard library only; torch and NumPy once the program has imported them."""
