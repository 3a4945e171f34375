"""The only package that runs git: history, the work tree, and filters of files that people did not write."""
