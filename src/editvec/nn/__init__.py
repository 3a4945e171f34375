"""Layers with no domain word in them. They take plain keyword arguments and tensors whose shapes they say."""
