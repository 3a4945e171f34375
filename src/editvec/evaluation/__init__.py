"""Measure how good a model is: metrics, decoding of edit files, probes, transfer and ratings."""
