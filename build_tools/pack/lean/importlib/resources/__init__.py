"""In place of importlib.resources, which ``importlib.abc`` names and nobody here uses."""
