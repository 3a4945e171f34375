"""The only room that runs git: history, the work tree, and which files people write."""
