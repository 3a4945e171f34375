"""How good a model is: pure metrics, and decoding of whole files."""
