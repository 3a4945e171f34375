"""Pages that are served, to this machine alone."""
