"""Cut hunks into edits: code by its syntax, prose by its sentences."""
