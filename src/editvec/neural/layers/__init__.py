"""Layers with no domain word in them. They take keyword arguments and arrays whose shapes they state."""
