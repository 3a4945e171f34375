"""General neural network layers, independent of edits and source code.

Layers take keyword arguments, and arrays whose shapes they document.
"""
