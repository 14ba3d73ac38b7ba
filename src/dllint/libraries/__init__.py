"""What dllint knows about code outside the project: one module per library or concept."""
