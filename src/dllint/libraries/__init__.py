"""What is known of code outside the project, a module for each library or concept."""
